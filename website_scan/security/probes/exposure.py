"""Probes of sensitive files and source maps.

They recognize files by their content and compare them with soft 404s.
"""

from __future__ import annotations

import concurrent.futures
import re
import threading
import time
from collections.abc import Iterator, Mapping

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
from website_scan.security.evidence import Exposure, FolderExposure, NotFoundBaseline, PathAnswer, SourceMaps
from website_scan.security.file_signatures import source_map
from website_scan.security.sensitive_files import MAX_JSON_BYTES, SensitiveFile, files_beside, files_of, identify_file

# The limit is low, because other probes send requests to the same host concurrently.
MAX_CONCURRENT_REQUESTS = 5
REQUEST_TIMEOUT_S = 5.0
MAX_REQUESTING_S = 20.0
# After so many timeouts, the site is probably blocking the scanner.
MAX_TIMEOUTS = 6
# A comparison with the response for a missing path may take 20 ms.
MAX_COMPARISONS = 80
MAX_CONCURRENT_REQUESTS_IN_FOLDERS = 2
MAX_CONCURRENT_SOURCE_MAPS = 1
MAX_SCRIPTS = 3
MAX_SCRIPT_BYTES = 1024 * 1024
# Comment at the end of a script with the URL of its source map (ECMA-426, "extracting source map URLs").
SOURCE_MAP_COMMENT = re.compile(rb"//[#@][ \t]*sourceMappingURL=([^\s'\"]{1,2000})\s*\Z")
MAX_SOURCE_MAP_COMMENT_BYTES = 4096


@probe(of_origin=True)
def exposure(page: Page, baseline: NotFoundBaseline, network: Network) -> Exposure:
    """Request the paths of all sensitive files on the page's origin.

    At most five requests are concurrent.

    Random sibling paths are requested only if a signature matches, to rule out a soft 404. After status 429, 20 s, six
    timeouts or the end of the budget of requests and bytes, all other paths get an `error` instead of a request.
    """
    files = files_of(page.target.host)
    return Exposure(_request_families(page, baseline, network, files, Reuse.NEVER, MAX_CONCURRENT_REQUESTS))


@probe()
def folder_exposure(page: Page, baseline: NotFoundBaseline, network: Network) -> FolderExposure:
    """Request a few sensitive files in two folders.

    These are the page's folder and the top folder of its path.

    Two requests run at a time. In an audit, further pages of the folder reuse the answers.
    """
    files = files_beside(page.target.path)
    return FolderExposure(
        _request_families(page, baseline, network, files, Reuse.ALLOWED, MAX_CONCURRENT_REQUESTS_IN_FOLDERS)
    )


def _request_families(
    page: Page,
    baseline: NotFoundBaseline,
    network: Network,
    families: Mapping[str, tuple[SensitiveFile, ...]],
    reuse: Reuse,
    max_concurrent: int,
) -> dict[str, tuple[PathAnswer, ...]]:
    requester = _FileRequester(page, baseline, network)
    files = [(family, file) for family, group in families.items() for file in group]
    with concurrent.futures.ThreadPoolExecutor(max_concurrent, "exposure") as pool:
        answers = pool.map(lambda file: requester.request(file, reuse), [file for _, file in files])
        found: dict[str, list[PathAnswer]] = {}
        for (family, _), answer in zip(files, answers, strict=True):
            found.setdefault(family, []).append(answer)
    return {family: tuple(group) for family, group in found.items()}


@probe()
def source_maps(page: Page, references: References, baseline: NotFoundBaseline, network: Network) -> SourceMaps:
    """Request the source maps of the first three scripts on the page's origin."""
    requester = _FileRequester(page, baseline, network)
    with concurrent.futures.ThreadPoolExecutor(MAX_CONCURRENT_SOURCE_MAPS, "source-map") as pool:
        maps = pool.map(requester.source_map, _scripts_of_origin(page, references))
        return SourceMaps(tuple(answer for answer in maps if answer is not None))


def _scripts_of_origin(page: Page, references: References) -> list[Target]:
    """Return the URLs of the first three scripts on the page's origin."""
    urls = [reference.url for reference in references.items if reference.kind is ResourceKind.SCRIPT]
    return [page.target.join(url) for url in urls if url.startswith(f"{page.target.origin}/")][:MAX_SCRIPTS]


class _RequestsStopped(Exception):
    """Raised, with a reason, when no more requests may be sent."""


