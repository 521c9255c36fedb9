"""Reader of a site's sitemaps for its discovery: all files, nested indexes included, one after the other."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

from website_scan.crawl.discovery.context import CrawlContext
from website_scan.crawl.sitemap_requests import USUAL, fetch_sitemap
from website_scan.crawl.sitemaps import MAX_CHILDREN, Sitemap, SitemapKind, parse_sitemap
from website_scan.messages import counted, excerpt
from website_scan.net.errors import BudgetExceeded, NetError
from website_scan.net.http.response import Response
from website_scan.net.targets import InvalidUrl, Target
from website_scan.page.fetch import challenge_sign
from website_scan.page.registrable_domain import is_same_site

MAX_FILES = 50
PAGES_FOR_ANOTHER = 20  # for every 20 pages of the list's limit, one more file may be read
MAX_DEPTH = 3  # the protocol forbids an index in an index, but some exist
MAX_BYTES = 10 * 1024 * 1024  # on the wire; a sitemap at its limit of 50,000 URLs has some 8 MB uncompressed
TIMEOUT_S = 15.0
MAX_FAILURES = 3  # in a row
# Sitemaps of other sites that robots.txt may name (sitemaps.org, "Sitemaps & Cross Submits"): their owners were not
# asked, and a site needs few.
MAX_ELSEWHERE = 3
SHOWN = 3


class _Named(NamedTuple):
    """A file that is still to be read: how deep indexes are nested above it, and the URL of the one it is named by."""

    address: str
    depth: int
    named_by: str = ""


class SitemapReading:
    """Reader of sitemaps into a list of pages. `notes` are for people; `is_complete` until something is missing.

    `files` counts the files that could be read.
    """

    def __init__(self, context: CrawlContext) -> None:
        self._site = context.site
        self._network = context.network
        self._pages = context.pages
        self._effort = context.effort
        self._pace = context.pace
        self._max_files = MAX_FILES + context.max_pages // PAGES_FOR_ANOTHER
        self._tell = context.tell
        self._seen: set[str] = set()
        self._faults: list[str] = []
        self._stopped = ""
        self._failures = 0
        self._elsewhere = 0
        self.files = 0
        self.is_complete = True

    @property
    def notes(self) -> list[str]:
        """Return sentences on files that could not be read completely; only the first few are named."""
        more = len(self._faults) - SHOWN
        others = [f"{counted(more, 'more sitemap')} could not be read, or in part only."] if more > 0 else []
        return [*self._faults[:SHOWN], *others, *([self._stopped] if self._stopped else [])]

    def read(self, named: Sequence[str]) -> None:
        """Read the sitemaps that robots.txt names, else those in the usual places. Raises `Exhausted`.

        Ends when the list overflows: then the site has more pages than wanted, and their number does not matter.
        """
        pending = deque(_Named(address, 1) for address in dict.fromkeys(named))
        if not pending:
            self._guess(pending)
        while pending and not self._pages.overflow:
            if len(self._seen) >= self._max_files:
                files = counted(self._max_files, "sitemap")
                self._stopped = f"The site has more than {files}; those beyond were not read."
                break
            if self._failures >= MAX_FAILURES:
                self._stopped = "Sitemaps did not come, one after the other, so no more of them were asked for."
                break
            named_file = pending.popleft()
            response = self._fetch(named_file.address, named_file.named_by)
            found = None if response is None else self._parse(response)
            if response is not None and found is not None:
                self._go_on(found, response, named_file.depth, pending)
        self.is_complete = self.is_complete and not pending

    def _guess(self, pending: deque[_Named]) -> None:
        """Try the usual places. Many sites answer any URL, so only a sitemap's root counts, even if it is broken."""
        for path in USUAL:
            response = self._fetch(path, is_guess=True)
            if response is not None and (found := self._parse(response, is_guess=True)) is not None:
                self._go_on(found, response, 1, pending)
                return

    def _go_on(self, found: Sitemap, response: Response, depth: int, pending: deque[_Named]) -> None:
        if found.kind is SitemapKind.INDEX and depth < MAX_DEPTH:
            pending.extendleft(_Named(child, depth + 1, response.url) for child in reversed(found.children))
            self.is_complete = self.is_complete and found.count <= MAX_CHILDREN
        self._tell(self._pages.found)

    def _fetch(self, address: str, index: str = "", *, is_guess: bool = False) -> Response | None:
        self._effort.check()
        try:
            target = self._site.start.join(address)
        except (NetError, InvalidUrl) as error:
            self._miss(f"The sitemap {excerpt(address)} was not asked for: {_as_clause(error)}")
            return None
        if target.url in self._seen:
            return None
        self._seen.add(target.url)
        if unasked := self._unasked(target, index):
            self._miss(f"The sitemap {excerpt(target.url)} was not asked for: {unasked}")
            return None
        try:
            self._pace.wait(self._effort.remaining_s)
            response = fetch_sitemap(
                target,
                self._network,
                max_bytes=MAX_BYTES,
                timeout_s=min(TIMEOUT_S, self._effort.remaining_s),
            )
        except (NetError, InvalidUrl) as error:
            self._failures += 1
            if isinstance(error, BudgetExceeded):
                self._failures = MAX_FAILURES
            self._miss(f"The sitemap {excerpt(target.url)} could not be read: {_as_clause(error)}")
            return None
        self._failures = 0
        if sign := challenge_sign(response):
            self._miss(f"The site's protection answered for the sitemap {excerpt(target.url)}: {sign}.")
        elif response.status == 429 or response.status >= 500 or (response.status >= 400 and not is_guess):
            self._miss(f"The sitemap {excerpt(target.url)} answers with status {response.status}.")
        elif response.status < 300:
            return response
        return None

    def _unasked(self, target: Target, index: str) -> str:
        """Return why a file of another site is not asked for; empty if it may be, as the protocol allows."""
        if is_same_site(target.host, self._site.start.host):
            return ""
        if index and self._site.start.join(index).host != target.host:
            return "an index may name files of its own site only."
        self._elsewhere += 1
        return f"at most {MAX_ELSEWHERE} files of other sites are read." if self._elsewhere > MAX_ELSEWHERE else ""

    def _parse(self, response: Response, *, is_guess: bool = False) -> Sitemap | None:
        found = parse_sitemap(
            response.body, is_cut=response.truncated, take=lambda address: self._take(address, response)
        )
        if is_guess and found.kind is None:
            return None
        self.files += found.kind is not None
        if found.fault:
            self._miss(f"The sitemap {excerpt(response.url)} {found.fault}.")
        elif not found.is_whole:
            self._miss(f"The sitemap {excerpt(response.url)} is too large to be read as a whole.")
        elif not found.is_complete:
            self._miss(f"The sitemap {excerpt(response.url)} is a feed or of news, and names the latest pages only.")
        return found

    def _take(self, address: str, response: Response) -> None:
        path = self._site.path(address, response.url)
        if path is None:
            self._effort.step()
            self._effort.address()
        else:
            self._pages.add(path)

    def _miss(self, note: str) -> None:
        self._faults.append(note)
        self.is_complete = False


def _as_clause(error: Exception) -> str:
    """Return an error's sentence as a clause after a colon."""
    text = str(error)
    return text[:1].lower() + text[1:] if text.startswith(("The ", "A ")) else text
