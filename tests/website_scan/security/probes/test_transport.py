"""Security probes on real servers on loopback, and a whole security scan of one."""

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
from website_scan.security.evidence import PlainHttp, TlsPeer
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


# Certificates, end to end: server → probe → check


@pytest.mark.parametrize(
    ("leaf", "failing"),
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
def test_each_fault_of_a_certificate_fails_its_own_check_alone(
    network: Network,
    root: Identity,
    tmp_path: Path,
    leaf: Callable[[Identity], Identity],
    failing: set[str],
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
    assert {name for name, finding in findings.items() if verdict(finding) == "fail"} == failing


# Versions and cipher suites


def support_of(network: Network, port: int) -> tuple[set[TlsVersion], set[Weakness | None]]:
    page = load(network, f"https://{HOST}:{port}/")
    support = tls_support(tls_peer(page, network), network)
    return set(support.versions), {weakness(name) for name in support.weak_ciphers}


def test_a_modern_server(network: Network, root: Identity, tmp_path: Path) -> None:
    with tls_server(tmp_path, root.issue(HOST), respond=GOOD_PAGE) as port:
        assert support_of(network, port) == ({TlsVersion.TLS1_2, TlsVersion.TLS1_3}, set())


def test_a_server_with_tls_1_2_only(network: Network, root: Identity, tmp_path: Path) -> None:
    with tls_server(tmp_path, root.issue(HOST), maximum=ssl.TLSVersion.TLSv1_2, respond=GOOD_PAGE) as port:
        assert support_of(network, port) == ({TlsVersion.TLS1_2}, set())


def test_a_server_that_still_takes_everything(network: Network, root: Identity, tmp_path: Path) -> None:
    leaf = root.issue(HOST, rsa_bits=2048)
    ciphers = "ALL:COMPLEMENTOFALL:@SECLEVEL=0"
    with tls_server(tmp_path, leaf, minimum=ssl.TLSVersion.TLSv1, ciphers=ciphers, respond=GOOD_PAGE) as port:
        versions, weak = support_of(network, port)
    assert versions == {TlsVersion.TLS1_0, TlsVersion.TLS1_1, TlsVersion.TLS1_2, TlsVersion.TLS1_3}
    assert weak >= {Weakness.NULL, Weakness.ANONYMOUS}


class OldServer:
    """A fake server with just enough TLS to answer hellos. It accepts these versions and suites, and counts hellos."""

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
        taken = [code for code in offered if code in self.suites]
        known = [each for each in self.versions if each <= version]
        if known and taken and max(known) == version:
            connection.sendall(server_hello(version, taken[0]))
        else:
            connection.sendall(alert(70 if not known else 40))


@pytest.mark.parametrize("code", [0x000A, 0x0005, 0x0009, 0x0003, 0x0002, 0x0034])
def test_one_weak_suite_is_found_whatever_its_kind(network: Network, code: int) -> None:
    server = OldServer({TlsVersion.TLS1_2}, {0xC02F, code})
    with serve(server) as port:
        support = tls_support(TlsPeer(LOOPBACK, port, None), network)
    assert [weakness(name) for name in support.weak_ciphers] == [weakness(NAMES[code])]
    assert set(support.versions) == {TlsVersion.TLS1_2}


def test_all_kinds_of_weakness_are_found_with_few_connections(network: Network) -> None:
    server = OldServer({TlsVersion.SSL3_0, TlsVersion.TLS1_0, TlsVersion.TLS1_2}, set(WEAK))
    with serve(server) as port:
        support = tls_support(TlsPeer(LOOPBACK, port, None), network)
    assert {weakness(name) for name in support.weak_ciphers} == set(Weakness)
    assert set(support.versions) == {TlsVersion.SSL3_0, TlsVersion.TLS1_0, TlsVersion.TLS1_2}
    assert server.hellos.total() <= 13


def test_ssl_3_is_found_though_no_library_speaks_it(network: Network) -> None:
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


def test_without_tls_the_port_is_asked_once(network: Network) -> None:
    connections = 0
    lock = threading.Lock()

    def counting(connection: socket.socket) -> None:
        nonlocal connections
        with lock:
            connections += 1
        connection.recv(65536)
        connection.sendall(http_message(b"<p>Plain"))

    with serve(counting) as port:
        page = load(network, f"http://{LOOPBACK}:{port}/")
        before = connections
        peer = tls_peer(page, network)
        support = tls_support(peer, network)
        asked = connections - before
    assert peer.handshake is None
    assert support.versions == {}
    assert asked <= 2
    assert verdict(checks.https_available(page.target, peer, support)) == "fail"


def test_a_server_that_takes_no_offer_tells_nothing(network: Network, root: Identity, tmp_path: Path) -> None:
    with tls_server(tmp_path, root.issue(HOST), respond=GOOD_PAGE) as port:
        peer = tls_peer(load(network, f"https://{HOST}:{port}/"), network)
    with serve(lambda connection: connection.sendall(alert(80))) as limited, pytest.raises(TlsFailed):
        tls_support(TlsPeer(HOST, limited, peer.handshake), network)


def test_an_https_page_whose_handshake_now_fails_could_not_be_looked_at(
    network: Network, root: Identity, tmp_path: Path
) -> None:
    with tls_server(tmp_path, root.issue(HOST), respond=GOOD_PAGE) as port:
        page = load(network, f"https://{HOST}:{port}/")
    with pytest.raises(NotReachable):
        tls_peer(page, network)


def test_a_page_over_port_80_has_its_twin_on_443() -> None:
    asked: list[tuple[str, int]] = []

    class Closed:
        policy = POLICY

        def connect(self, host: str, port: int, *, timeout_s: float | None = None) -> socket.socket:
            asked.append((host, port))
            raise NotReachable("closed")

    for url in ("http://site.example.com/", "http://site.example.com:8080/"):
        address = target(url)
        page = Page(address, address, (Response(url, 200, Headers()),))
        tls_peer(page, cast(Network, Closed()))
    assert asked == [("site.example.com", 443), ("site.example.com", 8080)]


# Plain HTTP of an https page


class Scripted:
    """A network with prepared responses by URL. A response that is an error is raised."""

    def __init__(self, **answers: object) -> None:
        self.answers: dict[str, Response | NetError] = {}
        self.asked: list[str] = []

    def fetch(self, request: Request) -> Response:
        address = request.target.url
        self.asked.append(address)
        answer = self.answers[address]
        if isinstance(answer, NetError):
            raise answer
        return answer

    def follow(self, request: Request) -> tuple[Response, ...]:
        return (self.fetch(request),)


def plain(url: str, answers: dict[str, tuple[int, str] | NetError]) -> tuple[PlainHttp, list[str]]:
    network = Scripted()
    for address, answer in answers.items():
        network.answers[address] = (
            answer
            if isinstance(answer, NetError)
            else Response(address, answer[0], Headers((("Location", answer[1]),) if answer[1] else ()))
        )
    page = Page(target(url), target(url), (Response(url, 200, Headers()),))
    return plain_http(page, cast(Network, network)), network.asked


SITE = "https://site.example.com/a?b"
TWIN = "http://site.example.com/a?b"


def test_the_twin_of_an_https_page_is_asked_with_its_path() -> None:
    seen, asked = plain(SITE, {TWIN: (301, SITE), SITE: (200, "")})
    assert asked == [TWIN, SITE]
    assert [hop.url for hop in seen.hops] == [TWIN, SITE]


def test_a_closed_port_is_no_answer() -> None:
    seen, _ = plain(SITE, {TWIN: NotReachable("refused")})
    assert (seen.url, seen.hops, seen.error) == (TWIN, (), "refused")


@pytest.mark.parametrize(
    ("location", "next_url"),
    [
        ("https://site.example.com/x", "https://site.example.com/x"),
        ("/x", "http://site.example.com/x"),
        ("https://", "https://"),
        ("http://127.0.0.2.internal/", "http://127.0.0.2.internal/"),
    ],
)
def test_a_redirect_to_nowhere_keeps_where_it_leads(location: str, next_url: str) -> None:
    answers: dict[str, tuple[int, str] | NetError] = {TWIN: (301, location)}
    seen, _ = plain(SITE, answers | {next_url: NotReachable("refused")})
    assert len(seen.hops) == 1
    assert seen.error
    assert seen.next_url == next_url


def test_what_concerns_the_scanner_alone_says_nothing_of_the_site() -> None:
    with pytest.raises(Blocked):
        plain(SITE, {TWIN: Blocked("not public")})


def test_an_https_page_on_another_port_has_no_known_twin() -> None:
    seen, asked = plain("https://site.example.com:8443/", {})
    assert seen.url is None
    assert asked == []


def test_an_http_page_is_its_own_answer() -> None:
    seen, asked = plain(TWIN, {})
    assert [hop.url for hop in seen.hops] == [TWIN]
    assert asked == []


def test_the_https_twin_of_an_http_page_is_asked_for_its_headers(
    network: Network, root: Identity, tmp_path: Path
) -> None:
    with tls_server(tmp_path, root.issue(HOST), respond=GOOD_PAGE) as port:
        peer = tls_peer(load(network, f"https://{HOST}:{port}/"), network)
        url = f"http://{HOST}:{port}/x"
        page = Page(target(url), target(url), (Response(url, 200, Headers()),))
        answer = https_answer(page, peer, network)
    assert answer.response is not None
    assert "Strict-Transport-Security" in answer.response.headers
    assert https_answer(page, TlsPeer(HOST, port, None), network).response is None


# Cross-origin requests


def echo(connection: socket.socket) -> None:
    request = connection.recv(65536).decode("latin-1")
    origin = next((line[8:] for line in request.split("\r\n") if line.lower().startswith("origin: ")), "-")
    allow = f"Access-Control-Allow-Origin: {origin}\r\nAccess-Control-Allow-Credentials: true\r\n"
    connection.sendall(http_message(b"<p>", headers=allow))


def test_a_random_origin_is_sent_then_null(network: Network) -> None:
    with serve(echo) as port:
        seen = cors(load(network, f"http://{LOOPBACK}:{port}/"), network)
        again = cors(load(network, f"http://{LOOPBACK}:{port}/"), network)
    assert [answer.allow_origin for answer in seen.answers] == [(seen.answers[0].origin,), ("null",)]
    assert {answer.allow_credentials for answer in seen.answers} == {("true",)}
    assert seen.answers[0].origin != again.answers[0].origin


def test_a_site_that_has_enough_of_requests_is_left_alone(network: Network) -> None:
    with serve(http_answer(b"<p>")) as port:
        page = load(network, f"http://{LOOPBACK}:{port}/")
    with serve(http_answer(b"", status=429)) as limited:
        moved = Page(page.requested, target(f"http://{LOOPBACK}:{limited}/"), page.hops)
        with pytest.raises(SiteProtected):
            cors(moved, network)


# All together


def test_a_whole_security_scan_of_a_good_site(network: Network, root: Identity, tmp_path: Path) -> None:
    start = time.monotonic()
    with tls_server(tmp_path, root.issue(HOST), respond=GOOD_PAGE) as port:
        (result,) = scan(target(f"https://{HOST}:{port}/"), [ScanType.SECURITY], network, Budget(20))
    ours = {"transport", "headers"}
    verdicts = {
        check.id: check.status for category in result.categories if category.id in ours for check in category.checks
    }
    assert [id for id, status in verdicts.items() if status != "pass"] == []
    assert len(verdicts) == 20  # all but the redirect check, which does not apply to an unusual port
    assert time.monotonic() - start < 10


def test_a_site_without_tls(network: Network) -> None:
    with serve(http_answer(b"<!doctype html><input type=password>")) as port:
        (result,) = scan(target(f"http://{LOOPBACK}:{port}/"), [ScanType.SECURITY], network, Budget(20))
    verdicts = {check.id: (check.status, str(check.severity)) for check in result.checks}
    assert verdicts["https-available"] == ("fail", "critical")
    assert verdicts["insecure-form"] == ("fail", "critical")
    assert verdicts["http-to-https-redirect"] == ("fail", "high")
    assert not [id for id in verdicts if id.startswith(("tls-", "hsts", "mixed"))]
    assert result.score is not None
    assert result.score <= 49


def test_a_site_that_never_left_tls_1_0(network: Network, root: Identity, tmp_path: Path) -> None:
    leaf = root.issue(HOST, rsa_bits=2048)
    old: dict[str, Any] = {"minimum": ssl.TLSVersion.TLSv1, "maximum": ssl.TLSVersion.TLSv1, "ciphers": OLD}
    with tls_server(tmp_path, leaf, respond=GOOD_PAGE, **old) as port:
        (result,) = scan(target(f"https://{HOST}:{port}/"), [ScanType.SECURITY], network, Budget(20))
    verdicts = {check.id: check.status for check in result.checks}
    assert verdicts["https-available"] == "pass"
    assert verdicts["tls-cert-trusted"] == "pass"
    assert verdicts["tls-legacy-protocols"] == "fail"
    assert verdicts["tls-modern-protocols"] == "fail"


def swallow(connection: socket.socket) -> None:
    while connection.recv(65536):
        pass


def test_a_port_that_is_silent_to_tls_is_asked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A web server that takes a hello for the beginning of a slow request sends nothing."""
    monkeypatch.setattr(tls_probe, "TWIN_TIMEOUT_S", 0.3)
    with Site(converse=swallow) as site, loopback_network() as network:
        address = target(f"{site.url}/")
        page = Page(address, address, (Response(url=address.url, status=200, headers=Headers()),))
        peer = tls_peer(page, network)
        assert (peer.handshake, peer.has_timed_out) == (None, True)
        assert tls_support(peer, network).versions == {}
        assert site.connections == 1
