"""Client of a Website Scan Service, and scans by it: one audit of all pages, then its reports and mutes."""

from __future__ import annotations

import contextlib
import os
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypedDict

import requests

from website_scan import __version__
from website_scan.command.arguments import Options
from website_scan.command.credentials import request_of
from website_scan.command.errors import ServerRefused, WrongUsage
from website_scan.command.judged import Judged
from website_scan.command.progress import ProgressLine
from website_scan.command.terminal import say
from website_scan.report_json import ExportedError, ExportJson
from website_scan.written_urls import split_url

KEY = "WEBSITE_SCAN_KEY"
CONNECT_S = 5.0
TIMEOUT_S = 30.0
# The longest wait for a service that does not answer: a restart takes less.
PATIENCE_S = 120.0
# The same where nothing accepts a connection: more often the address is wrong, or no service runs there.
REFUSED_PATIENCE_S = 30.0
RETRY_S = 2.0
PAGES_AT_ONCE = 100
CHUNK_BYTES = 64 * 1024
# Lines of an upload whose faults are told.
FAULTS_TOLD = 20
FINAL = frozenset({"completed", "partial", "failed", "cancelled"})
NO_CONTENT = 204
PASSING = frozenset({429, 500, 502, 503, 504})


class _Counts(TypedDict):
    planned: int
    done: int


class _Audit(TypedDict):
    """Audit of the API, as far as the command reads it; so are the other answers."""

    id: str
    status: str
    created_at: str
    scans: _Counts
    error: ExportedError | None


class _PageScan(TypedDict):
    scan_id: str
    status: str
    score: int | None


class _Page(TypedDict):
    url: str
    status: str
    results: dict[str, _PageScan]  # by type


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


@dataclass(frozen=True, slots=True)
class Upload:
    """Body of a request that is not JSON. The server may need `timeout_s` until it answers."""

    data: bytes
    media_type: str
    timeout_s: float = TIMEOUT_S


class Server:
    """Client of a service's API. It follows no redirects, because the key is for that server only.

    `clock` returns seconds.
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

    def ask(
        self, method: str, path: str, body: Mapping[str, object] | None = None, upload: Upload | None = None
    ) -> Any:
        """Send a request and return the JSON of the response, None if it has no content. Raises ServerRefused.

        Retries transient errors, and says so once.
        """
        answer = self._answer(method, path, body, upload)
        return None if answer.status_code == NO_CONTENT else _json(answer)

    def download(self, path: str) -> Iterator[bytes]:
        """Yield a response in pieces. Raises ServerRefused, also if it ends early."""
        with self._answer("GET", path, is_streamed=True) as answer:
            try:
                yield from answer.iter_content(CHUNK_BYTES)
            except requests.RequestException as error:
                raise ServerRefused(f"{self._address} did not send all of it ({type(error).__name__}).") from None

    def _answer(
        self,
        method: str,
        path: str,
        body: Mapping[str, object] | None = None,
        upload: Upload | None = None,
        *,
        is_streamed: bool = False,
    ) -> requests.Response:
        # With the Idempotency-Key, a POST that is sent again starts no second audit.
        headers = {
            "User-Agent": f"website-scan/{__version__}",
            **({"Idempotency-Key": str(uuid.uuid4())} if method == "POST" else {}),
            **({"Content-Type": upload.media_type} if upload else {}),
        }
        begun = self._clock()
        is_told = False
        while True:
            wait_s, patience_s = RETRY_S, PATIENCE_S
            try:
                answer = requests.request(
                    method,
                    self._address + path,
                    json=body,
                    data=upload.data if upload else None,
                    headers=headers,
                    auth=self._with_key,
                    timeout=(CONNECT_S, upload.timeout_s if upload else TIMEOUT_S),
                    allow_redirects=False,
                    stream=is_streamed,
                )
            except requests.ConnectionError:
                trouble, patience_s = f"{self._address} cannot be reached.", REFUSED_PATIENCE_S
            except requests.RequestException as error:
                trouble = f"{self._address} does not respond ({type(error).__name__})."
            else:
                if answer.ok and not answer.is_redirect:
                    return answer
                code, trouble = _refusal(answer, self._address)
                if answer.status_code not in PASSING or code in ("QUOTA_EXCEEDED", "CONCURRENT_LIMIT"):
                    raise ServerRefused(trouble)
                with contextlib.suppress(ValueError):
                    wait_s = max(RETRY_S, float(answer.headers.get("Retry-After", "")))
            if self._clock() + wait_s > begun + patience_s:
                raise ServerRefused(trouble)
            if not is_told:
                say(f"{trouble} Trying again for {patience_s:g} seconds.")
                is_told = True
            self._sleep(wait_s)

    def _with_key(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        """Set the Authorization header. As `auth`, because requests overwrites a plain header with .netrc's entry."""
        request.headers["Authorization"] = f"Bearer {self._key}"
        return request

    def wait(self, seconds: float = RETRY_S) -> None:
        self._sleep(seconds)


