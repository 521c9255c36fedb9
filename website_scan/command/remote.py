"""Scans by a Website Scan Service (`--server`).

Starts an audit of all pages, then downloads reports and mutes.
"""

from __future__ import annotations

import contextlib
import os
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import Any, TypedDict

import requests
from msgspec import Struct

from website_scan import __version__
from website_scan.command.arguments import Options
from website_scan.command.credentials import audit_credentials
from website_scan.command.errors import ServerRefused, WrongUsage
from website_scan.command.gate import CommandReport
from website_scan.command.progress import ProgressLine
from website_scan.command.site_options import SiteOptions, SitePages
from website_scan.command.terminal import write_err
from website_scan.report_json import ExportedError, ExportJson
from website_scan.written_urls import split_url

KEY = "WEBSITE_SCAN_KEY"
CONNECT_TIMEOUT_S = 5.0
RESPONSE_TIMEOUT_S = 30.0
# Restarting a service takes less time than these retries.
MAX_RETRY_S = 120.0
# The address is probably wrong if connections are refused for this long.
MAX_RETRY_REFUSED_S = 30.0
RETRY_DELAY_S = 2.0
PAGES_PER_REQUEST = 100
CHUNK_BYTES = 64 * 1024
MAX_REPORTED_FAULTS = 20
FINAL_STATUSES = frozenset({"completed", "partial", "failed", "cancelled"})
NO_CONTENT = 204
TRANSIENT_STATUSES = frozenset({429, 500, 502, 503, 504})


class _Counts(TypedDict):
    planned: int
    done: int


class _PageCounts(TypedDict):
    found: int


class _Audit(TypedDict):
    """Audit in an API response, with only the keys that the command reads."""

    id: str
    status: str
    created_at: str
    pages: _PageCounts
    scans: _Counts
    notes: list[str]
    error: ExportedError | None


class _PageScan(TypedDict):
    scan_id: str
    status: str
    score: int | None


class _Page(TypedDict):
    url: str
    status: str
    results: dict[str, _PageScan]


class _Pages(TypedDict):
    pages: list[_Page]
    total: int


class _Mute(TypedDict):
    reason: str


class _MutedFinding(TypedDict):
    check: str
    is_whole: bool
    mutes: list[_Mute]


class _ScoreWithout(TypedDict):
    score: int


class _Muted(TypedDict):
    findings: list[_MutedFinding]
    without_muted: _ScoreWithout | None


class _Scan(TypedDict):
    error: ExportedError | None


class Upload(Struct, frozen=True):
    """Request body that is not JSON.

    The server may take up to `timeout_s` seconds to respond.
    """

    data: bytes
    media_type: str
    timeout_s: float = RESPONSE_TIMEOUT_S


