from __future__ import annotations

import re

from scanner.accessibility.document import AccessibleDocument
from scanner.accessibility.names import shown_text
from scanner.browser.evidence import BrowserLoad
from scanner.catalogue import probe
from scanner.performance.evidence import Styles
from scanner.performance.vitals import Markup, Vitals, vitals

# With other values text is shown at once, or almost (CSS Fonts, "font-display"); browsers treat `auto` as `block`.
HOLDING = frozenset({"", "auto", "block"})
BODY = re.compile(r"<body[\s>]", re.IGNORECASE)
# A page with less text than this shows only a "please wait".
SHELL_LETTERS = 40


@probe()
def measure(document: AccessibleDocument, load: BrowserLoad, styles: Styles | None = None) -> Vitals:
    """Compute the vitals of all loads."""
    text = document.document.text
    body = BODY.search(text)
    markup = Markup(
        is_shell=_is_shell(document),
        lead_share=body.start() / len(text) if body else 0.0,
        holding_fonts=frozenset(
            each.url for each in (styles.faces if styles else ()) if each.display in HOLDING and not each.is_local
        ),
    )
    return vitals(load.loads, markup)


def _is_shell(document: AccessibleDocument) -> bool:
    """Return True if the markup shows nothing by itself: scripts have to build the page."""
    body = document.document.tree.body
    if body is None or next(document.exposed("img, picture, video, svg, canvas"), None) is not None:
        return False
    return len(shown_text(document, body, SHELL_LETTERS).strip()) < SHELL_LETTERS
