from __future__ import annotations

from scans.engine.accessibility.document import AccessibleDocument
from scans.engine.accessibility.names import shown_text
from scans.engine.browser.evidence import BrowserLoad
from scans.engine.catalogue import probe
from scans.engine.performance.vitals import Vitals, vitals

# Less text than this is a "please wait".
SHELL_LETTERS = 40


@probe()
def measure(document: AccessibleDocument, load: BrowserLoad) -> Vitals:
    """The figures of all loads."""
    return vitals(load.loads, is_shell=_is_shell(document))


def _is_shell(document: AccessibleDocument) -> bool:
    """Whether the markup shows nothing by itself: scripts have to build the page."""
    body = document.document.tree.body
    if body is None or next(document.exposed("img, picture, video, svg, canvas"), None) is not None:
        return False
    return len(shown_text(document, body, SHELL_LETTERS).strip()) < SHELL_LETTERS
