"""Exposure probes: sensitive files and source maps, proved by their content and compared with soft 404s."""

from __future__ import annotations

import concurrent.futures
import re
import threading
import time
from collections.abc import Iterator

from website_scan.catalogue import probe
from website_scan.messages import excerpt
from website_scan.net.client import Network
from website_scan.net.errors import Blocked, BudgetExceeded, NetError, TimedOut
from website_scan.net.http.request import Request, Reuse
from website_scan.net.http.response import Response
from website_scan.net.targets import InvalidUrl, Target
from website_scan.page.evidence import Page
from website_scan.page.fetch import RateLimitedBySite
from website_scan.page.references import References, ResourceKind
from website_scan.page.soft_404 import media_type, resembles, siblings
from website_scan.security.evidence import Exposure, NotFoundBaseline, PathAnswer, SourceMaps
from website_scan.security.file_signatures import source_map
from website_scan.security.sensitive_files import JSON_BYTES, SensitiveFile, files_of, identify

# Low, because other probes send requests to the same host at the same time.
AT_ONCE = 5
TIMEOUT_S = 5.0
TIME_LIMIT_S = 20.0
# Number of timeouts after which the site is probably blocking the scanner, so that no more paths are requested.
MAX_TIMEOUTS = 6
# Maximum number of comparisons with responses for paths that cannot exist. A comparison may take 20 ms.
MAX_COMPARISONS = 80
MAPS_AT_ONCE = 1
MAX_SCRIPTS = 3
SCRIPT_BYTES = 1024 * 1024
# ECMA-426, "extracting source map URLs": the comment is at the end of the script.
MAP_COMMENT = re.compile(rb"//[#@][ \t]*sourceMappingURL=([^\s'\"]{1,2000})\s*\Z")
COMMENT_BYTES = 4096


@probe(of_origin=True)
def exposure(page: Page, baseline: NotFoundBaseline, network: Network) -> Exposure:
    """Request every family's paths on the page's origin, at most five at once.

    Random sibling paths are requested only if a signature matches, to rule out a soft 404. After status 429, 20 s, six
    timeouts or the end of the budget of requests and bytes, all other paths get an `error` instead of a request.
    """
    requester = _FileRequester(page, baseline, network)
    files = [(family, file) for family, group in files_of(page.target.host).items() for file in group]
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE, "exposure") as pool:
        answers = pool.map(requester.request, [file for _, file in files])
        families: dict[str, list[PathAnswer]] = {}
        for (family, _), answer in zip(files, answers, strict=True):
            families.setdefault(family, []).append(answer)
    return Exposure({family: tuple(group) for family, group in families.items()})


@probe()
def source_maps(page: Page, references: References, baseline: NotFoundBaseline, network: Network) -> SourceMaps:
    """Request the source maps of the first three scripts on the page's origin, within the limits of `exposure`."""
    requester = _FileRequester(page, baseline, network)
    with concurrent.futures.ThreadPoolExecutor(MAPS_AT_ONCE, "source-map") as pool:
        maps = pool.map(requester.source_map, _own_scripts(page, references))
        return SourceMaps(tuple(answer for answer in maps if answer is not None))


def _own_scripts(page: Page, references: References) -> list[Target]:
    """Return the URLs of the first three scripts on the page's origin."""
    urls = [reference.url for reference in references.items if reference.kind is ResourceKind.SCRIPT]
    return [page.target.join(url) for url in urls if url.startswith(f"{page.target.origin}/")][:MAX_SCRIPTS]


class _RequestsStopped(Exception):
    """Raised when no more requests may be sent, with the reason as its text."""


