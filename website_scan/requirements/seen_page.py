"""Evidence of own requirements about a page's content: the page as its visitors see it."""

from __future__ import annotations

from msgspec import Struct

from website_scan.accessibility.document import AccessibleDocument
from website_scan.accessibility.names import shown_text
from website_scan.browser.evidence import Rendered
from website_scan.catalogue import Need, Probe
from website_scan.page.evidence import Document, ServedContent


class SeenPage(Struct, frozen=True):
    """Document after its scripts have run, or the HTML as sent if no browser has loaded the page.

    `may_lack_content`: scripts of the HTML may add content that the document does not have.
    """

    document: Document
    is_rendered: bool
    may_lack_content: bool


class SeenText(Struct, frozen=True):
    """Visible text of the page, with single spaces."""

    text: str
    page: SeenPage


def seen_page(document: Document, served: ServedContent | None, rendered: Rendered | None) -> SeenPage:
    if rendered is not None:
        return SeenPage(rendered.document, is_rendered=True, may_lack_content=False)
    return SeenPage(document, is_rendered=False, may_lack_content=served is not None and served.has_scripts)


def seen_text(page: SeenPage) -> SeenText:
    body = page.document.tree.body
    return SeenText(shown_text(AccessibleDocument(page.document), body) if body is not None else "", page)


SEEN_PAGE = Probe(
    "own_seen_page",
    SeenPage,
    seen_page,
    (
        Need("document", Document, optional=False),
        Need("served", ServedContent, optional=True),
        Need("rendered", Rendered, optional=True),
    ),
    essential=False,
    applies_to_whole_origin=False,
    needs_idle_network=False,
)
SEEN_TEXT = Probe("own_seen_text", SeenText, seen_text, (Need("page", SeenPage, optional=False),), False, False, False)
