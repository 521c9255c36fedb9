"""Crawler that follows a site's links breadth-first.

It begins with the start page and makes as few fetches as possible. Pages are fetched a few at a time, but their links
are processed in the order of the requests. So the same site gives the same list, regardless of which page arrives
first.
"""

from __future__ import annotations

import concurrent.futures
from collections import deque
from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from website_scan.crawl.discovery.addresses import identity
from website_scan.crawl.discovery.context import CrawlContext
from website_scan.crawl.discovery.markup import Markup, read_markup
from website_scan.crawl.discovery.mazes import CrawlerTraps, shape
from website_scan.crawl.discovery.pages import Admission
from website_scan.crawl.links import sampled
from website_scan.messages import counted, excerpt
from website_scan.net.errors import BudgetExceeded, NetError
from website_scan.net.http.redirects import REDIRECTS
from website_scan.net.http.request import Request
from website_scan.net.http.response import Response
from website_scan.net.targets import InvalidUrl, parse_target
from website_scan.page.evidence import Page
from website_scan.page.fetch import ACCEPT, detect_challenge

MAX_CONCURRENT_FETCHES = 4
FETCH_TIMEOUT_S = 10.0
MAX_PAGE_BYTES = 1024 * 1024  # Only links in the first MiB of a page are followed.
MAX_REDIRECTS = 5
MAX_CONSECUTIVE_FAILURES = 5  # The crawl stops after this number of consecutive failures.
# Maximum number of fetches for each page of the list.
MAX_FETCHES_PER_PAGE = 2
EXTRA_FETCHES = 20
# No more pages of sitemaps are fetched after 3 without a new link, or one in 20. The first 50 are a sample.
MIN_FRUITLESS_FETCHES = 3
PAGES_PER_FRUITLESS_FETCH = 20
MAX_SAMPLED_PAGES = 50


class Step(Struct, frozen=True):
    """Page to fetch.

    `depth` is the number of clicks from the start page. `generation` is the number of pages of the same shape in a row
    that led to the page. `is_listed` is True if a sitemap lists the page, so that it may have no links to new pages.
    """

    path: str
    depth: int = 0
    generation: int = 0
    redirects: int = 0
    is_listed: bool = False


