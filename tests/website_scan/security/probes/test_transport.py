"""Test TLS probes and whole security scans with real servers."""

from __future__ import annotations

import socket
import ssl
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import pytest

from tests.targets.server import Site
from tests.website_scan.cast import POLICY, target, verdict
from tests.website_scan.net.loopback import loopback_network
from tests.website_scan.net.tls_servers import (
    DAY,
    LOOPBACK,
    Identity,
    alert,
    http_answer,
    http_message,
    self_signed,
    serve,
    server_hello,
    tls_server,
)
from website_scan.findings import ScanType
from website_scan.net.client import Network
from website_scan.net.errors import Blocked, NetError, NotReachable, TlsFailed
from website_scan.net.http.request import Request
from website_scan.net.http.response import Headers, Response
from website_scan.net.tls.ciphers import NAMES, WEAK, TlsVersion, Weakness, weakness
from website_scan.page.evidence import Clock, Page
from website_scan.page.fetch import SiteProtected, fetch_page
from website_scan.result import Budget
from website_scan.run import scan
from website_scan.security.checks import transport as checks
from website_scan.security.evidence import OriginCors, PlainHttp, TlsPeer
from website_scan.security.probes import tls as tls_probe
from website_scan.security.probes.cors import cors
from website_scan.security.probes.tls import tls_peer, tls_support
from website_scan.security.probes.transport import https_answer, plain_http

HOST = "localhost"
OLD = "ALL:@SECLEVEL=0"
GOOD_PAGE = http_message(
    b"<!doctype html><title>A page</title>",
    headers="Strict-Transport-Security: max-age=31536000; includeSubDomains\r\n"
    "Content-Security-Policy: frame-ancestors 'self'\r\nX-Content-Type-Options: nosniff\r\n"
    "Permissions-Policy: camera=()\r\n",
)


@pytest.fixture(scope="module")
def root() -> Identity:
    return Identity.root()


@pytest.fixture
def network(root: Identity, tmp_path: Path) -> Iterator[Network]:
    bundle = tmp_path / "roots.pem"
    bundle.write_bytes(root.pem)
    with loopback_network(bundle) as network:
        yield network


def load(network: Network, url: str) -> Page:
    return fetch_page(target(url), network)


# Tests for certificates with server, probe and check.


@pytest.mark.parametrize(
    ("leaf", "expected_failures"),
    [
        (lambda root: root.issue(HOST), set()),
        (lambda root: root.issue(HOST, not_after=datetime.now(UTC) - DAY / 2), {"tls_cert_expiry"}),
        (lambda root: root.issue("other.example.com"), {"tls_cert_hostname"}),
        (lambda root: root.issue(HOST, alternative_names=False), {"tls_cert_hostname"}),
        (lambda root: self_signed(HOST), {"tls_cert_trusted"}),
        (lambda root: root.issue_authority().issue(HOST), {"tls_cert_trusted"}),
        (lambda root: Identity.root("A Stranger").issue(HOST), {"tls_cert_trusted"}),
        (lambda root: root.issue(HOST, rsa_bits=1024), {"tls_cert_strength"}),
    ],
    ids=["good", "expired", "wrong host", "common name", "self-signed", "incomplete", "unknown", "weak"],
)
def test_fault_fails_only_its_own_check(
    network: Network,
    root: Identity,
    tmp_path: Path,
    leaf: Callable[[Identity], Identity],
    expected_failures: set[str],
) -> None:
    with tls_server(tmp_path, leaf(root), ciphers=OLD, respond=GOOD_PAGE) as port:
        page = load(network, f"https://{HOST}:{port}/")
        peer = tls_peer(page, network)
    findings = {
        "tls_cert_trusted": checks.tls_cert_trusted(peer),
        "tls_cert_hostname": checks.tls_cert_hostname(peer),
        "tls_cert_expiry": checks.tls_cert_expiry(peer, Clock(datetime.now(UTC))),
        "tls_cert_strength": checks.tls_cert_strength(peer),
    }
    assert {name for name, finding in findings.items() if verdict(finding) == "fail"} == expected_failures


# Tests for TLS versions and cipher suites.


def probe_tls_support(network: Network, port: int) -> tuple[set[TlsVersion], set[Weakness | None]]:
    page = load(network, f"https://{HOST}:{port}/")
    support = tls_support(tls_peer(page, network), network)
    return set(support.versions), {weakness(name) for name in support.weak_ciphers}


def test_modern_server_accepts_tls_1_3(network: Network, root: Identity, tmp_path: Path) -> None:
    with tls_server(tmp_path, root.issue(HOST), respond=GOOD_PAGE) as port:
        assert probe_tls_support(network, port) == ({TlsVersion.TLS1_2, TlsVersion.TLS1_3}, set())