class ServiceClient:
    """HTTP client of the API.

    Follows no redirects, so that the API key is sent to the configured server only. `clock` returns seconds.
    """

    def __init__(
        self,
        address: str,
        key: str,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._address = address.rstrip("/")
        self._key = key
        self._sleep = sleep
        self._clock = clock

    def request(
        self, method: str, path: str, body: Mapping[str, object] | None = None, upload: Upload | None = None
    ) -> Any:
        """Send a request and return the JSON of the response.

        None for status 204. Raises ServerRefused. Retries transient errors, with one message on standard error.
        """
        response = self._send_with_retries(method, path, body, upload)
        return None if response.status_code == NO_CONTENT else _json(response)

    def download(self, path: str) -> Iterator[bytes]:
        """Yield the response body in chunks.

        Raises ServerRefused, even if only the end of the body is missing.
        """
        with self._send_with_retries("GET", path, is_streamed=True) as response:
            try:
                yield from response.iter_content(CHUNK_BYTES)
            except requests.RequestException as error:
                raise ServerRefused(f"{self._address} did not send all of it ({type(error).__name__}).") from None

    def _send_with_retries(
        self,
        method: str,
        path: str,
        body: Mapping[str, object] | None = None,
        upload: Upload | None = None,
        *,
        is_streamed: bool = False,
    ) -> requests.Response:
        # The Idempotency-Key prevents a repeated POST from starting a second audit.
        headers = {
            "User-Agent": f"website-scan/{__version__}",
            **({"Idempotency-Key": str(uuid.uuid4())} if method == "POST" else {}),
            **({"Content-Type": upload.media_type} if upload else {}),
        }
        start_s = self._clock()
        is_retry_reported = False
        while True:
            wait_s, max_retry_s = RETRY_DELAY_S, MAX_RETRY_S
            try:
                response = requests.request(
                    method,
                    self._address + path,
                    json=body,
                    data=upload.data if upload else None,
                    headers=headers,
                    auth=self._authorize,
                    timeout=(CONNECT_TIMEOUT_S, upload.timeout_s if upload else RESPONSE_TIMEOUT_S),
                    allow_redirects=False,
                    stream=is_streamed,
                )
            except requests.ConnectionError:
                problem, max_retry_s = f"{self._address} cannot be reached.", MAX_RETRY_REFUSED_S
            except requests.RequestException as error:
                problem = f"{self._address} does not respond ({type(error).__name__})."
            else:
                if response.ok and not response.is_redirect:
                    return response
                code, problem = _refusal(response, self._address)
                if response.status_code not in TRANSIENT_STATUSES or code in ("QUOTA_EXCEEDED", "CONCURRENT_LIMIT"):
                    raise ServerRefused(problem)
                with contextlib.suppress(ValueError):
                    wait_s = max(RETRY_DELAY_S, float(response.headers.get("Retry-After", "")))
            if self._clock() + wait_s > start_s + max_retry_s:
                raise ServerRefused(problem)
            if not is_retry_reported:
                write_err(f"{problem} Trying again for {max_retry_s:g} seconds.")
                is_retry_reported = True
            self._sleep(wait_s)

    def _authorize(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        """Set the Authorization header of a request.

        The requests library calls this in its `auth` callback. Otherwise, .netrc could overwrite the header.
        """
        request.headers["Authorization"] = f"Bearer {self._key}"
        return request

    def wait(self, seconds: float = RETRY_DELAY_S) -> None:
        self._sleep(seconds)


def service_client(address: str) -> ServiceClient:
    """Return an API client for the address.

    The key is in the environment. Raises WrongUsage for invalid values.
    """
    if not _is_service_address(address):
        raise WrongUsage("--server needs the address of a service, such as https://scan.example.com.")
    key = os.environ.get(KEY, "").strip()
    if not key or not key.isascii() or not key.isprintable():
        raise WrongUsage(f"--server needs an API key in the environment variable {KEY}.")
    return ServiceClient(address, key)


def scan_pages(
    options: Options, progress: ProgressLine, add_site: Callable[[SitePages], None] = lambda _: None
) -> Iterator[list[CommandReport]]:
    """Scan the pages, or the site, in one audit of the service.

    Then yields the reports of each page. `add_site` receives the pages of a site. Raises WrongUsage and ServerRefused.
    """
    address = options.server or ""
    server = service_client(address)
    request = audit_credentials(options)
    body = _audited_pages(options) | {"types": [str(scan_type) for scan_type in options.types]}
    if options.viewing is not None:
        body |= options.viewing.json
    if options.categories is not None:
        body["categories"] = list(options.categories)
    if options.requirements.rules:
        body["requirements"] = options.requirements.json()
    audit: _Audit = server.request("POST", "/v1/audits", body | ({"request": request} if request else {}))
    try:
        while audit["status"] not in FINAL_STATUSES:
            done, planned = audit["scans"]["done"], max(1, audit["scans"]["planned"])
            progress.update(100 * done // planned, f"{audit['status']:<10}  {done}/{planned} scans  {address}")
            server.wait()
            audit = server.request("GET", f"/v1/audits/{audit['id']}")
    except KeyboardInterrupt:
        progress.clear()
        # Cancel the audit, so that its waiting scans do not use the quota.
        with contextlib.suppress(ServerRefused):
            server.request("DELETE", f"/v1/audits/{audit['id']}")
        raise
    if options.site:
        yield from _site_reports(server, audit, options, options.site, add_site)
        return
    for page in _pages(server, audit["id"]):
        # The audit leaves out URLs that are not pages, such as redirects to another site.
        if page["status"] != "left_out" or not page["results"]:
            yield [_page_report(server, audit, page, str(scan_type)) for scan_type in options.types]


def _audited_pages(options: Options) -> dict[str, object]:
    """Return the fields of the audit's request that choose its pages."""
    site = options.site
    if site is None:
        return {"pages": list(options.urls)}
    patterns = {"include": list(site.include), "exclude": list(site.exclude)}
    return {"url": options.urls[0], "max_pages": site.max_pages, **patterns}


def _site_reports(
    server: ServiceClient,
    audit: _Audit,
    options: Options,
    site_options: SiteOptions,
    add_site: Callable[[SitePages], None],
) -> Iterator[list[CommandReport]]:
    """Yield the reports of each page of a site, or failed scans if the audit has no page."""
    from website_scan.command.failed_reports import failed_report  # The scan engine is imported only for failed scans.
    from website_scan.crawl.discovery.discover import limit_notes  # The engine is imported only for sites.

    (start,), limit = options.urls, site_options.max_pages
    # URLs that turned out not to be pages are left out of the audit's scores, too.
    pages = [page for page in _pages(server, audit["id"]) if page["status"] != "left_out"]
    urls = tuple(page["url"] for page in pages)
    found = max(audit["pages"]["found"], len(pages))
    notes = tuple(note for note in audit["notes"] if note not in limit_notes(limit))
    site = SitePages(start, urls, limit, found, notes, found == len(pages), audit["error"])
    add_site(site)
    if pages:
        if not options.is_quiet:
            write_err("\n".join([f"Scanned {site.sentence}", *(f"  {note}" for note in notes)]))
        for page in pages:
            yield [_page_report(server, audit, page, str(scan_type)) for scan_type in options.types]
        return
    error = audit["error"] or {"code": "NO_PAGES", "message": "The audit found no page."}
    yield [failed_report(start, str(scan_type), error) for scan_type in options.types]


def _is_service_address(address: str) -> bool:
    try:
        parts = split_url(address)
        has_scheme_and_host = parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        return False
    return has_scheme_and_host and not parts.query and "@" not in parts.netloc


def _pages(server: ServiceClient, audit_id: str) -> Iterator[_Page]:
    offset = 0
    while True:
        batch: _Pages = server.request("GET", f"/v1/audits/{audit_id}/pages?limit={PAGES_PER_REQUEST}&offset={offset}")
        yield from batch["pages"]
        offset += len(batch["pages"])
        if not batch["pages"] or offset >= batch["total"]:
            return


def _page_report(server: ServiceClient, audit: _Audit, page: _Page, scan_type: str) -> CommandReport:
    from website_scan.command.failed_reports import failed_report  # The scan engine is imported only for failed scans.

    result = page["results"].get(scan_type)
    started_at = datetime.fromisoformat(audit["created_at"])
    if result is None:
        error = audit["error"] or {
            "code": "SCAN_NOT_STARTED",
            "message": "The audit ended before this page was scanned.",
        }
        return failed_report(page["url"], scan_type, error, started_at=started_at)
    scan_id = result["scan_id"]
    if result["score"] is None:
        scan: _Scan = server.request("GET", f"/v1/scan/{scan_id}")
        error = scan["error"] or {"code": "SCAN_NOT_COMPLETE", "message": f"The scan is {result['status']}."}
        return failed_report(page["url"], scan_type, error, scan_id=scan_id, started_at=started_at)
    export: ExportJson = server.request("GET", f"/v1/report/{scan_id}/export?format=json")
    mutes: _Muted = server.request("GET", f"/v1/report/{scan_id}/mutes")
    accepted = {finding["check"]: _mute_reasons(finding) for finding in mutes["findings"] if finding["is_whole"]}
    without = mutes["without_muted"]
    return CommandReport(export, accepted=accepted, accepted_score=without["score"] if without else None)


def _mute_reasons(finding: _MutedFinding) -> str:
    reasons = dict.fromkeys(mute["reason"] for mute in finding["mutes"])
    return f"muted: {'; '.join(reasons)}"


def _json(response: requests.Response) -> Any:
    try:
        return response.json()
    except ValueError:
        raise ServerRefused(f"{response.url} is not a Website Scan Service: its response is not JSON.") from None


def _refusal(response: requests.Response, address: str) -> tuple[str, str]:
    """Return the code and message of an API error.

    The code may be empty.
    """
    if response.is_redirect:
        return "", f"{address} redirects: set --server to the address to which it redirects."
    try:
        body = response.json()
        return body["code"], "\n".join([f"{address}: {body['code']}: {body['error']}", *_faults(body)])
    except (KeyError, TypeError, ValueError):
        return "", f"{address} responded with status {response.status_code}."


def _faults(body: Mapping[str, Any]) -> Iterator[str]:
    """Yield an error for each invalid line of an uploaded file.

    The errors are in the API's error response.
    """
    faults = body.get("entries", [])[:MAX_REPORTED_FAULTS]
    for fault in faults:
        yield f"  line {fault['line']}: {fault['error']}"
    if faults and body["count"] > len(faults):
        yield f"  and {body['count'] - len(faults):,} more"