class Crawl:
    """Crawl that follows links and adds pages to the list.

    `stopped` is a sentence if the site caused an early end. `is_complete` is True if all pages were fetched that might
    have links to new pages.
    """

    def __init__(self, context: CrawlContext) -> None:
        self._site = context.site
        self._network = context.network
        self._pages = context.pages
        self._effort = context.effort
        self._pace = context.pace
        self._agent = context.agent
        self._report_progress = context.report_progress
        self._linked_steps: deque[Step] = deque()
        self._sitemap_steps: deque[Step] = deque()
        self._fruitless_fetches_left = 0
        self._fetches = MAX_FETCHES_PER_PAGE * context.max_pages + EXTRA_FETCHES
        self._failures = 0
        self._action_links: set[int] = set()
        self.mazes = CrawlerTraps(context.max_pages)
        self.stopped = ""
        self.complex_pages = 0
        self.broken = 0
        self.is_complete = True
        self._has_started = False

    @property
    def has_unread_pages(self) -> bool:
        """Return True if the links of some listed pages were not followed."""
        return not self._has_started or bool(self._sitemap_steps or self._linked_steps)

    @property
    def notes(self) -> list[str]:
        """Return sentences about pages that were left out.

        They are for the user, and name links that were not followed, too.
        """
        notes: list[str] = []
        if self.mazes.left_out:
            many = counted(self.mazes.left_out, "address", "addresses")
            notes.append(f"Left out: {many} that may be endless, such as {excerpt(self.mazes.example, 80)}.")
        if self._action_links:
            count = counted(len(self._action_links), "link")
            notes.append(f"Not followed: {count} that may change something, such as a log-out.")
        if self.broken:
            notes.append(f"Left out: {counted(self.broken, 'linked page')} answering with an error.")
        if self.complex_pages:
            notes.append(f"Too large or complex to search for links: {counted(self.complex_pages, 'page')}.")
        if self.stopped:
            notes.append(self.stopped)
        return notes

    def run(self, start: str, markup: Markup) -> None:
        """Follow links from the start page until the list is full.

        Raises `EffortExhausted`.
        """
        self._has_started = True
        listed = [path for path in self._pages.paths if identity(path) != identity(start)]
        self._fruitless_fetches_left = max(MIN_FRUITLESS_FETCHES, len(listed) // PAGES_PER_FRUITLESS_FETCH)
        first = sampled(listed, MAX_SAMPLED_PAGES)
        order = dict.fromkeys([*first, *listed])
        self._sitemap_steps.extend(Step(path, 1, is_listed=True) for path in order)
        self._follow_links(Step(start), markup)
        pool = concurrent.futures.ThreadPoolExecutor(MAX_CONCURRENT_FETCHES, "discovery")
        try:
            self._fetch_pages(pool)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)

    def _fetch_pages(self, pool: concurrent.futures.Executor) -> None:
        """Fetch pages concurrently, but process the results in order.

        The same site then gives the same list.
        """
        max_concurrent_fetches = 1 if self._pace.delay_s else MAX_CONCURRENT_FETCHES
        running_fetches: deque[tuple[Step, concurrent.futures.Future[Response]]] = deque()
        while True:
            while len(running_fetches) < max_concurrent_fetches and (step := self._next_step()) is not None:
                running_fetches.append((step, pool.submit(self._fetch_step, step)))
            if not running_fetches:
                break
            step, future = running_fetches.popleft()
            self._process_result(step, future)
            self._effort.check()
            self._report_progress(self._pages.found)
        is_unfinished = self._linked_steps or (
            self._pages.is_full and self._sitemap_steps and self._fruitless_fetches_left > 0
        )
        self.is_complete = not (is_unfinished or self.stopped or self.mazes.left_out or self.complex_pages)

    def _next_step(self) -> Step | None:
        if self._pages.is_full or self.stopped:
            return None
        if self._linked_steps:
            step = self._linked_steps.popleft()
        elif self._sitemap_steps and self._fruitless_fetches_left > 0:
            step = self._sitemap_steps.popleft()
            self._fruitless_fetches_left -= 1  # `_follow_links` restores the number if it finds new pages.
        else:
            return None
        if self._fetches <= 0:
            self._linked_steps.appendleft(step)
            self.stopped = "So many of the site's addresses are not pages that not all of them were checked."
            return None
        self._fetches -= 1
        return step

    def _fetch_step(self, step: Step) -> Response:
        self._pace.wait(self._effort.remaining_s)
        target = parse_target(self._site.url(step.path), self._site.start.policy)
        timeout_s = min(FETCH_TIMEOUT_S, self._effort.remaining_s)
        response = self._network.fetch(
            Request(
                target,
                headers=ACCEPT,
                max_bytes=MAX_PAGE_BYTES,
                timeout_s=timeout_s,
                verify=False,
                with_credentials=True,
            )
        )
        following = self._redirect_path(response)
        if following and identity(following) == identity(step.path) and self._pages.is_permitted(following):
            # Sites redirect to the same page to set a cookie or to add a slash.
            hops = self._network.follow(
                Request(
                    target,
                    headers=ACCEPT,
                    max_bytes=MAX_PAGE_BYTES,
                    timeout_s=timeout_s,
                    verify=False,
                    with_credentials=True,
                )
            )
            response = hops[-1]
        return response

    def _process_result(self, step: Step, future: concurrent.futures.Future[Response]) -> None:
        """Process the result of a fetch.

        A page that can't be fetched stays listed, so that its scan reports why.
        """
        try:
            response = future.result()
        except BudgetExceeded as error:
            self.stopped = str(error)
            return
        except (NetError, InvalidUrl) as error:
            self._failures += 1
            if self._failures >= MAX_CONSECUTIVE_FAILURES:
                self.stopped = f"The site stopped answering, so no more links were followed. {error}"
            return
        self._failures = 0
        if sign := detect_challenge(response):
            self.stopped = f"The site's protection answered, so no more links were followed: {sign}."
        elif response.status == 429:
            self.stopped = "The site answered with status 429, too many requests, so no more links were followed."
        elif response.status in REDIRECTS:
            self._follow_redirect(step, self._redirect_path(response))
        elif 400 <= response.status < 500:
            self.broken += 1
            self._pages.drop(step.path)
        elif response.status < 300:
            self._read_page(step, response)

    def _redirect_path(self, response: Response) -> str | None:
        """Return the path on this site that a response redirects to.

        None without such a redirect.
        """
        location = next(filter(None, response.headers.all("Location")), None)
        if response.status not in REDIRECTS or location is None:
            return None
        return self._site.path(location, response.url)

    def _follow_redirect(self, step: Step, path: str | None) -> None:
        if path is None or step.redirects >= MAX_REDIRECTS:
            self._pages.drop(step.path)
        elif self._pages.redirect(step.path, path) is Admission.NEW:
            self._linked_steps.appendleft(replace(step, path=path, redirects=step.redirects + 1))

    def _read_page(self, step: Step, response: Response) -> None:
        target = self._site.start.join(response.url)
        page = Page(target, target, (response,))
        path = self._site.path(target.url, target.url)
        if path is None or not page.is_html:
            self._pages.drop(step.path)
            return
        if identity(path) == identity(step.path):
            self._pages.rename(step.path, path)
        elif self._pages.redirect(step.path, path) is not Admission.NEW:
            return
        step = replace(step, path=path)
        markup = read_markup(page, self._agent)
        if markup is None:
            self.complex_pages += 1
            return
        if markup.canonical and (canonical := self._site.path(markup.canonical, page.target.url)):
            self._pages.merge(step.path, canonical)
        self._follow_links(step, markup)

    def _follow_links(self, step: Step, markup: Markup) -> None:
        new_paths = self._select_new_paths(markup.links)
        own, shapes = shape(step.path), [shape(path) for path in new_paths]
        # Only endless lists, such as calendars, increase the depth.
        has_new_shape = any(self.mazes.is_new_shape(path_shape) for path_shape in shapes)
        for path, path_shape in zip(new_paths, shapes, strict=True):
            if path_shape != own:
                following = Step(path, step.depth + 1)
            elif has_new_shape:
                following = Step(path, step.depth)
            else:
                following = Step(path, step.depth + 1, step.generation + 1)
            if not self.mazes.admit(path, path_shape, following.depth, following.generation):
                self._pages.record_unlisted(path)
            elif self._pages.add(path) is Admission.NEW:
                self._linked_steps.append(following)
        if step.is_listed and new_paths:
            self._fruitless_fetches_left += 1
        for url in markup.action_links:
            action_links = self._site.path(url, url)
            if action_links is not None and not self._pages.is_known(action_links):
                self._effort.count_step()
                self._action_links.add(hash(identity(action_links)))

    def _select_new_paths(self, links: Sequence[str]) -> list[str]:
        """Return the paths of new pages among the links.

        Other links are recorded as known.
        """
        new_paths: dict[str, None] = {}
        for url in links:
            path = self._site.path(url, url)
            if path is not None and self._pages.may_list(path):
                new_paths[path] = None
        return list(new_paths)