def test_tls_1_2_only_server_is_recognized(network: Network, root: Identity, tmp_path: Path) -> None:
    with tls_server(tmp_path, root.issue(HOST), maximum=ssl.TLSVersion.TLSv1_2, respond=GOOD_PAGE) as port:
        assert probe_tls_support(network, port) == ({TlsVersion.TLS1_2}, set())


def test_weak_suites_of_a_server_are_found(network: Network, root: Identity, tmp_path: Path) -> None:
    leaf = root.issue(HOST, rsa_bits=2048)
    ciphers = "ALL:COMPLEMENTOFALL:@SECLEVEL=0"
    with tls_server(tmp_path, leaf, minimum=ssl.TLSVersion.TLSv1, ciphers=ciphers, respond=GOOD_PAGE) as port:
        versions, weak = probe_tls_support(network, port)
    assert versions == {TlsVersion.TLS1_0, TlsVersion.TLS1_1, TlsVersion.TLS1_2, TlsVersion.TLS1_3}
    assert weak >= {Weakness.NULL, Weakness.ANONYMOUS}


class OldServer:
    """Fake TLS server with these versions and cipher suites.

    It counts the hellos.
    """

    def __init__(self, versions: set[TlsVersion], suites: set[int]) -> None:
        self.versions = versions
        self.suites = suites
        self.hellos: Counter[int] = Counter()

    def __call__(self, connection: socket.socket) -> None:
        hello = connection.recv(65536)
        if hello[:1] != b"\x16":
            connection.sendall(http_message(b"<p>Plain"))
            return
        version = int.from_bytes(hello[9:11], "big")
        start = 43 + 1 + hello[43]
        length = int.from_bytes(hello[start : start + 2], "big")
        codes = hello[start + 2 : start + 2 + length]
        offered = [int.from_bytes(codes[at : at + 2], "big") for at in range(0, length, 2)]
        self.hellos[version] += 1
        accepted = [code for code in offered if code in self.suites]
        versions = [candidate for candidate in self.versions if candidate <= version]
        if versions and accepted and max(versions) == version:
            connection.sendall(server_hello(version, accepted[0]))
        else:
            connection.sendall(alert(70 if not versions else 40))


@pytest.mark.parametrize("code", [0x000A, 0x0005, 0x0009, 0x0003, 0x0002, 0x0034])
def test_single_weak_suite_is_found(network: Network, code: int) -> None:
    server = OldServer({TlsVersion.TLS1_2}, {0xC02F, code})
    with serve(server) as port:
        support = tls_support(TlsPeer(LOOPBACK, port, None), network)
    assert [weakness(name) for name in support.weak_ciphers] == [weakness(NAMES[code])]
    assert set(support.versions) == {TlsVersion.TLS1_2}


def test_weaknesses_are_found_with_13_connections(network: Network) -> None:
    server = OldServer({TlsVersion.SSL3_0, TlsVersion.TLS1_0, TlsVersion.TLS1_2}, set(WEAK))
    with serve(server) as port:
        support = tls_support(TlsPeer(LOOPBACK, port, None), network)
    assert {weakness(name) for name in support.weak_ciphers} == set(Weakness)
    assert set(support.versions) == {TlsVersion.SSL3_0, TlsVersion.TLS1_0, TlsVersion.TLS1_2}
    assert server.hellos.total() <= 13


def test_ssl_3_is_found_without_openssl(network: Network) -> None:
    server = OldServer({TlsVersion.SSL3_0}, {0x0005})
    with serve(server) as port:
        page = load(network, f"https://{LOOPBACK}:{port}/")
        peer = tls_peer(page, network)
        support = tls_support(peer, network)
    assert not page.target.is_https
    assert peer.handshake is None
    assert set(support.versions) == {TlsVersion.SSL3_0}
    assert verdict(checks.https_available(page.target, peer, support)) == "fail"
    assert verdict(checks.tls_weak_ciphers(support)) == "fail"


def test_port_without_tls_gets_two_connections(network: Network) -> None:
    connections = 0
    lock = threading.Lock()

    def count_connections(connection: socket.socket) -> None:
        nonlocal connections
        with lock:
            connections += 1
        connection.recv(65536)
        connection.sendall(http_message(b"<p>Plain"))

    with serve(count_connections) as port:
        page = load(network, f"http://{LOOPBACK}:{port}/")
        before = connections
        peer = tls_peer(page, network)
        support = tls_support(peer, network)
        attempts = connections - before
    assert peer.handshake is None
    assert support.versions == {}
    assert attempts <= 2
    assert verdict(checks.https_available(page.target, peer, support)) == "fail"


