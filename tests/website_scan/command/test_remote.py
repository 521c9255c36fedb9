"""Tests for `--server`.

The responses are from a service or from another program.
"""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from website_scan.command.arguments import Options
from website_scan.command.errors import ServerRefused, WrongUsage
from website_scan.command.progress import ProgressLine
from website_scan.command.remote import KEY, ServiceClient, scan_pages
from website_scan.command.site_options import SiteOptions, SitePages
from website_scan.findings import ScanType
from website_scan.requirements.model import NO_REQUIREMENTS
from website_scan.requirements.reading import read_requirements
from website_scan.security_categories import SecurityCategory
from website_scan.viewing import Viewing

Answer = tuple[int, dict[str, str], bytes]


class Fake:
    """Fake server that records requests.

    It returns its responses in order and repeats the last response.
    """

    def __init__(self) -> None:
        self.answers: list[Answer] = []
        self.requests: list[tuple[str, str, dict[str, str], bytes]] = []
        self.waits_s: list[float] = []
        fake = self

        class Handler(BaseHTTPRequestHandler):
            def answer(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                fake.requests.append((self.command, self.path, dict(self.headers), body))
                status, headers, content = fake.answers[0] if len(fake.answers) == 1 else fake.answers.pop(0)
                self.send_response(status)
                for name, value in (headers | {"Content-Length": str(len(content))}).items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(content)

            do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = answer  # noqa: N815  # http.server calls these names

            def log_message(self, *_: Any) -> None:
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.http.server_port}"

    def client(self) -> ServiceClient:
        return ServiceClient(f"{self.address}/", "wss_key", sleep=self.waits_s.append)


@pytest.fixture
def fake() -> Iterator[Fake]:
    server = Fake()
    thread = threading.Thread(target=server.http.serve_forever)
    thread.start()
    yield server
    server.http.shutdown()
    thread.join()
    server.http.server_close()


def refusal(status: int, code: str, **headers: str) -> Answer:
    return status, headers, json.dumps({"code": code, "error": "Not now."}).encode()


def test_transient_errors_are_retried(fake: Fake) -> None:
    slow = refusal(429, "RATE_LIMITED", **{"Retry-After": "7"})
    fake.answers = [slow, (502, {}, b"<html>"), (200, {}, b'{"id": "aud_1"}')]
    assert fake.client().request("POST", "/v1/audits", {"pages": []}) == {"id": "aud_1"}
    assert fake.waits_s == [7.0, 2.0]
    # The service creates one audit for all requests with the same idempotency key.
    assert len({headers["Idempotency-Key"] for _, _, headers, _ in fake.requests}) == 1
    assert {body for *_, body in fake.requests} == {b'{"pages": []}'}


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (refusal(401, "UNAUTHORIZED"), "UNAUTHORIZED: Not now."),
        (refusal(429, "QUOTA_EXCEEDED"), "QUOTA_EXCEEDED: Not now."),
        (refusal(400, "INVALID_PAGES"), "INVALID_PAGES: Not now."),
        ((302, {"Location": "https://elsewhere.example/"}, b""), "redirects"),
        ((200, {}, b"<!doctype html>"), "is not a Website Scan Service"),
        ((404, {}, b"<!doctype html>"), "responded with status 404"),
        ((404, {}, b"[]"), "responded with status 404"),
        (refusal(429, "RATE_LIMITED", **{"Retry-After": "86400"}), "RATE_LIMITED"),
    ],
)
def test_permanent_errors_are_reported_at_once(fake: Fake, answer: Answer, sentence: str) -> None:
    fake.answers = [answer]
    with pytest.raises(ServerRefused, match=sentence):
        fake.client().request("GET", "/v1/audits/aud_1")
    assert (len(fake.requests), fake.waits_s) == (1, [])


