"""Crawler: follows a site's links breadth-first from the start page, with as few fetches as possible.

Pages are fetched a few at a time, but their links are processed in the order of the requests. So the same site gives
the same list, regardless of which page arrives first.
"""

from __future__ import annotations

import concurrent.futures
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace

from website_scan.crawl.discovery.addresses import identity
from website_scan.crawl.discovery.context import CrawlContext
from website_scan.crawl.discovery.markup import Markup, read_markup
from website_scan.crawl.discovery.mazes import Mazes, shape
from website_scan.crawl.discovery.pages import Admission
from website_scan.crawl.links import sampled
from website_scan.messages import counted, excerpt
from website_scan.net.errors import BudgetExceeded, NetError
from website_scan.net.http.redirects import REDIRECTS
from website_scan.net.http.request import Request
from website_scan.net.http.response import Response
from website_scan.net.targets import InvalidUrl, parse_target
from website_scan.page.evidence import Page
from website_scan.page.fetch import ACCEPT, challenge_sign

AT_ONCE = 4
TIMEOUT_S = 10.0
MAX_BYTES = 1024 * 1024  # per page; the links in it are enough
MAX_REDIRECTS = 5
MAX_FAILURES = 5  # in a row
# Fetches per wanted page, because some URLs turn out not to be pages.
FETCHES_PER_PAGE = 2
MORE_FETCHES = 20
# Number of pages from a sitemap that are fetched without finding links to new pages: at least 3, or one in 20. The
# first 50 are a sample spread over all.
IN_VAIN = 3
ONE_IN = 20
LOOKED_AT_FIRST = 50


@dataclass(frozen=True, slots=True)
class Step:
    """A page to fetch. `depth`: clicks from the start page; `generation`: pages of its shape in a row that led to it.

    `is_listed`: a sitemap names it, so it may link to nothing new.
    """

    path: str
    depth: int = 0
    generation: int = 0
    redirects: int = 0
    is_listed: bool = False


