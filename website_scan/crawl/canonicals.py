"""Canonical URL of a page (RFC 6596)."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from website_scan.crawl.link_relations import ELEMENT, RelatedLink, related_links, same_escapes
from website_scan.page.evidence import Document, Page
from website_scan.urls import Url

# A canonical link with one of these attributes refers to another version of the page; search engines ignore it.
QUALIFIERS = ("hreflang", "lang", "media", "type")
# A folder's index page under its own name.
INDEX_PAGE = re.compile(r"/(?:index|default|home)(?:\.\w+)?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Canonicals:
    """Every canonical link of a page that counts because of its place: in the head, or in a Link header."""

    page_url: str
    links: tuple[RelatedLink, ...] = ()

    @property
    def url(self) -> str | None:
        """Return the one URL that the links agree on; None if there are none, or they contradict each other."""
        urls = {each.url for each in self.links if not qualifier(each) and each.reference.strip()}
        return urls.pop() if len(urls) == 1 else None

    @property
    def own_urls(self) -> frozenset[str]:
        """Return the URLs of this page, in the form of `same_escapes`: its own, and its canonical one."""
        own = self.page_url.partition("#")[0]
        return frozenset({same_escapes(own), same_escapes(self.url or own)})


def read_canonicals(page: Page, document: Document) -> Canonicals:
    """Return the canonical links of a page; an empty link element has the URL None."""
    links = (
        each if each.source != ELEMENT or each.reference.strip() else replace(each, url=None)
        for each in related_links(page, document, "canonical")
        if each.source == ELEMENT or "anchor" not in each.attributes
    )
    return Canonicals(page.target.url, tuple(links))


def qualifier(link: RelatedLink) -> str:
    """Return the attribute because of which search engines ignore a canonical link; empty if there is none."""
    return next((name for name in QUALIFIERS if link.attributes.get(name)), "")


def is_root(url: Url) -> bool:
    return url.path in ("", "/") and not url.query


def is_front_page(url: Url) -> bool:
    return url.path in ("", "/") or INDEX_PAGE.fullmatch(url.path) is not None
