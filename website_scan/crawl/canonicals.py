"""Canonical URL of a page (RFC 6596)."""

from __future__ import annotations

import re

from msgspec import Struct

from website_scan.crawl.link_relations import ELEMENT, RelatedLink, related_links
from website_scan.page.evidence import Document, Page
from website_scan.urls import Url, are_equivalent, normal_form

# Search engines ignore these attributes, which mean another version of the page.
QUALIFIERS = ("hreflang", "lang", "media", "type")
# Path of a front page under the name of its file, such as /index.html.
INDEX_PAGE_PATH = re.compile(r"/(?:index|default|home)(?:\.\w+)?", re.IGNORECASE)


class Canonicals(Struct, frozen=True):
    """Canonical links of a page, in its head and its headers."""

    page_url: str
    links: tuple[RelatedLink, ...] = ()

    @property
    def url(self) -> str | None:
        """Return the canonical URL.

        None if there are no canonical links, or if they contradict each other.
        """
        urls = [link.url for link in self.links if not qualifier(link) and link.reference.strip()]
        return urls[0] if len({url and normal_form(url) for url in urls}) == 1 else None

    @property
    def is_self_referencing(self) -> bool:
        """Return True if the canonical URL is the page's own URL."""
        return self.url is not None and are_equivalent(self.url, self.page_url)

    @property
    def own_urls(self) -> frozenset[str]:
        """Return the page's own URL and its canonical URL, in normal form."""
        return frozenset({normal_form(self.page_url), normal_form(self.url or self.page_url)})


def read_canonicals(page: Page, document: Document) -> Canonicals:
    """Return the canonical links of a page."""
    links = (
        link
        for link in related_links(page, document, "canonical")
        if link.source == ELEMENT or "anchor" not in link.attributes
    )
    return Canonicals(page.target.url, tuple(links))


def qualifier(link: RelatedLink) -> str:
    """Return the attribute that makes a canonical link invalid.

    Search engines ignore the link. Empty if there is none.
    """
    return next((name for name in QUALIFIERS if link.attributes.get(name)), "")


def is_root_url(url: Url) -> bool:
    return url.path in ("", "/") and not url.query


def is_front_page(url: Url) -> bool:
    return url.path in ("", "/") or INDEX_PAGE_PATH.fullmatch(url.path) is not None