def test_refused_connection_is_retried(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Regression test: the command wrote no message for two minutes."""
    now = [0.0]

    def sleep(seconds: float) -> None:
        now[0] += seconds

    with socket.socket() as silent_socket:
        silent_socket.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{silent_socket.getsockname()[1]}"
        with pytest.raises(ServerRefused, match=f"{address} cannot be reached"):
            ServiceClient(address, "wss_key", sleep=sleep, clock=lambda: now[0]).request("GET", "/v1/usage")
    assert 20 <= now[0] <= 30
    assert capsys.readouterr().err == f"{address} cannot be reached. Trying again for 30 seconds.\n"


def test_netrc_does_not_replace_the_api_key(fake: Fake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login somebody password else\n")
    monkeypatch.setenv("NETRC", str(netrc))
    fake.answers = [(200, {}, b"{}")]
    fake.client().request("GET", "/v1/usage")
    assert fake.requests[0][2]["Authorization"] == "Bearer wss_key"


def test_ctrl_c_cancels_the_audit(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY, "wss_key")

    def raise_keyboard_interrupt(self: ServiceClient) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(ServiceClient, "wait", raise_keyboard_interrupt)
    audit = {"id": "aud_1", "status": "running", "scans": {"done": 0, "planned": 4}}
    fake.answers = [(200, {}, json.dumps(audit).encode())]
    with pytest.raises(KeyboardInterrupt):
        list(scan_pages(Options(urls=("https://example.com/",), server=fake.address), ProgressLine()))
    assert [(method, path) for method, path, *_ in fake.requests] == [
        ("POST", "/v1/audits"),
        ("DELETE", "/v1/audits/aud_1"),
    ]


@pytest.mark.parametrize("key", ["", " ", "a\nb", "schlüssel"])
def test_invalid_api_key_is_a_usage_error(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY, key)
    with pytest.raises(WrongUsage, match=KEY):
        list(scan_pages(Options(urls=("https://example.com/",), server="https://scan.example.com"), ProgressLine()))


@pytest.mark.parametrize(
    "server", ["scan.example.com", "ftp://a/", "https://", "https://u:p@a/", "https://a/?b", "http://[a"]
)
def test_invalid_server_address_is_a_usage_error(server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY, "wss_key")
    with pytest.raises(WrongUsage, match="needs the address of a service"):
        list(scan_pages(Options(urls=("https://example.com/",), server=server), ProgressLine()))


AUDIT = {
    "id": "aud_1",
    "created_at": "2026-11-29T00:00:00Z",
    "status": "completed",
    "pages": {"found": 9},
    "scans": {"planned": 1, "done": 1},
    "notes": ["The site has more pages than 2.", "The site has no sitemap."],
    "error": None,
}


def json_answer(content: object) -> Answer:
    return 200, {}, json.dumps(content).encode()


def scan_site(fake: Fake, monkeypatch: pytest.MonkeyPatch, *answers: object) -> tuple[list[Any], list[SitePages]]:
    """Scan a site of at most two pages for SEO. Returns the reports and the pages of the site."""
    monkeypatch.setenv(KEY, "wss_key")
    fake.answers = list(map(json_answer, answers))
    site = SiteOptions(max_pages=2, exclude=("/a*",))
    options = Options(urls=("https://example.com/",), site=site, types=(ScanType.SEO,), server=fake.address)
    sites: list[SitePages] = []
    return [report for visit in scan_pages(options, ProgressLine(), sites.append) for report in visit], sites


def test_site_is_audited_by_the_service(
    fake: Fake, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    scan = {"scan_id": "scan_1", "status": "failed", "score": None}
    pages = [
        {"url": "https://example.com/", "status": "done", "results": {"seo": scan}},
        {"url": "https://example.com/b", "status": "left_out", "results": {}},
    ]
    error = {"code": "TIMEOUT", "message": "Too slow."}
    reports, (site,) = scan_site(fake, monkeypatch, AUDIT, {"pages": pages, "total": 2}, {"error": error})
    assert [(report.url, report.error) for report in reports] == [("https://example.com/", error)]
    assert json.loads(fake.requests[0][3]) == {
        "url": "https://example.com/",
        "max_pages": 2,
        "include": [],
        "exclude": ["/a*"],
        "types": ["seo"],
    }
    assert (site.pages, site.found, site.notes) == (("https://example.com/",), 9, ("The site has no sitemap.",))
    assert "1 page of https://example.com/; at least 8 left out (--max-pages is 2)." in capsys.readouterr().err


def test_service_gets_the_chosen_categories(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY, "wss_key")
    fake.answers = [json_answer(AUDIT), json_answer({"pages": [], "total": 0})]
    options = Options(("https://example.com/",), categories=(SecurityCategory.MAIL,), server=fake.address)
    assert list(scan_pages(options, ProgressLine())) == []
    assert json.loads(fake.requests[0][3])["categories"] == ["mail"]


def test_service_gets_the_chosen_viewing(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY, "wss_key")
    fake.answers = [json_answer(AUDIT), json_answer({"pages": [], "total": 0})]
    options = Options(("https://example.com/",), viewing=Viewing((800,), "dark"), server=fake.address)
    assert list(scan_pages(options, ProgressLine())) == []
    body = json.loads(fake.requests[0][3])
    assert (body["widths"], body["color_scheme"]) == ([800], "dark")


def test_service_gets_the_requirements(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY, "wss_key")
    requirements = read_requirements({"rules": [{"name": "Imprint is linked", "link": "/imprint"}]})
    for used in (requirements, NO_REQUIREMENTS):
        fake.answers = [json_answer(AUDIT), json_answer({"pages": [], "total": 0})]
        options = Options(("https://example.com/",), requirements=used, server=fake.address)
        assert list(scan_pages(options, ProgressLine())) == []
    bodies = [json.loads(body) for method, _, _, body in fake.requests if method == "POST"]
    assert read_requirements(bodies[0]["requirements"]) == requirements
    assert "requirements" not in bodies[1]


def test_failed_audit_of_a_site_is_a_failed_scan(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    error = {"code": "ROBOTS_DISALLOWED", "message": "robots.txt forbids crawlers the start page."}
    audit = AUDIT | {"status": "failed", "error": error, "notes": [], "pages": {"found": 0}}
    reports, _ = scan_site(fake, monkeypatch, audit, {"pages": [], "total": 0})
    assert [(report.url, report.error) for report in reports] == [("https://example.com/", error)]
