"""Discovery of a site's pages: `discover()` reads robots.txt, the sitemaps and the links."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from website_scan.crawl.discovery.addresses import Site
from website_scan.crawl.discovery.context import CrawlContext
from website_scan.crawl.discovery.crawl import Crawl
from website_scan.crawl.discovery.effort import Effort, Exhausted, Pace
from website_scan.crawl.discovery.markup import Markup, read_markup
from website_scan.crawl.discovery.pages import PageList
from website_scan.crawl.discovery.patterns import Patterns
from website_scan.crawl.discovery.sitemaps import SitemapReading
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


@dataclass(frozen=True, slots=True)
class Wish:
    """The wanted pages: those found from `start` through its sitemaps, its links or both (`discover`).

    `include` and `exclude` are patterns for path and query (`patterns.py`). `spare` is the number of further pages to
    list, which replace those that turn out to be none.
    """

    start: Target
    discover: frozenset[str]
    max_pages: int
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    spare: int = 0


@dataclass(frozen=True, slots=True)
class Discovery:
    """The pages of a site as canonical URLs, the start page first. Their order depends on the site only.

    `notes` are sentences for people. `is_complete`: there is no sign of further pages. `found` counts all known pages,
    including those beyond `max_pages` as far as they were counted. `spare` are the next pages after those. With
    `has_unread_links`, links on some of the pages were not followed. With an `error` there are no pages.
    """

    pages: tuple[str, ...]
    notes: tuple[str, ...]
    is_complete: bool
    found: int
    error: ScanError | None = None
    spare: tuple[str, ...] = ()
    has_unread_links: bool = False


def discovery_limits(max_pages: int) -> Limits:
    """Return the limits of a `Network` for one discovery."""
    requests = 200 + 3 * max_pages
    return Limits(
        body_bytes=10 * MIB,
        decoded_bytes=10 * MIB,
        requests=requests,
        requests_per_host=requests,
        total_bytes=min(1024 * MIB, 64 * MIB + max_pages * MIB // 4),
    )


def discover(wish: Wish, network: Network, tell: Callable[[int], None], time_limit_s: float) -> Discovery:
    """Find the pages of a site. Never raises for anything the site does; an exception of `tell` ends it.

    `tell` gets the number of pages found so far. The network should have `discovery_limits` and a time limit of its
    own, somewhat longer than `time_limit_s`. Close it afterwards, because a request that is not needed any more may
    still be running. Raises ValueError for invalid patterns (`pattern_fault`).
    """
    patterns = Patterns(wish.include, wish.exclude)
    effort = Effort(time_limit_s, wish.max_pages)
    try:
        page = fetch_page(wish.start, network)
        if moved := _moved(wish.start, page.target):
            return _failed("REDIRECTED_ELSEWHERE", moved)
        if refusal := refusal_of(page.response, ScanType.SECURITY):
            raise refusal
        robots = load_robots(page.target, network)
    except Refusal as refusal:
        return _failed(refusal.code, str(refusal))
    agent = product_token(network.policy.user_agent)
    if refused := _refused_by(robots, page.target, agent):
        return _failed("ROBOTS_DISALLOWED", refused)
    rules = CrawlerRules(robots.robots, agent)
    pages = PageList(rules, patterns, wish.max_pages + wish.spare, effort)
    pace = Pace(rules.crawl_delay_s)
    context = CrawlContext(Site(page.target), network, pages, effort, pace, agent, wish.max_pages, tell)
    return _Search(wish, page, robots, context).run()


def _failed(code: str, message: str) -> Discovery:
    return Discovery((), (), is_complete=False, found=0, error=ScanError(code, message))


def _moved(start: Target, found: Target) -> str:
    """Return why the pages of another domain are not looked for, as a sentence; empty if the domain is the same.

    Visits are counted by the domain that was asked for, and nobody asked for this one.
    """
    if is_same_site(start.host, found.host):
        return ""
    return (
        f"{start.host} redirects to {found.host}, which is another domain. To audit its pages, enter {found.origin}/."
    )


def _refused_by(robots: RobotsFile, start: Target, agent: str) -> str:
    """Return why robots.txt forbids the crawl, as a sentence; empty if it does not."""
    if robots.is_unreachable:
        reason = robots.error.rstrip(".") if robots.response is None else f"status {robots.response.status}"
        return f"robots.txt could not be read ({reason}), so crawlers have to take it that nothing is allowed."
    decision = decide(robots.robots, agent, start.path)
    if decision.allowed:
        return ""
    return f"robots.txt forbids crawlers the start page: {decision.quoted}. A group for {agent} may allow it."


class _Search:
    """State of one call of `discover()`, after robots.txt has permitted the crawl."""

    def __init__(self, wish: Wish, page: Page, robots: RobotsFile, context: CrawlContext) -> None:
        self._wish = wish
        self._page = page
        self._robots = robots
        self._agent = context.agent
        self._site = context.site
        self._start = self._site.path(page.target.url, page.target.url) or page.target.path
        self._pages = context.pages
        self._sitemaps = SitemapReading(context)
        self._crawl = Crawl(context)
        self._tell = context.tell
        self._delay_s = context.pace.delay_s
        self._exhausted = ""
        self._has_links = True

    def run(self) -> Discovery:
        """Read the sitemaps, then follow links while the list has room."""
        try:
            self._pages.add(self._start, is_page=True)
            self._tell(self._pages.found)
            if SITEMAP in self._wish.discover:
                self._sitemaps.read(self._robots.robots.sitemaps)
            if LINKS in self._wish.discover and len(self._pages) < self._wish.max_pages:
                self._follow_links()
        except Exhausted as exhausted:
            self._exhausted = str(exhausted)
        pages = tuple(map(self._site.url, self._pages.paths))
        if not pages:
            return _failed("NO_PAGES", "No page of the site matches the include and exclude patterns.")
        is_complete = (
            not self._exhausted
            and not self._is_beyond
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
            has_unread_links=LINKS in self._wish.discover and self._crawl.has_unread,
        )

    def _follow_links(self) -> None:
        markup = read_markup(self._page, self._agent) if self._page.is_html else Markup()
        if markup is None:
            self._crawl.intricate += 1
            markup = Markup()
        self._has_links = bool(markup.links) or len(self._pages) > 1
        self._crawl.run(self._start, markup)

    @property
    def _is_beyond(self) -> bool:
        """Return True if the site is known to have more pages than wanted."""
        return self._pages.overflow > 0 or len(self._pages) > self._wish.max_pages

    def _notes(self) -> list[str]:
        pages, wish = self._pages, self._wish
        notes: list[str] = []
        if wish.start.host.removeprefix("www.") != self._page.target.host.removeprefix("www."):
            notes.append(
                f"{wish.start.host} redirects to {self._page.target.host}, so the pages there were looked for."
            )
        if self._is_beyond:
            notes.append(f"The site has more pages than {wish.max_pages:,}.")
        elif pages.is_full and not self._crawl.is_complete:
            notes.append(f"The list ends with {wish.max_pages:,} pages; the site may have more.")
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