def test_tls_support_needs_an_accepted_hello(network: Network, root: Identity, tmp_path: Path) -> None:
    with tls_server(tmp_path, root.issue(HOST), respond=GOOD_PAGE) as port:
        peer = tls_peer(load(network, f"https://{HOST}:{port}/"), network)
    with serve(lambda connection: connection.sendall(alert(80))) as limited, pytest.raises(TlsFailed):
        tls_support(TlsPeer(HOST, limited, peer.handshake), network)


def test_tls_peer_needs_a_reachable_page(network: Network, root: Identity, tmp_path: Path) -> None:
    with tls_server(tmp_path, root.issue(HOST), respond=GOOD_PAGE) as port:
        page = load(network, f"https://{HOST}:{port}/")
    with pytest.raises(NotReachable):
        tls_peer(page, network)


def test_tls_peer_uses_port_443_for_port_80() -> None:
    requested: list[tuple[str, int]] = []

    class Closed:
        policy = POLICY

        def connect(self, host: str, port: int, *, timeout_s: float | None = None) -> socket.socket:
            requested.append((host, port))
            raise NotReachable("closed")

    for url in ("http://site.example.com/", "http://site.example.com:8080/"):
        address = target(url)
        page = Page(address, address, (Response(url, 200, Headers()),))
        tls_peer(page, cast(Network, Closed()))
    assert requested == [("site.example.com", 443), ("site.example.com", 8080)]


# Tests for the plain HTTP response of an HTTPS page.


class FakeNetwork:
    """Fake network with prepared responses by URL.

    Errors among the responses are raised.
    """

    def __init__(self, **answers: object) -> None:
        self.answers: dict[str, Response | NetError] = {}
        self.requested_urls: list[str] = []

    def fetch(self, request: Request) -> Response:
        address = request.target.url
        self.requested_urls.append(address)
        answer = self.answers[address]
        if isinstance(answer, NetError):
            raise answer
        return answer

    def follow(self, request: Request) -> tuple[Response, ...]:
        return (self.fetch(request),)


def probe_plain_http(url: str, answers: dict[str, tuple[int, str] | NetError]) -> tuple[PlainHttp, list[str]]:
    network = FakeNetwork()
    for address, answer in answers.items():
        network.answers[address] = (
            answer
            if isinstance(answer, NetError)
            else Response(address, answer[0], Headers((("Location", answer[1]),) if answer[1] else ()))
        )
    page = Page(target(url), target(url), (Response(url, 200, Headers()),))
    return plain_http(page, cast(Network, network)), network.requested_urls


SITE = "https://site.example.com/a?b"
TWIN = "http://site.example.com/a?b"


def test_plain_http_url_keeps_the_query() -> None:
    evidence, urls = probe_plain_http(SITE, {TWIN: (301, SITE), SITE: (200, "")})
    assert urls == [TWIN, SITE]
    assert [hop.url for hop in evidence.hops] == [TWIN, SITE]


def test_closed_port_80_is_an_error() -> None:
    evidence, _ = probe_plain_http(SITE, {TWIN: NotReachable("refused")})
    assert (evidence.url, evidence.hops, evidence.error) == (TWIN, (), "refused")


@pytest.mark.parametrize(
    ("location", "next_url"),
    [
        ("https://site.example.com/x", "https://site.example.com/x"),
        ("/x", "http://site.example.com/x"),
        ("https://", "https://"),
        ("http://127.0.0.2.internal/", "http://127.0.0.2.internal/"),
    ],
)
def test_next_url_may_be_unreachable(location: str, next_url: str) -> None:
    answers: dict[str, tuple[int, str] | NetError] = {TWIN: (301, location)}
    evidence, _ = probe_plain_http(SITE, answers | {next_url: NotReachable("refused")})
    assert len(evidence.hops) == 1
    assert evidence.error
    assert evidence.next_url == next_url


def test_blocked_address_raises_an_error() -> None:
    with pytest.raises(Blocked):
        probe_plain_http(SITE, {TWIN: Blocked("not public")})


def test_unusual_port_has_no_plain_http_url() -> None:
    evidence, urls = probe_plain_http("https://site.example.com:8443/", {})
    assert evidence.url is None
    assert urls == []


def test_plain_http_page_is_not_fetched_again() -> None:
    evidence, urls = probe_plain_http(TWIN, {})
    assert [hop.url for hop in evidence.hops] == [TWIN]
    assert urls == []