class _FileRequester:
    """Requests files of one site until it refuses requests, stops answering, or the time is up."""

    def __init__(self, page: Page, baseline: NotFoundBaseline, network: Network) -> None:
        self._page = page
        self._not_found = baseline.answers
        self._network = network
        self._ends = time.monotonic() + TIME_LIMIT_S
        self._lock = threading.Lock()
        self._stopped = ""
        self._timeouts = 0
        self._comparisons = 0

    def request(self, file: SensitiveFile, reuse: Reuse = Reuse.NEVER) -> PathAnswer:
        try:
            return self._fetch_and_identify(file, reuse)
        except (_RequestsStopped, NetError) as error:
            return PathAnswer(file.path, None, error=str(error))

    def source_map(self, script: Target) -> PathAnswer | None:
        """Request the source map that a script names, or SCRIPT.map. None if the map is inline or on another origin."""
        try:
            # The headers equal those of the other probes' requests, so that the response can be reused.
            response = self._fetch(script.path, SCRIPT_BYTES, Reuse.ALLOWED, Referer=self._page.target.url)
            map_path = self._source_map_path(script, response)
        except (_RequestsStopped, NetError) as error:
            return PathAnswer(script.path, None, error=str(error))
        return (
            None if map_path is None else self.request(SensitiveFile(map_path, source_map, JSON_BYTES), Reuse.ALLOWED)
        )

    def _source_map_path(self, script: Target, response: Response) -> str | None:
        """Return the path of a script's source map. None if the map is inline or on another origin."""
        header = response.headers.get("SourceMap") or response.headers.get("X-SourceMap")
        comment = MAP_COMMENT.search(response.body[-COMMENT_BYTES:])
        url = header or (comment[1].decode("utf-8", "replace") if comment else "")
        if url.startswith("data:"):
            return None
        try:
            target = script.join(url or f"{script.path.partition('?')[0]}.map")
        except (InvalidUrl, Blocked):
            return None
        return target.path if target.origin == script.origin else None

    def _fetch_and_identify(self, file: SensitiveFile, reuse: Reuse) -> PathAnswer:
        response = self._fetch(file.path, file.max_bytes, reuse)
        proof = identify(file, response)
        is_exposed = proof is not None and not self._is_soft_404(file, response)
        return PathAnswer(
            path=file.path,
            status=response.status,
            media_type=excerpt(media_type(response)),
            size_bytes=_size_bytes(response),
            is_exposed=is_exposed,
            excerpt=excerpt(proof) if proof is not None and is_exposed else "",
        )

    def _is_soft_404(self, file: SensitiveFile, response: Response) -> bool:
        """Return True if the response for a path that cannot exist is similar, or matches the same signature."""
        return any(
            identify(file, other) is not None or self._resembles(response, file.path, other, path)
            for path, other in self._baseline(file)
        )

    def _resembles(self, response: Response, path: str, other: Response, other_path: str) -> bool:
        if response.status != other.status:
            return False
        with self._lock:
            self._comparisons += 1
            if self._comparisons > MAX_COMPARISONS:
                raise _RequestsStopped("The site serves such files without end, also where none can be.")
        return resembles(response, path, other, other_path)

    def _baseline(self, file: SensitiveFile) -> Iterator[tuple[str, Response]]:
        """Yield responses for paths that cannot exist: those of the baseline, then for random sibling paths."""
        for response in self._not_found:
            yield response.url.removeprefix(self._page.target.origin), response
        for path in siblings(file.path):
            yield path, self._fetch(path, file.max_bytes)

    def _fetch(self, path: str, max_bytes: int, reuse: Reuse = Reuse.NEVER, **headers: str) -> Response:
        remaining_s = self._ends - time.monotonic()
        if remaining_s <= 0:
            self._stop("The time for this was used up.")
        if self._stopped:
            raise _RequestsStopped(self._stopped)
        target = self._page.target
        try:
            response = self._network.fetch(
                Request(
                    target.join(f"{target.origin}{path}"),
                    headers=headers,
                    max_bytes=max_bytes,
                    timeout_s=min(TIMEOUT_S, remaining_s),
                    verify=False,
                    reuse=reuse,
                )
            )
        except BudgetExceeded as error:
            self._stop(str(error))
        except TimedOut:
            with self._lock:
                self._timeouts += 1
                is_blocked = self._timeouts >= MAX_TIMEOUTS
            if is_blocked:
                self._stop("The site stopped answering.")
            raise
        if response.status == 429:
            self._stop(str(RateLimitedBySite()))
        return response

    def _stop(self, reason: str) -> None:
        self._stopped = self._stopped or reason
        raise _RequestsStopped(self._stopped)


def _size_bytes(response: Response) -> int:
    """Return the size of the body, by Content-Length if only the beginning was read."""
    length = response.headers.get("Content-Length") or ""
    is_declared = (
        response.truncated and "Content-Encoding" not in response.headers and re.fullmatch(r"\d{1,15}", length)
    )
    return int(length) if is_declared else len(response.body)
