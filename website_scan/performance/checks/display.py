"""Checks that the page displays content without errors.

They judge content, standards mode and script errors.
"""

from __future__ import annotations

import re
from typing import Annotated, ClassVar

from website_scan.browser.evidence import BrowserLoad
from website_scan.browser.shown_content import ShownContent
from website_scan.browser.unshown import FIX, JUDGED, OUTCOMES, judge_shown_content
from website_scan.catalogue import Category, States, check
from website_scan.findings import CRITICAL, LOW, NotApplicable
from website_scan.messages import excerpt
from website_scan.outcomes import Pass, Verdict, Warn
from website_scan.page.doctype import Doctype, read_doctype
from website_scan.page.evidence import Document, Page
from website_scan.page.references import ResourceKind
from website_scan.places import Column, Identity, Place
from website_scan.values import Count
from website_scan.written_urls import WrittenUrl

# The weight is small, because a blank page caps the score (`website_scan/performance/caps.py`).
CATEGORY = Category("Display", weight=1, html=True, error_pages=False, content=True)


# The scanner's browser or network may cause these errors, such as by autoplay, WebGL and refused requests.
UNRELIABLE_ERROR = re.compile(
    r"play\(\) (?:failed|request was interrupted)|ResizeObserver loop|webgl|webgpu|3d context|failed to fetch"
    r"|load failed|networkerror|loading (?:css )?chunk|dynamically imported module|timeout|notallowederror|permission",
    re.IGNORECASE,
)


STACK = re.compile(r"\sat\s.*|\(?https?://.*", re.DOTALL)


def error_message(error: str, _page: WrittenUrl) -> str:
    """Return the message of an exception without its position.

    The position changes with each version of the script.
    """
    return STACK.sub("", error).strip().lower()


class ScriptError(Place, frozen=True):
    """Uncaught exception of a script."""

    kind: ClassVar[str] = "script-error"

    text: Annotated[str, Identity(error_message), Column("Error")]


@check(
    "blank-page",
    name="Page shows its content in a browser",
    outcomes=OUTCOMES,
    why="Visitors see nothing of what the page offers, however fast it is.",
    consequence="Visitors may not see what you offer: the page stays empty, keeps loading or shows an error.",
    judged=JUDGED,
    severity=CRITICAL,
    fix=FIX,
    references=("web.dev: First Contentful Paint",),
)
def blank_page(content: ShownContent) -> Verdict:
    return judge_shown_content(content)


@check(
    "doctype",
    name="Document is in standards mode",
    outcomes={
        "missing": "Document has no doctype",
        "quirks": "Doctype selects quirks mode",
    },
    why="In quirks mode, browsers imitate faults of old browsers, so layout and styles differ from the standards.",
    judged="An XHTML document, which browsers parse as XML, needs no doctype.",
    severity=LOW,
    fix="Begin the document with `<!doctype html>`: nothing but white space and comments may precede it.",
    references=("HTML, the doctype", "Lighthouse: doctype"),
    states=States.NONE,
)
def doctype(page: Page, document: Document) -> Verdict:
    if page.media_type == "application/xhtml+xml":
        return NotApplicable("The document is XML.")
    match read_doctype(document.text):
        case Doctype.MISSING:
            return Warn("missing", "The document does not begin with a doctype, so browsers use quirks mode.")
        case Doctype.QUIRKY:
            return Warn("quirks", "The doctype is malformed or outdated, so browsers use quirks mode.")
    return Pass("The doctype selects standards mode.")


@check(
    "script-errors",
    name="Scripts run without errors",
    outcomes={"exceptions": "Scripts end with errors"},
    why="After an uncaught exception, the rest of the script does not run, so parts of the page may not work.",
    judged="Errors that the scanner's browser or network may have caused do not count.",
    severity=LOW,
    fix="Open the page with the browser's console, and fix the first error; later ones are often its consequences.",
    references=("Lighthouse: errors-in-console",),
)
def script_errors(load: BrowserLoad) -> Verdict:
    """Judge only if all scripts got a response.

    A missing script may cause errors in others.
    """
    if any(request.kind is ResourceKind.SCRIPT and request.status is None for request in load.first.requests):
        return NotApplicable("A script did not load, so errors of other scripts may be its consequences.")
    errors = [error for error in load.exceptions if not UNRELIABLE_ERROR.search(error)]
    if not errors:
        return Pass("No script ended with an uncaught exception.")
    return Warn(
        "exceptions",
        "{errors} {errors:was|were} not caught.",
        errors=Count(len(errors), "exception"),
        places=[ScriptError(excerpt(error)) for error in errors],
    )
