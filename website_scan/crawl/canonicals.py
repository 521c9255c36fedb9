"""Canonical URL of a page (RFC 6596)."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from website_scan.crawl.link_relations import ELEMENT, RelatedLink, related_links, same_escapes
from website_scan.page.evidence import Document, Page
from website_scan.urls import Url

# Attributes of links to another version of the page: search engines ignore canonical links with one of them.
QUALIFIERS = ("hreflang", "lang", "media", "type")
# Path of an index page under its own name.
INDEX_PAGE = re.compile(r"/(?:index|default|home)(?:\.\w+)?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Canonicals:
    """Canonical links of a page at valid positions: in the head, or in a Link header."""

    page_url: str
    links: tuple[RelatedLink, ...] = ()

    @property
    def url(self) -> str | None:
        """Return the one URL on which the links agree; None if there are no links, or they contradict each other."""
        urls = {link.url for link in self.links if not qualifier(link) and link.reference.strip()}
        return urls.pop() if len(urls) == 1 else None

    @property
    def own_urls(self) -> frozenset[str]:
        """Return the page's own URL and its canonical URL, in the form of `same_escapes`."""
        own = self.page_url.partition("#")[0]
        return frozenset({same_escapes(own), same_escapes(self.url or own)})


def read_canonicals(page: Page, document: Document) -> Canonicals:
    """Return the canonical links of a page; an empty link element has the URL None."""
    links = (
        link if link.source != ELEMENT or link.reference.strip() else replace(link, url=None)
        for link in related_links(page, document, "canonical")
        if link.source == ELEMENT or "anchor" not in link.attributes
    )
    return Canonicals(page.target.url, tuple(links))


def qualifier(link: RelatedLink) -> str:
    """Return the attribute that makes search engines ignore a canonical link; empty if there is none."""
    return next((name for name in QUALIFIERS if link.attributes.get(name)), "")


def is_root(url: Url) -> bool:
    return url.path in ("", "/") and not url.query


def is_front_page(url: Url) -> bool:
    return url.path in ("", "/") or INDEX_PAGE.fullmatch(url.path) is not None