class _FileRequester:
    """Requests a site's files.

    It stops when the site refuses or stops answering, or when time runs out.
    """

    def __init__(self, page: Page, baseline: NotFoundBaseline, network: Network) -> None:
        self._page = page
        self._not_found = baseline.answers
        self._network = network
        self._ends = time.monotonic() + MAX_REQUESTING_S
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
        """Request the source map of a script, by default SCRIPT.map.

        None if the map is inline or on another origin.
        """
        try:
            # The headers are the same as in other probes, so that the response can be reused.
            response = self._fetch(script.path, MAX_SCRIPT_BYTES, Reuse.ALLOWED, Referer=self._page.target.url)
            map_path = self._source_map_path(script, response)
        except (_RequestsStopped, NetError) as error:
            return PathAnswer(script.path, None, error=str(error))
        return (
            None
            if map_path is None
            else self.request(SensitiveFile(map_path, source_map, MAX_JSON_BYTES), Reuse.ALLOWED)
        )

    def _source_map_path(self, script: Target, response: Response) -> str | None:
        """Return the path of a script's source map.

        None if the map is inline or on another origin.
        """
        header = response.headers.get("SourceMap") or response.headers.get("X-SourceMap")
        comment = SOURCE_MAP_COMMENT.search(response.body[-MAX_SOURCE_MAP_COMMENT_BYTES:])
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
        proof = identify_file(file, response)
        is_exposed = proof is not None and not self._is_soft_404(file, response)
        return PathAnswer(
            path=file.path,
            status=response.status,
            media_type=excerpt(media_type(response)),
            size_bytes=_body_size_bytes(response),
            is_exposed=is_exposed,
            excerpt=excerpt(proof) if proof is not None and is_exposed else "",
        )

    def _is_soft_404(self, file: SensitiveFile, response: Response) -> bool:
        """Return True if the site responds to a missing path in the same way."""
        return any(
            identify_file(file, other) is not None or self._resembles(response, file.path, other, path)
            for path, other in self._iterate_baseline(file)
        )

    def _resembles(self, response: Response, path: str, other: Response, other_path: str) -> bool:
        if response.status != other.status:
            return False
        with self._lock:
            self._comparisons += 1
            if self._comparisons > MAX_COMPARISONS:
                raise _RequestsStopped("The site serves such files without end, also where none can be.")
        return resembles(response, path, other, other_path)

    def _iterate_baseline(self, file: SensitiveFile) -> Iterator[tuple[str, Response]]:
        """Yield responses for paths that cannot exist.

        The baseline comes first, then random sibling paths.
        """
        for response in self._not_found:
            yield response.url.removeprefix(self._page.target.origin), response
        for path in siblings(file.path):
            yield path, self._fetch(path, file.max_bytes)

    def _fetch(self, path: str, max_bytes: int, reuse: Reuse = Reuse.NEVER, **headers: str) -> Response:
        remaining_s = self._ends - time.monotonic()
        if remaining_s <= 0:
            self._stop_requests("The time for this was used up.")
        if self._stopped:
            raise _RequestsStopped(self._stopped)
        target = self._page.target
        try:
            response = self._network.fetch(
                Request(
                    target.join(f"{target.origin}{path}"),
                    headers=headers,
                    max_bytes=max_bytes,
                    timeout_s=min(REQUEST_TIMEOUT_S, remaining_s),
                    verify=False,
                    reuse=reuse,
                )
            )
        except BudgetExceeded as error:
            self._stop_requests(str(error))
        except TimedOut:
            with self._lock:
                self._timeouts += 1
                is_probably_blocked = self._timeouts >= MAX_TIMEOUTS
            if is_probably_blocked:
                self._stop_requests("The site stopped answering.")
            raise
        if response.status == 429:
            self._stop_requests(str(RateLimitedBySite()))
        return response

    def _stop_requests(self, reason: str) -> None:
        self._stopped = self._stopped or reason
        raise _RequestsStopped(self._stopped)


def _body_size_bytes(response: Response) -> int:
    """Return the size of the body.

    If only the beginning was read, Content-Length counts.
    """
    length = response.headers.get("Content-Length") or ""
    has_declared_size = (
        response.truncated and "Content-Encoding" not in response.headers and re.fullmatch(r"\d{1,15}", length)
    )
    return int(length) if has_declared_size else len(response.body)
