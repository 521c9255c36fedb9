"""Probes for the accessible document and for unrendered pages.

An unrendered page is blank before its scripts run.
"""

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
VISIBLE_ELEMENTS_SELECTOR = (
    "a[href], audio[controls], button, canvas, embed, frame, iframe, img, input, math, meter, object, progress, "
    "select, svg, textarea, video, [role=img], [role=button], [role=link]"
)
SPINNER_TAGS = frozenset({"svg", "img", "canvas", "progress"})
UNRENDERED_SVG_TAGS = frozenset(
    {"defs", "symbol", "style", "title", "desc", "metadata", "lineargradient", "filter", "clippath"}
)
# Limits of text to read. Visible text begins early on most pages.
MAX_BEGINNING_CHARACTERS, MAX_TEXT_CHARACTERS = 2_000, 40_000
MAX_PLACEHOLDER_CHARACTERS = 60
TRACKING_PIXEL_LENGTH = re.compile(r"\s*[01](?:\.0*)?(?:px)?\s*")


@probe()
def accessible_document(document: Document) -> AccessibleDocument:
    """Resolve the visibility of elements and the IDs of the parsed page."""
    return AccessibleDocument(document)


@probe()
def served_content(page: Page, document: AccessibleDocument) -> ServedContent:
    """Judge whether the page is blank before its scripts run.

    “Loading…” and a spinner do not count as content.
    """
    if not page.is_html:
        return ServedContent(is_blank=False, has_scripts=False)
    has_scripts = next(live(document.document, "script"), None) is not None
    return ServedContent(
        is_blank=_is_blank_document(document, may_be_built_by_scripts=has_scripts), has_scripts=has_scripts
    )


def _is_blank_document(document: AccessibleDocument, *, may_be_built_by_scripts: bool) -> bool:
    text = _read_visible_beginning(document, MAX_BEGINNING_CHARACTERS)
    if len(text) <= MAX_PLACEHOLDER_CHARACTERS:
        text = _read_visible_beginning(document, MAX_TEXT_CHARACTERS)
    is_loading_placeholder = (
        may_be_built_by_scripts and len(text) <= MAX_PLACEHOLDER_CHARACTERS and is_placeholder(text)
    )
    if text and not is_loading_placeholder:
        return False
    return not any(
        _has_visible_content(document, node)
        for node in live(document.document, VISIBLE_ELEMENTS_SELECTOR)
        if not (is_loading_placeholder and node.tag in SPINNER_TAGS)
    )


def _read_visible_beginning(document: AccessibleDocument, enough: int) -> str:
    """Return the visible text at the page's beginning.

    Invisible characters, such as zero-width spaces, are left out.
    """
    body = document.document.tree.body
    text = shown_text(document, body, enough) if body is not None else ""
    return "".join(character for character in text if unicodedata.category(character) not in ("Cc", "Cf")).strip()


def _has_visible_content(document: AccessibleDocument, node: LexborNode) -> bool:
    if document.visibility.is_hidden(node):
        return False
    if node.tag == "input":
        return (attribute(node, "type") or "").strip().lower() != "hidden"
    if node.tag == "svg" and all((child.tag or "").lower() in UNRENDERED_SVG_TAGS for child in elements(node)):
        return False  # The SVG only defines symbols for other drawings.
    style = dict(declarations(attribute(node, "style") or ""))
    lengths = (attribute(node, name) or style.get(name, "") for name in ("width", "height"))
    return not any(
        TRACKING_PIXEL_LENGTH.fullmatch(length) for length in lengths
    )  # An image of one pixel or less is a tracking pixel.