class Crawl:
    """A crawl that adds the pages found by following links to the list.

    `stopped` is a sentence if the site was the reason for an early end. `is_complete`: every page that might lead to
    others was fetched, as far as necessary.
    """

    def __init__(self, context: CrawlContext) -> None:
        self._site = context.site
        self._network = context.network
        self._pages = context.pages
        self._effort = context.effort
        self._pace = context.pace
        self._agent = context.agent
        self._tell = context.tell
        self._found: deque[Step] = deque()
        self._listed: deque[Step] = deque()
        self._in_vain = 0
        self._fetches = FETCHES_PER_PAGE * context.max_pages + MORE_FETCHES
        self._failures = 0
        self._acting: set[int] = set()
        self.mazes = Mazes(context.max_pages)
        self.stopped = ""
        self.intricate = 0
        self.broken = 0
        self.is_complete = True
        self._is_begun = False

    @property
    def has_unread(self) -> bool:
        """Return True if there are listed pages whose links were not followed."""
        return not self._is_begun or bool(self._listed or self._found)

    @property
    def notes(self) -> list[str]:
        """Return sentences on links that were not followed and pages that were left out."""
        notes: list[str] = []
        if self.mazes.left_out:
            many = counted(self.mazes.left_out, "address", "addresses")
            notes.append(f"Left out: {many} that may go on without end, such as {excerpt(self.mazes.example, 80)}.")
        if self._acting:
            notes.append(
                f"Not followed: {counted(len(self._acting), 'link')} that may change something, such as a log-out."
            )
        if self.broken:
            notes.append(f"Left out: {counted(self.broken, 'linked page')} answering with an error.")
        if self.intricate:
            notes.append(f"Too large or intricate to look for links: {counted(self.intricate, 'page')}.")
        if self.stopped:
            notes.append(self.stopped)
        return notes

    def run(self, start: str, markup: Markup) -> None:
        """Crawl from the links of the start page until the list is full. Raises `Exhausted`."""
        self._is_begun = True
        listed = [path for path in self._pages.paths if identity(path) != identity(start)]
        self._in_vain = max(IN_VAIN, len(listed) // ONE_IN)
        first = sampled(listed, LOOKED_AT_FIRST)
        order = dict.fromkeys([*first, *listed])
        self._listed.extend(Step(path, 1, is_listed=True) for path in order)
        self._follow(Step(start), markup)
        pool = concurrent.futures.ThreadPoolExecutor(AT_ONCE, "discovery")
        try:
            self._go(pool)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)

    def _go(self, pool: concurrent.futures.Executor) -> None:
        """Fetch pages concurrently. Each step is chosen once the same earlier steps are done: the order is constant."""
        at_once = 1 if self._pace.delay_s else AT_ONCE
        under_way: deque[tuple[Step, concurrent.futures.Future[Response]]] = deque()
        while True:
            while len(under_way) < at_once and (step := self._next()) is not None:
                under_way.append((step, pool.submit(self._fetch, step)))
            if not under_way:
                break
            step, future = under_way.popleft()
            self._take(step, future)
            self._effort.check()
            self._tell(self._pages.found)
        is_unfinished = self._found or (self._pages.is_full and self._listed and self._in_vain > 0)
        self.is_complete = not (is_unfinished or self.stopped or self.mazes.left_out or self.intricate)

    def _next(self) -> Step | None:
        if self._pages.is_full or self.stopped:
            return None
        if self._found:
            step = self._found.popleft()
        elif self._listed and self._in_vain > 0:
            step = self._listed.popleft()
            self._in_vain -= 1  # restored if it leads to new pages
        else:
            return None
        if self._fetches <= 0:
            self._found.appendleft(step)
            self.stopped = "So many of the site's addresses are no pages that not all of them were looked at."
            return None
        self._fetches -= 1
        return step

    def _fetch(self, step: Step) -> Response:
        self._pace.wait(self._effort.remaining_s)
        target = parse_target(self._site.url(step.path), self._site.start.policy)
        timeout_s = min(TIMEOUT_S, self._effort.remaining_s)
        response = self._network.fetch(
            Request(
                target, headers=ACCEPT, max_bytes=MAX_BYTES, timeout_s=timeout_s, verify=False, with_credentials=True
            )
        )
        following = self._redirected(response)
        if following and identity(following) == identity(step.path) and self._pages.permits(following):
            # The site redirects to set a cookie, or to add a slash.
            hops = self._network.follow(
                Request(
                    target,
                    headers=ACCEPT,
                    max_bytes=MAX_BYTES,
                    timeout_s=timeout_s,
                    verify=False,
                    with_credentials=True,
                )
            )
            response = hops[-1]
        return response

    def _take(self, step: Step, future: concurrent.futures.Future[Response]) -> None:
        """Process the result of a step. A page that could not be fetched stays listed: its own scan will report why."""
        try:
            response = future.result()
        except BudgetExceeded as error:
            self.stopped = str(error)
            return
        except (NetError, InvalidUrl) as error:
            self._failures += 1
            if self._failures >= MAX_FAILURES:
                self.stopped = f"The site stopped answering, so no more links were followed. {error}"
            return
        self._failures = 0
        if sign := challenge_sign(response):
            self.stopped = f"The site's protection answered, so no more links were followed: {sign}."
        elif response.status == 429:
            self.stopped = "The site answered with status 429, too many requests, so no more links were followed."
        elif response.status in REDIRECTS:
            self._redirect(step, self._redirected(response))
        elif 400 <= response.status < 500:
            self.broken += 1
            self._pages.drop(step.path)
        elif response.status < 300:
            self._read(step, response)

    def _redirected(self, response: Response) -> str | None:
        """Return the path on this site that a response redirects to; None if it does not."""
        location = next(filter(None, response.headers.all("Location")), None)
        if response.status not in REDIRECTS or location is None:
            return None
        return self._site.path(location, response.url)

    def _redirect(self, step: Step, path: str | None) -> None:
        if path is None or step.redirects >= MAX_REDIRECTS:
            self._pages.drop(step.path)
        elif self._pages.redirect(step.path, path) is Admission.NEW:
            self._found.appendleft(replace(step, path=path, redirects=step.redirects + 1))

    def _read(self, step: Step, response: Response) -> None:
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
            self.intricate += 1
            return
        if markup.canonical and (canonical := self._site.path(markup.canonical, page.target.url)):
            self._pages.merge(step.path, canonical)
        self._follow(step, markup)

    def _follow(self, step: Step, markup: Markup) -> None:
        found = self._unknown(markup.links)
        own, shapes = shape(step.path), [shape(path) for path in found]
        # A list page that brings new articles is not like a month of an endless calendar.
        is_fruitful = any(self.mazes.is_new(each) for each in shapes)
        for path, made in zip(found, shapes, strict=True):
            if made != own:
                following = Step(path, step.depth + 1)
            elif is_fruitful:
                following = Step(path, step.depth)
            else:
                following = Step(path, step.depth + 1, step.generation + 1)
            if not self.mazes.admit(path, made, following.depth, following.generation):
                self._pages.leave_out(path)
            elif self._pages.add(path) is Admission.NEW:
                self._found.append(following)
        if step.is_listed and found:
            self._in_vain += 1
        for url in markup.acting:
            acting = self._site.path(url, url)
            if acting is not None and not self._pages.knows(acting):
                self._effort.step()
                self._acting.add(hash(identity(acting)))

    def _unknown(self, links: Sequence[str]) -> list[str]:
        """Return the paths among these links that may be listed. The others are counted and remembered."""
        found: dict[str, None] = {}
        for url in links:
            path = self._site.path(url, url)
            if path is not None and self._pages.judge(path):
                found[path] = None
        return list(found)
