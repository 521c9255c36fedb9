"""Which URL a page names as its canonical one (RFC 6596), and what stands against it."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import datetime

import ada_url

from scans.engine.messages import excerpt
from scans.engine.page.evidence import Document, Page
from scans.engine.page.markup import http_address, parse_url
from scans.engine.page.registrable_domain import is_same_site
from scans.engine.seo.evidence import CanonicalAnswer
from scans.engine.seo.hreflang import Alternates
from scans.engine.seo.indexing import read_indexing_rules
from scans.engine.seo.link_relations import ELEMENT, RelatedLink, related_links, same_escapes

# A canonical link with one of these speaks of another version of the page, and search engines skip it.
QUALIFIERS = ("hreflang", "lang", "media", "type")
# The page that a folder stands for, under its own name.
INDEX_PAGE = re.compile(r"/(?:index|default|home)(?:\.\w+)?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Canonicals:
    """Every canonical link of a page that counts by its place: in the head, and in Link headers."""

    page_url: str
    links: tuple[RelatedLink, ...] = ()

    @property
    def url(self) -> str | None:
        """The one URL that the links agree on; None without any, or when they contradict."""
        urls = {each.url for each in self.links if not qualifier(each) and each.reference.strip()}
        return urls.pop() if len(urls) == 1 else None

    @property
    def own_urls(self) -> frozenset[str]:
        """The URLs that mean this page, in the form of `same_escapes`: its own, and its canonical one."""
        own = self.page_url.partition("#")[0]
        return frozenset({same_escapes(own), same_escapes(self.url or own)})


def read_canonicals(page: Page, document: Document) -> Canonicals:
    """The canonical links of a page; the URL of an empty link element is None."""
    links = (
        each if each.source != ELEMENT or each.reference.strip() else replace(each, url=None)
        for each in related_links(page, document, "canonical")
        if each.source == ELEMENT or "anchor" not in each.attributes
    )
    return Canonicals(page.target.url, tuple(links))


def qualifier(link: RelatedLink) -> str:
    """The attribute for which search engines ignore a canonical link; empty where they do not."""
    return next((name for name in QUALIFIERS if link.attributes.get(name)), "")


def target_fault(page: Page, url: str, alternates: Alternates, answer: CanonicalAnswer, now: datetime) -> str | None:
    """Why the canonical `url` can't stand for another page, as the end of a sentence; None where it can."""
    own, other = ada_url.URL(page.target.url), ada_url.URL(url)
    if is_same_site(own.hostname, other.hostname) and _is_root(other) and not _is_front_page(own):
        return "is the front page, so this page is left out of the index"
    versions = alternates.by_url
    if same_escapes(own.href) in versions and (version := versions.get(same_escapes(url))) is not None:
        return f"is another language version ({excerpt(version.code)}); each version should name itself"
    if answer.page is None or answer.document is None:
        return f"can't be loaded: {answer.error.rstrip('.')}"
    response = answer.page.response
    if 300 <= response.status < 400:
        goal = http_address(parse_url(response.headers.get("Location") or "", response.url))
        to = "this very page" if goal == page.target.url else excerpt(goal or "nowhere")
        return f"redirects ({response.status}) to {to}"
    if response.status != 200:
        return f"answers with status {response.status}"
    decisive = read_indexing_rules(answer.page, answer.document, now).decisive
    return f"must not be indexed: {excerpt(decisive[0].shown)}" if decisive else None


def _is_root(url: ada_url.URL) -> bool:
    return url.pathname in ("", "/") and not url.search


def _is_front_page(url: ada_url.URL) -> bool:
    return url.pathname in ("", "/") or INDEX_PAGE.fullmatch(url.pathname) is not None
