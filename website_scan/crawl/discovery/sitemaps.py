"""Read a site's sitemaps to discover its pages.

Sitemap indexes may be nested.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

from website_scan.crawl.discovery.context import CrawlContext
from website_scan.crawl.sitemap_requests import USUAL, fetch_sitemap
from website_scan.crawl.sitemaps import MAX_CHILD_SITEMAPS, Sitemap, SitemapKind, parse_sitemap
from website_scan.messages import counted, excerpt
from website_scan.net.errors import BudgetExceeded, NetError
from website_scan.net.http.response import Response
from website_scan.net.targets import InvalidUrl, Target
from website_scan.page.fetch import detect_challenge
from website_scan.page.registrable_domain import is_same_site

MAX_FILES = 50
PAGES_PER_EXTRA_SITEMAP = 20  # One more sitemap may be read for every 20 pages of the list.
MAX_INDEX_DEPTH = 3  # Some sites have an index in an index, although the protocol forbids nesting.
# A sitemap with 50,000 URLs has about 8 MB without compression.
MAX_TRANSFERRED_BYTES = 10 * 1024 * 1024
SITEMAP_TIMEOUT_S = 15.0
MAX_CONSECUTIVE_FAILURES = 3  # Reading stops after this number of consecutive failures.
# Owners of other sites have not consented, so few of their sitemaps are read.
MAX_FOREIGN_SITEMAPS = 3
MAX_NAMED_FAULTS = 3


class _PendingSitemap(NamedTuple):
    """Sitemap file to read.

    It has its nesting depth in indexes, and the URL of the index that lists the file.
    """

    address: str
    depth: int
    index_url: str = ""


class SitemapReader:
    """Reader that adds the URLs of sitemaps to the list of pages.

    `is_complete` is False if some could not be read. `files` counts the files that could be read.
    """

    def __init__(self, context: CrawlContext) -> None:
        self._site = context.site
        self._network = context.network
        self._pages = context.pages
        self._effort = context.effort
        self._pace = context.pace
        self._max_files = MAX_FILES + context.max_pages // PAGES_PER_EXTRA_SITEMAP
        self._report_progress = context.report_progress
        self._seen: set[str] = set()
        self._faults: list[str] = []
        self._stopped = ""
        self._failures = 0
        self._elsewhere = 0
        self._foreign_urls = 0
        self.files = 0
        self.is_complete = True

    @property
    def notes(self) -> list[str]:
        """Return sentences about incompletely read sitemaps.

        They are for the user.
        """
        more = len(self._faults) - MAX_NAMED_FAULTS
        others = [f"{counted(more, 'more sitemap')} could not be read, or in part only."] if more > 0 else []
        foreign = counted(self._foreign_urls, "address", "addresses")
        left_out = [f"Left out: {foreign} of other sites than {self._site.start.host}."] if self._foreign_urls else []
        return [*self._faults[:MAX_NAMED_FAULTS], *others, *left_out, *([self._stopped] if self._stopped else [])]

    def add_urls(self, urls: Sequence[str]) -> None:
        """Add the absolute URLs of a sitemap file that is already read.

        Raises `EffortExhausted`.
        """
        self.files += 1
        for url in urls:
            self._foreign_urls += not self._add_url(url, url)
        self._report_progress(self._pages.found)

    def read(self, named: Sequence[str]) -> None:
        """Read the sitemaps of robots.txt, else those at the usual paths.

        Raises `EffortExhausted`. Reading ends when the list overflows, because the site then has more pages than
        requested.
        """
        pending = deque(_PendingSitemap(address, 1) for address in dict.fromkeys(named))
        if not pending:
            self._try_usual_paths(pending)
        while pending and not self._pages.overflow:
            if len(self._seen) >= self._max_files:
                files = counted(self._max_files, "sitemap")
                self._stopped = f"The site has more than {files}; those beyond were not read."
                break
            if self._failures >= MAX_CONSECUTIVE_FAILURES:
                self._stopped = "Several sitemaps in a row did not load, so no more of them were requested."
                break
            pending_sitemap = pending.popleft()
            response = self._fetch_sitemap(pending_sitemap.address, pending_sitemap.index_url)
            sitemap = None if response is None else self._parse_sitemap(response)
            if response is not None and sitemap is not None:
                self._queue_children(sitemap, response, pending_sitemap.depth, pending)
        self.is_complete = self.is_complete and not pending

    def _try_usual_paths(self, pending: deque[_PendingSitemap]) -> None:
        """Try the usual paths of sitemaps.

        Only a file with the root of a sitemap counts, because many sites respond to any URL.
        """
        for path in USUAL:
            response = self._fetch_sitemap(path, is_guess=True)
            if response is not None and (sitemap := self._parse_sitemap(response, is_guess=True)) is not None:
                self._queue_children(sitemap, response, 1, pending)
                return

    def _queue_children(
        self, sitemap: Sitemap, response: Response, depth: int, pending: deque[_PendingSitemap]
    ) -> None:
        if sitemap.kind is SitemapKind.INDEX and depth < MAX_INDEX_DEPTH:
            pending.extendleft(_PendingSitemap(child, depth + 1, response.url) for child in reversed(sitemap.children))
            self.is_complete = self.is_complete and sitemap.count <= MAX_CHILD_SITEMAPS
        self._report_progress(self._pages.found)

    def _fetch_sitemap(self, address: str, index: str = "", *, is_guess: bool = False) -> Response | None:
        self._effort.check()
        try:
            target = self._site.start.join(address)
        except (NetError, InvalidUrl) as error:
            self._record_fault(f"The sitemap {excerpt(address)} was not requested: {_as_clause(error)}")
            return None
        if target.url in self._seen:
            return None
        self._seen.add(target.url)
        if unasked := self._explain_skip(target, index):
            self._record_fault(f"The sitemap {excerpt(target.url)} was not requested: {unasked}")
            return None
        try:
            self._pace.wait(self._effort.remaining_s)
            response = fetch_sitemap(
                target,
                self._network,
                max_bytes=MAX_TRANSFERRED_BYTES,
                timeout_s=min(SITEMAP_TIMEOUT_S, self._effort.remaining_s),
            )
        except (NetError, InvalidUrl) as error:
            self._failures += 1
            if isinstance(error, BudgetExceeded):
                self._failures = MAX_CONSECUTIVE_FAILURES
            self._record_fault(f"The sitemap {excerpt(target.url)} could not be read: {_as_clause(error)}")
            return None
        self._failures = 0
        if sign := detect_challenge(response):
            self._record_fault(f"The site's protection answered for the sitemap {excerpt(target.url)}: {sign}.")
        elif response.status == 429 or response.status >= 500 or (response.status >= 400 and not is_guess):
            self._record_fault(f"The sitemap {excerpt(target.url)} answers with status {response.status}.")
        elif response.status < 300:
            return response
        return None

    def _explain_skip(self, target: Target, index: str) -> str:
        """Return why a sitemap on another site is not requested.

        Empty if the protocol allows the request.
        """
        if is_same_site(target.host, self._site.start.host):
            return ""
        if index and self._site.start.join(index).host != target.host:
            return "an index may only list files of its own site."
        self._elsewhere += 1
        return (
            f"at most {MAX_FOREIGN_SITEMAPS} files of other sites are read."
            if self._elsewhere > MAX_FOREIGN_SITEMAPS
            else ""
        )

    def _parse_sitemap(self, response: Response, *, is_guess: bool = False) -> Sitemap | None:
        sitemap = parse_sitemap(
            response.body, is_cut=response.truncated, on_url=lambda address: self._add_url(address, response.url)
        )
        if is_guess and sitemap.kind is None:
            return None
        self.files += sitemap.kind is not None
        if sitemap.fault:
            self._record_fault(f"The sitemap {excerpt(response.url)} {sitemap.fault}.")
        elif not sitemap.is_whole:
            self._record_fault(f"The sitemap {excerpt(response.url)} is too large to be read as a whole.")
        elif not sitemap.is_complete:
            self._record_fault(
                f"The sitemap {excerpt(response.url)} is a feed or of news, and names the latest pages only."
            )
        return sitemap

    def _add_url(self, address: str, base: str) -> bool:
        """Add a URL of a sitemap at `base`.

        Returns False if the URL is not of the site. Raises `EffortExhausted`.
        """
        path = self._site.path(address, base)
        if path is None:
            self._effort.count_step()
            self._effort.count_url()
            return False
        self._pages.add(path)
        return True

    def _record_fault(self, note: str) -> None:
        self._faults.append(note)
        self.is_complete = False


def _as_clause(error: Exception) -> str:
    """Convert an error's sentence to a clause that may follow a colon."""
    text = str(error)
    return text[:1].lower() + text[1:] if text.startswith(("The ", "A ")) else text