def test_https_response_is_fetched_for_http_page(network: Network, root: Identity, tmp_path: Path) -> None:
    with tls_server(tmp_path, root.issue(HOST), respond=GOOD_PAGE) as port:
        peer = tls_peer(load(network, f"https://{HOST}:{port}/"), network)
        url = f"http://{HOST}:{port}/x"
        page = Page(target(url), target(url), (Response(url, 200, Headers()),))
        answer = https_answer(page, peer, network)
    assert answer.response is not None
    assert "Strict-Transport-Security" in answer.response.headers
    assert https_answer(page, TlsPeer(HOST, port, None), network).response is None


# Tests for cross-origin requests.


def echo(connection: socket.socket) -> None:
    request = connection.recv(65536).decode("latin-1")
    origin = next((line[8:] for line in request.split("\r\n") if line.lower().startswith("origin: ")), "-")
    allow = f"Access-Control-Allow-Origin: {origin}\r\nAccess-Control-Allow-Credentials: true\r\n"
    connection.sendall(http_message(b"<p>", headers=allow))


def test_cors_probe_sends_random_origin_first(network: Network) -> None:
    with serve(echo) as port:
        page = load(network, f"http://{LOOPBACK}:{port}/")
        first, second = (cors(page, OriginCors(page.target.url), network) for _ in range(2))
    assert [answer.allow_origin for answer in first.answers] == [(first.answers[0].origin,), ("null",)]
    assert {answer.allow_credentials for answer in first.answers} == {("true",)}
    assert first.answers[0].origin != second.answers[0].origin


def test_cors_probe_stops_after_status_429(network: Network) -> None:
    with serve(http_answer(b"<p>")) as port:
        page = load(network, f"http://{LOOPBACK}:{port}/")
    with serve(http_answer(b"", status=429)) as limited:
        moved = Page(page.requested, target(f"http://{LOOPBACK}:{limited}/"), page.hops)
        with pytest.raises(SiteProtected):
            cors(moved, OriginCors(""), network)


# Tests for whole security scans.


def test_good_site_passes_transport_checks(network: Network, root: Identity, tmp_path: Path) -> None:
    start = time.monotonic()
    with tls_server(tmp_path, root.issue(HOST), respond=GOOD_PAGE) as port:
        (result,) = scan(target(f"https://{HOST}:{port}/"), [ScanType.SECURITY], network, Budget(20))
    categories = {"transport", "headers"}
    verdicts = {
        check.id: check.status
        for category in result.categories
        if category.id in categories
        for check in category.checks
    }
    assert [id for id, status in verdicts.items() if status != "pass"] == []
    assert len(verdicts) == 20  # The redirect check does not apply to an unusual port.
    assert time.monotonic() - start < 10


def test_scan_without_tls_caps_the_score(network: Network) -> None:
    with serve(http_answer(b"<!doctype html><input type=password>")) as port:
        (result,) = scan(target(f"http://{LOOPBACK}:{port}/"), [ScanType.SECURITY], network, Budget(20))
    verdicts = {check.id: (check.status, str(check.severity)) for check in result.checks}
    assert verdicts["https-available"] == ("fail", "critical")
    assert verdicts["insecure-form"] == ("fail", "critical")
    assert verdicts["http-to-https-redirect"] == ("fail", "high")
    assert not [id for id in verdicts if id.startswith(("tls-", "hsts", "mixed"))]
    assert result.score is not None
    assert result.score <= 49


def test_tls_1_0_only_site_fails(network: Network, root: Identity, tmp_path: Path) -> None:
    leaf = root.issue(HOST, rsa_bits=2048)
    old: dict[str, Any] = {"minimum": ssl.TLSVersion.TLSv1, "maximum": ssl.TLSVersion.TLSv1, "ciphers": OLD}
    with tls_server(tmp_path, leaf, respond=GOOD_PAGE, **old) as port:
        (result,) = scan(target(f"https://{HOST}:{port}/"), [ScanType.SECURITY], network, Budget(20))
    verdicts = {check.id: check.status for check in result.checks}
    assert verdicts["https-available"] == "pass"
    assert verdicts["tls-cert-trusted"] == "pass"
    assert verdicts["tls-legacy-protocols"] == "fail"
    assert verdicts["tls-modern-protocols"] == "fail"


def receive_silently(connection: socket.socket) -> None:
    while connection.recv(65536):
        pass


def test_silent_port_gets_one_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    """An HTTP server may not answer a TLS hello.

    The hello looks like the beginning of a request.
    """
    monkeypatch.setattr(tls_probe, "OPTIONAL_TLS_TIMEOUT_S", 0.3)
    with Site(converse=receive_silently) as site, loopback_network() as network:
        address = target(f"{site.url}/")
        page = Page(address, address, (Response(url=address.url, status=200, headers=Headers()),))
        peer = tls_peer(page, network)
        assert (peer.handshake, peer.has_timed_out) == (None, True)
        assert tls_support(peer, network).versions == {}
        assert site.connections == 1
