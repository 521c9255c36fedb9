"""Probes for accessibility checks, and for whether the page is blank before its scripts run."""

from __future__ import annotations

import re
import unicodedata

from selectolax.lexbor import LexborNode

from website_scan.accessibility.document import AccessibleDocument
from website_scan.accessibility.names import shown_text
from website_scan.catalogue import probe
from website_scan.page.css import declarations
from website_scan.page.evidence import Document, Page, ServedContent
from website_scan.page.markup import attribute, elements, live
from website_scan.page.stand_ins import is_placeholder

# Elements that are visible even without text inside.
VISIBLE_ELEMENTS = (
    "a[href], audio[controls], button, canvas, embed, frame, iframe, img, input, math, meter, object, progress, "
    "select, svg, textarea, video, [role=img], [role=button], [role=link]"
)
SPINNER_TAGS = frozenset({"svg", "img", "canvas", "progress"})
NON_RENDERED_SVG = frozenset(
    {"defs", "symbol", "style", "title", "desc", "metadata", "lineargradient", "filter", "clippath"}
)
# Limits of text to read, spaces between elements included. On most pages, visible text begins early.
BEGINNING_CHARACTERS, ENOUGH_CHARACTERS = 2_000, 40_000
MAX_PLACEHOLDER = 60
NO_LENGTH = re.compile(r"\s*[01](?:\.0*)?(?:px)?\s*")


@probe()
def accessible_document(document: Document) -> AccessibleDocument:
    """Resolve the visibility of elements and the IDs of the parsed page."""
    return AccessibleDocument(document)


@probe()
def served_content(page: Page, document: AccessibleDocument) -> ServedContent:
    """Judge whether the markup alone shows text or another visible element. "Loading…" and a spinner do not count."""
    if not page.is_html:
        return ServedContent(is_blank=False, has_scripts=False)
    has_scripts = next(live(document.document, "script"), None) is not None
    return ServedContent(is_blank=_is_blank(document, may_be_built=has_scripts), has_scripts=has_scripts)


def _is_blank(document: AccessibleDocument, *, may_be_built: bool) -> bool:
    text = _visible_beginning(document, BEGINNING_CHARACTERS)
    if len(text) <= MAX_PLACEHOLDER:
        text = _visible_beginning(document, ENOUGH_CHARACTERS)
    is_waiting = may_be_built and len(text) <= MAX_PLACEHOLDER and is_placeholder(text)
    if text and not is_waiting:
        return False
    return not any(
        _has_visible_content(document, node)
        for node in live(document.document, VISIBLE_ELEMENTS)
        if not (is_waiting and node.tag in SPINNER_TAGS)
    )


def _visible_beginning(document: AccessibleDocument, enough: int) -> str:
    """Return the visible text at the page's beginning, without invisible characters such as zero-width spaces."""
    body = document.document.tree.body
    text = shown_text(document, body, enough) if body is not None else ""
    return "".join(character for character in text if unicodedata.category(character) not in ("Cc", "Cf")).strip()


def _has_visible_content(document: AccessibleDocument, node: LexborNode) -> bool:
    if document.visibility.is_hidden(node):
        return False
    if node.tag == "input":
        return (attribute(node, "type") or "").strip().lower() != "hidden"
    if node.tag == "svg" and all((child.tag or "").lower() in NON_RENDERED_SVG for child in elements(node)):
        return False  # the svg only defines symbols for other drawings
    style = dict(declarations(attribute(node, "style") or ""))
    lengths = (attribute(node, name) or style.get(name, "") for name in ("width", "height"))
    return not any(
        NO_LENGTH.fullmatch(length) for length in lengths
    )  # an image of one pixel or less is a tracking pixel
