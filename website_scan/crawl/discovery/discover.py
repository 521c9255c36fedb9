"""Discover a site's pages from robots.txt, sitemaps and links."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from website_scan.crawl.discovery.addresses import Site
from website_scan.crawl.discovery.context import CrawlContext
from website_scan.crawl.discovery.crawl import Crawl
from website_scan.crawl.discovery.effort import Effort, EffortExhausted, Pace
from website_scan.crawl.discovery.markup import Markup, read_markup
from website_scan.crawl.discovery.pages import PageList
from website_scan.crawl.discovery.patterns import Patterns
from website_scan.crawl.discovery.sitemaps import SitemapReader
from website_scan.crawl.robots import CrawlerRules, decide, product_token
from website_scan.crawl.robots_file import RobotsFile, load_robots
from website_scan.errors import Refusal
from website_scan.findings import ScanType
from website_scan.messages import counted
from website_scan.net.budget import MIB, Limits
from website_scan.net.client import Network
from website_scan.net.targets import Target
from website_scan.page.evidence import Page
from website_scan.page.fetch import fetch_page, refusal_of
from website_scan.page.registrable_domain import is_same_site
from website_scan.result import ScanError

SITEMAP, LINKS = "sitemap", "links"


class Wish(Struct, frozen=True):
    """Parameters of a discovery.

    `discover` are the sources to read: sitemaps, links or both. `include` and `exclude` are patterns for path and query
    (`patterns.py`). `spare` is the number of additional pages to list, which replace URLs that turn out not to be
    pages. `sitemaps` are the sitemaps to read instead of those that robots.txt lists, and `urls` the content of a
    sitemap that is already read. Without `lists_start`, the start page is only listed if a sitemap or link names it.
    """

    start: Target
    discover: frozenset[str]
    max_pages: int
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    spare: int = 0
    sitemaps: tuple[str, ...] | None = None
    urls: tuple[str, ...] = ()
    lists_start: bool = True


class Discovery(Struct, frozen=True):
    """Result of a discovery.

    The site's pages as canonical URLs, the start page first. The order is reproducible. `notes` are sentences for the
    user. `is_complete` is True if there is no sign of further pages. `found` counts all known pages, including those
    beyond `max_pages` as far as they were counted. `spare` are the next pages after `pages`. With `has_unread_links`,
    links on some of the pages were not followed. With an `error` there are no pages.
    """

    pages: tuple[str, ...]
    notes: tuple[str, ...]
    is_complete: bool
    found: int
    error: ScanError | None = None
    spare: tuple[str, ...] = ()
    has_unread_links: bool = False


def discovery_limits(max_pages: int) -> Limits:
    """Return the network limits for the discovery of a site's pages."""
    requests = 200 + 3 * max_pages
    return Limits(
        body_bytes=10 * MIB,
        decoded_bytes=10 * MIB,
        requests=requests,
        requests_per_host=requests,
        total_bytes=min(1024 * MIB, 64 * MIB + max_pages * MIB // 4),
    )


def discover(wish: Wish, network: Network, tell: Callable[[int], None], time_limit_s: float) -> Discovery:
    """Find the pages of a site.

    Never raises because of the site's behaviour. `tell` is called with the number of pages found so far, and its
    exceptions end the discovery. The network should have `discovery_limits` and its own time limit, somewhat longer
    than `time_limit_s`. Close the network afterwards, because a request that is no longer needed may still be running.
    Raises ValueError for invalid patterns (`pattern_fault`).
    """
    patterns = Patterns(wish.include, wish.exclude)
    effort = Effort(time_limit_s, wish.max_pages)
    try:
        page = fetch_page(wish.start, network)
        if moved := _explain_other_domain(wish.start, page.target):
            return _failed_discovery("REDIRECTED_ELSEWHERE", moved)
        if refusal := refusal_of(page.response, ScanType.SECURITY):
            raise refusal
        robots = load_robots(page.target, network)
    except Refusal as refusal:
        return _failed_discovery(refusal.code, str(refusal))
    agent = product_token(network.policy.user_agent)
    if refused := _explain_robots_refusal(robots, page.target, agent):
        return _failed_discovery("ROBOTS_DISALLOWED", refused)
    rules = CrawlerRules(robots.robots, agent)
    pages = PageList(rules, patterns, wish.max_pages + wish.spare, effort)
    pace = Pace(rules.crawl_delay_s)
    context = CrawlContext(Site(page.target), network, pages, effort, pace, agent, wish.max_pages, tell)
    return _DiscoverySearch(wish, page, robots, context).run()


def limit_notes(max_pages: int) -> tuple[str, str]:
    """Return the notes of a discovery whose list is full: that the site has, and that it may have, more pages."""
    return (
        f"The site has more pages than {max_pages:,}.",
        f"The list ends with {max_pages:,} pages; the site may have more.",
    )


def _failed_discovery(code: str, message: str) -> Discovery:
    return Discovery((), (), is_complete=False, found=0, error=ScanError(code, message))


def _explain_other_domain(start: Target, final: Target) -> str:
    """Return a sentence if the start page redirects to another domain.

    Empty if the domain is the same. The pages of the other domain are not discovered, because visits are counted for
    the requested domain.
    """
    if is_same_site(start.host, final.host):
        return ""
    return (
        f"{start.host} redirects to {final.host}, which is another domain. To audit its pages, enter {final.origin}/."
    )


def _explain_robots_refusal(robots: RobotsFile, start: Target, agent: str) -> str:
    """Return a sentence about why robots.txt disallows the crawl.

    Empty if it allows the crawl.
    """
    if robots.is_unreachable:
        reason = robots.error.rstrip(".") if robots.response is None else f"status {robots.response.status}"
        return f"robots.txt could not be read ({reason}), so crawlers must assume that nothing is allowed."
    decision = decide(robots.robots, agent, start.path)
    if decision.allowed:
        return ""
    return f"robots.txt forbids crawlers the start page: {decision.quoted}. A group for {agent} may allow it."


class _DiscoverySearch:
    """Search for pages after robots.txt has allowed the crawl."""

    def __init__(self, wish: Wish, page: Page, robots: RobotsFile, context: CrawlContext) -> None:
        self._wish = wish
        self._page = page
        self._robots = robots
        self._agent = context.agent
        self._site = context.site
        self._start = self._site.path(page.target.url, page.target.url) or page.target.path
        self._pages = context.pages
        self._sitemaps = SitemapReader(context)
        self._crawl = Crawl(context)
        self._report_progress = context.report_progress
        self._delay_s = context.pace.delay_s
        self._exhausted = ""
        self._has_links = True

    def run(self) -> Discovery:
        """Read the sitemaps, then follow links until the list is full."""
        try:
            if self._wish.lists_start:
                self._pages.add(self._start, is_page=True)
            self._report_progress(self._pages.found)
            if SITEMAP in self._wish.discover:
                self._read_sitemaps()
            if LINKS in self._wish.discover and len(self._pages) < self._wish.max_pages:
                self._follow_links()
        except EffortExhausted as exhausted:
            self._exhausted = str(exhausted)
        pages = tuple(map(self._site.url, self._pages.paths))
        if not pages:
            return _failed_discovery("NO_PAGES", self._explain_empty_list())
        is_complete = (
            not self._exhausted
            and not self._has_more_pages
            and self._sitemaps.is_complete
            and (self._sitemaps.files > 0 or LINKS in self._wish.discover)
            and self._crawl.is_complete
            and self._has_links
        )
        return Discovery(
            pages[: self._wish.max_pages],
            tuple(self._notes()),
            is_complete,
            self._pages.found,
            spare=pages[self._wish.max_pages :],
            has_unread_links=LINKS in self._wish.discover and self._crawl.has_unread_pages,
        )

    def _read_sitemaps(self) -> None:
        wish = self._wish
        if wish.urls:
            self._sitemaps.add_urls(wish.urls)
        if wish.sitemaps is None:
            self._sitemaps.read(self._robots.robots.sitemaps)
        elif wish.sitemaps:
            self._sitemaps.read(wish.sitemaps)

    def _explain_empty_list(self) -> str:
        """Return a sentence about why no page is listed."""
        if self._pages.unwanted:
            return "No page of the site matches the include and exclude patterns."
        reasons = [*self._sitemaps.notes, *([self._exhausted] if self._exhausted else [])]
        if self._pages.forbidden:
            reasons.append("robots.txt forbids crawlers the pages that the sitemap lists.")
        return " ".join(reasons) or f"The sitemap lists no page of {self._site.start.host}."

    def _follow_links(self) -> None:
        markup = read_markup(self._page, self._agent) if self._page.is_html else Markup()
        if markup is None:
            self._crawl.complex_pages += 1
            markup = Markup()
        self._has_links = bool(markup.links) or len(self._pages) > 1
        self._crawl.run(self._start, markup)

    @property
    def _has_more_pages(self) -> bool:
        """Return True if the site has more pages than the requested number."""
        return self._pages.overflow > 0 or len(self._pages) > self._wish.max_pages

    def _notes(self) -> list[str]:
        pages, wish = self._pages, self._wish
        notes: list[str] = []
        has_more, may_have_more = limit_notes(wish.max_pages)
        if wish.start.host.removeprefix("www.") != self._page.target.host.removeprefix("www."):
            notes.append(
                f"{wish.start.host} redirects to {self._page.target.host}, so the pages there were discovered."
            )
        if self._has_more_pages:
            notes.append(has_more)
        elif pages.is_full and not self._crawl.is_complete:
            notes.append(may_have_more)
        if SITEMAP in wish.discover and not self._sitemaps.files and not self._sitemaps.notes:
            notes.append("The site has no sitemap.")
        notes += self._sitemaps.notes
        if pages.forbidden:
            notes.append(f"robots.txt forbids {counted(pages.forbidden, 'address', 'addresses')}.")
        if pages.unwanted:
            notes.append(
                f"The include and exclude patterns leave out {counted(pages.unwanted, 'address', 'addresses')}."
            )
        if not self._has_links:
            notes.append("The start page's HTML links to no other page; links that scripts add are not seen.")
        notes += self._crawl.notes
        if self._exhausted:
            notes.append(self._exhausted)
            if self._delay_s:
                notes.append(f"robots.txt asks for {self._delay_s:g} seconds between requests.")
        return notes
