"""Links and canonical URL of a page, as a crawler reads them."""

from __future__ import annotations

from datetime import UTC, datetime

from msgspec import Struct

from website_scan.crawl.canonicals import is_front_page, is_root_url, read_canonicals
from website_scan.crawl.indexing import ALL_CRAWLERS, read_indexing_rules
from website_scan.crawl.links import may_change_state, read_links
from website_scan.page.evidence import Page
from website_scan.page.fetch import parse_document
from website_scan.page.meta import refresh
from website_scan.time_limit import OutOfTime, limited
from website_scan.urls import Url

# Ordinary pages need hundredths of a second.
PARSE_TIME_LIMIT_S = 10.0
MAX_PARSE_CPU_S = 2.0


class Markup(Struct, frozen=True):
    """Links of a page as absolute URLs without fragments, in document order.

    `links` may be followed; requests for `action_links` may change something. `canonical` is the page's canonical URL;
    None if it is the page's own.
    """

    links: tuple[str, ...] = ()
    action_links: tuple[str, ...] = ()
    canonical: str | None = None


def read_markup(page: Page, agent: str) -> Markup | None:
    """Return the page's links for the crawler `agent`.

    None if parsing the page takes too long.
    """
    try:
        return limited(lambda: _read_links(page, agent), PARSE_TIME_LIMIT_S, MAX_PARSE_CPU_S)
    except OutOfTime:
        return None


def _read_links(page: Page, agent: str) -> Markup:
    document = parse_document(page)
    canonical = _valid_canonical(page, read_canonicals(page, document).url)
    rules = read_indexing_rules(page, document, datetime.now(UTC)).rules
    if any(rule.agent in (ALL_CRAWLERS, agent.lower()) and rule.name in ("nofollow", "none") for rule in rules):
        return Markup(canonical=canonical)
    links: list[str] = []
    action_links: list[str] = []
    following = refresh(page, document)
    if following is not None and following.url:
        links.append(following.url)
    for link in read_links(page, document).links:
        if link.may_be_followed:
            links.append(link.url)
        elif "nofollow" not in link.relations and may_change_state(link.url):
            action_links.append(link.url)
    return Markup(tuple(links), tuple(action_links), canonical)


def _valid_canonical(page: Page, url: str | None) -> str | None:
    """Return the canonical URL unless it is a mistake.

    A page that is not the front page may name the front page by mistake.
    """
    own = page.target.address
    other = Url.parse(url) if url else None
    if other is None or own.href == other.href or (is_root_url(other) and not is_front_page(own)):
        return None
    return other.href
