"""Links and canonical URL of one page, as a crawler reads them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from website_scan.crawl.canonicals import is_front_page, is_root, read_canonicals
from website_scan.crawl.indexing import EVERYBODY, read_indexing_rules
from website_scan.crawl.links import changes_state, read_links
from website_scan.page.evidence import Page
from website_scan.page.fetch import parse_document
from website_scan.page.meta import refresh
from website_scan.time_limit import OutOfTime, limited
from website_scan.urls import Url

# Limits per page. Ordinary pages need hundredths of a second.
TIME_LIMIT_S = 10.0
CPU_S = 2.0


@dataclass(frozen=True, slots=True)
class Markup:
    """Absolute URLs without fragments, in the page's order.

    `links` may be followed; requesting those in `acting` may change something. `canonical` is the page's canonical URL;
    None if it is the page's own.
    """

    links: tuple[str, ...] = ()
    acting: tuple[str, ...] = ()
    canonical: str | None = None


def read_markup(page: Page, agent: str) -> Markup | None:
    """Return the page's links for this crawler; None if the page is so complex that reading it takes too long."""
    try:
        return limited(lambda: _read(page, agent), TIME_LIMIT_S, CPU_S)
    except OutOfTime:
        return None


def _read(page: Page, agent: str) -> Markup:
    document = parse_document(page)
    canonical = _canonical(page, read_canonicals(page, document).url)
    rules = read_indexing_rules(page, document, datetime.now(UTC)).rules
    if any(each.agent in (EVERYBODY, agent.lower()) and each.name in ("nofollow", "none") for each in rules):
        return Markup(canonical=canonical)
    links: list[str] = []
    acting: list[str] = []
    following = refresh(page, document)
    if following is not None and following.url:
        links.append(following.url)
    for link in read_links(page, document).links:
        if link.may_be_followed:
            links.append(link.url)
        elif "nofollow" not in link.relations and changes_state(link.url):
            acting.append(link.url)
    return Markup(tuple(links), tuple(acting), canonical)


def _canonical(page: Page, url: str | None) -> str | None:
    """Return the canonical URL. A front page that all pages name by mistake is ignored."""
    own = page.target.address
    other = Url.parse(url) if url else None
    if other is None or own.href == other.href or (is_root(other) and not is_front_page(own)):
        return None
    return other.href