def server_at(address: str) -> Server:
    """Return the service at an address, with the API key of the environment. Raises WrongUsage."""
    if not _is_of_service(address):
        raise WrongUsage("--server needs the address of a service, such as https://scan.example.com.")
    key = os.environ.get(KEY, "").strip()
    if not key or not key.isascii() or not key.isprintable():
        raise WrongUsage(f"--server needs an API key in the environment variable {KEY}.")
    return Server(address, key)


def scans(options: Options, progress: ProgressLine) -> Iterator[list[Judged]]:
    """Yield the reports of each page, after all scans have ended. Raises WrongUsage and ServerRefused."""
    address = options.server or ""
    server = server_at(address)
    request = request_of(options)
    body: dict[str, object] = {"pages": list(options.urls), "types": [str(each) for each in options.types]}
    audit: _Audit = server.ask("POST", "/v1/audits", body | ({"request": request} if request else {}))
    try:
        while audit["status"] not in FINAL:
            done, planned = audit["scans"]["done"], max(1, audit["scans"]["planned"])
            progress.tell(100 * done // planned, f"{audit['status']:<10}  {done}/{planned} scans  {address}")
            server.wait()
            audit = server.ask("GET", f"/v1/audits/{audit['id']}")
    except KeyboardInterrupt:
        progress.clear()
        # Cancel the audit: nobody waits for it, and scans that have not begun cost no quota yet.
        with contextlib.suppress(ServerRefused):
            server.ask("DELETE", f"/v1/audits/{audit['id']}")
        raise
    for page in _pages(server, audit["id"]):
        # A URL that its visit has found to be no page of the site is left out with its scans.
        if page["status"] != "left_out" or not page["results"]:
            yield [_judged(server, audit, page, str(each)) for each in options.types]


def _is_of_service(address: str) -> bool:
    try:
        parts = split_url(address)
        is_complete = parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        return False
    return is_complete and not parts.query and "@" not in parts.netloc


def _pages(server: Server, audit_id: str) -> Iterator[_Page]:
    offset = 0
    while True:
        found: _Pages = server.ask("GET", f"/v1/audits/{audit_id}/pages?limit={PAGES_AT_ONCE}&offset={offset}")
        yield from found["pages"]
        offset += len(found["pages"])
        if not found["pages"] or offset >= found["total"]:
            return


def _judged(server: Server, audit: _Audit, page: _Page, scan_type: str) -> Judged:
    from website_scan.command.failed_reports import failed  # loads the engine, which only failed scans need here

    result = page["results"].get(scan_type)
    begun = datetime.fromisoformat(audit["created_at"])
    if result is None:
        error = audit["error"] or {
            "code": "SCAN_NOT_STARTED",
            "message": "The audit ended before this page was scanned.",
        }
        return failed(page["url"], scan_type, error, begun=begun)
    scan_id = result["scan_id"]
    if result["score"] is None:
        scan: _Scan = server.ask("GET", f"/v1/scan/{scan_id}")
        error = scan["error"] or {"code": "SCAN_NOT_COMPLETE", "message": f"The scan is {result['status']}."}
        return failed(page["url"], scan_type, error, scan_id=scan_id, begun=begun)
    document: ExportJson = server.ask("GET", f"/v1/report/{scan_id}/export?format=json")
    mutes: _Muted = server.ask("GET", f"/v1/report/{scan_id}/mutes")
    accepted = {each["check"]: _why(each) for each in mutes["findings"] if each["is_whole"]}
    without = mutes["without_muted"]
    return Judged(document, accepted=accepted, accepted_score=without["score"] if without else None)


def _why(finding: _MutedFinding) -> str:
    reasons = dict.fromkeys(each["reason"] for each in finding["mutes"])
    return f"muted: {'; '.join(reasons)}"


def _json(answer: requests.Response) -> Any:
    try:
        return answer.json()
    except ValueError:
        raise ServerRefused(f"{answer.url} is not a Website Scan Service: its response is not JSON.") from None


def _refusal(answer: requests.Response, address: str) -> tuple[str, str]:
    """Return the API's error code, empty if the response has none, and a sentence."""
    if answer.is_redirect:
        return "", f"{address} redirects: give --server the address that it redirects to."
    try:
        said = answer.json()
        return said["code"], "\n".join([f"{address}: {said['code']}: {said['error']}", *_faults(said)])
    except (KeyError, TypeError, ValueError):
        return "", f"{address} responded with status {answer.status_code}."


def _faults(said: Mapping[str, Any]) -> Iterator[str]:
    """Yield the faults of an upload by line."""
    told = said.get("entries", [])[:FAULTS_TOLD]
    for each in told:
        yield f"  line {each['line']}: {each['error']}"
    if told and said["count"] > len(told):
        yield f"  and {said['count'] - len(told):,} more"
