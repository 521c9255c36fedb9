"""Tests for opening, reusing and closing HTTP connections."""

from __future__ import annotations

import contextlib
import socket
import ssl
import threading
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.targets.server import Answer, Certificate, Site
from tests.targets.server import Request as ReceivedRequest
from tests.website_scan.net.loopback import NETWORKS, loopback_network
from tests.website_scan.net.seams import PUBLIC, Names, Wires
from tests.website_scan.net.tls_servers import Identity, tls_server
from website_scan.net.client import Network
from website_scan.net.errors import BadResponse, Blocked, NetError, NotReachable, TimedOut, Untrusted
from website_scan.net.http.connections import Trust, tls_context
from website_scan.net.http.request import Request
from website_scan.net.policy import Policy
from website_scan.net.targets import InvalidUrl, parse_target

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


def test_POST_request_uses_a_new_connection() -> None:
    def hang_up_after_POST(request: ReceivedRequest) -> Answer | None:
        return Answer("ok") if request.method == "GET" else None

    with Site({"/": hang_up_after_POST}) as site, loopback_network() as network:
        network.fetch(site.url)
        with pytest.raises(NotReachable, match="without an answer"):
            network.fetch(Request(site.url, method="POST", body=b"pay"))
        assert [request.method for request in site.requests] == ["GET", "POST"]
        assert site.connections == 2


def test_concurrent_connections_are_reused(
    caplog: pytest.LogCaptureFixture,
) -> None:
    # Several probes of a scan request URLs of the same host concurrently.
    concurrent_requests = 24
    together = threading.Barrier(concurrent_requests)

    def answer(request: ReceivedRequest) -> Answer:
        together.wait(30)
        return Answer("ok")

    with Site({"*": answer}) as site, loopback_network() as network, ThreadPoolExecutor(concurrent_requests) as pool:
        for _ in range(2):
            list(pool.map(lambda _: network.fetch(site.url), range(concurrent_requests)))
        assert site.connections == concurrent_requests
    assert "pool is full" not in caplog.text


def test_request_on_a_stale_connection_is_retried() -> None:
    ready = threading.Barrier(2)

    def answer(request: ReceivedRequest) -> Answer | None:
        if request.path == "/warm-up":
            ready.wait(5)  # The barrier makes both threads open a connection, so that the pool has two.
            return Answer("ok")
        return None if request.connection_number <= 2 else Answer("ok")

    with Site({"*": answer}) as site, loopback_network() as network:
        other = threading.Thread(target=network.fetch, args=(site.url + "/warm-up",))
        other.start()
        network.fetch(site.url + "/warm-up")
        other.join(5)
        assert site.connections == 2
        assert network.fetch(site.url + "/").body == b"ok"
        assert site.paths().count("/") == 2
        assert site.connections == 3


def test_Connection_close_prevents_reuse() -> None:
    with Site({"/": Answer("x", headers={"Connection": "close"})}) as site, loopback_network() as network:
        for _ in range(3):
            network.fetch(site.url)
        assert site.connections == 3


def test_verified_request_ignores_unverified_connections() -> None:
    site = Site({"/": Answer("x")}, certificate=Certificate.SELF_SIGNED)
    with site, loopback_network(site.ca_file) as network:
        assert network.fetch(Request(site.url, verify=False)).tls is not None
        with pytest.raises(Untrusted):
            network.fetch(Request(site.url, verify=True))


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_TLS_session_is_resumed_for_the_same_server(version: ssl.TLSVersion) -> None:
    contexts: list[ssl.SSLContext] = []

    def tune(context: ssl.SSLContext) -> None:
        context.maximum_version = version
        contexts.append(context)

    def close_connection(_: ReceivedRequest) -> Answer:
        return Answer("x", headers={"Connection": "close"})

    site = Site({"*": close_connection}, certificate=Certificate.VALID, tune=tune)
    with site, loopback_network(site.ca_file) as network:
        for _ in range(2):
            assert network.fetch(site.url_as("localhost")).tls is not None
        assert contexts[0].session_stats()["hits"] == 1
        network.fetch(site.url)
        network.fetch(Request(site.url_as("localhost"), verify=False))
        with loopback_network(site.ca_file) as another:
            another.fetch(site.url_as("localhost"))
        assert contexts[0].session_stats()["hits"] == 1


def test_networks_share_TLS_contexts() -> None:
    assert tls_context(None, Trust.STRICT) is tls_context(None, Trust.STRICT)
    assert tls_context(None, Trust.STRICT) is not tls_context(None, Trust.NONE)
    assert tls_context(None, Trust.NONE).verify_mode is ssl.CERT_NONE
    for trust in (Trust.STRICT, Trust.LENIENT):
        assert tls_context(None, trust).verify_mode is ssl.CERT_REQUIRED
        assert tls_context(None, trust).check_hostname
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        assert tls_context(None, Trust.STRICT).minimum_version >= ssl.TLSVersion.TLSv1_2


def test_common_name_is_not_a_host_name(tmp_path: Path) -> None:
    root = Identity.root()
    roots = tmp_path / "roots.pem"
    roots.write_bytes(root.pem)
    leaf = root.issue("localhost", alternative_names=False)
    with tls_server(tmp_path, leaf, respond=OK) as port, loopback_network(roots) as network:
        url = f"https://localhost:{port}/"
        with pytest.raises(Untrusted):
            network.fetch(url)
        response = network.fetch(Request(url, verify=False))
        assert response.tls is not None
        assert response.tls.trust_error


def test_SNI_contains_a_host_name_but_no_IP_address() -> None:
    sni_names: list[str | None] = []

    def note(context: ssl.SSLContext) -> None:
        context.sni_callback = lambda _socket, name, _context: sni_names.append(name)

    site = Site({"/": Answer("x")}, certificate=Certificate.VALID, tune=note)
    with site, loopback_network(site.ca_file) as network:
        network.fetch(site.url_as("localhost"))
        network.fetch(site.url)
    assert sni_names == ["localhost", None]


def test_netrc_and_proxy_settings_are_ignored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("default login somebody password secret\n")
    netrc.chmod(0o600)
    monkeypatch.setenv("NETRC", str(netrc))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(netrc))
    with Site({"/": Answer("proxied")}) as proxy, Site({"*": Answer("x")}) as site:
        for scheme in ("http", "https", "all"):
            monkeypatch.setenv(f"{scheme}_proxy", proxy.url)
            monkeypatch.setenv(f"{scheme.upper()}_PROXY", proxy.url)
        monkeypatch.setenv("no_proxy", "")
        with loopback_network() as network:
            assert network.fetch(site.url).body == b"x"
            assert network.follow(site.url)[-1].body == b"x"
        assert proxy.connections == 0
        assert all(request.header("Authorization") is None for request in site.requests)


def test_fetches_do_not_share_cookies() -> None:
    routes = {"/": Answer("x", headers={"Set-Cookie": "a=1"}), "/go": Answer.redirect("/", Set_Cookie="b=2")}
    with Site(routes) as site, loopback_network() as network:
        network.fetch(site.url)
        network.fetch(site.url)
        network.follow(site.url + "/go")
        network.follow(site.url)
        cookies = [request.header("Cookie") for request in site.requests]
    assert cookies == [None, None, None, "b=2", None]


# Tests of closing connections.


@pytest.mark.parametrize("certificate", [None, Certificate.VALID])
@pytest.mark.parametrize(
    "begin",
    [
        b"",
        b"HTTP/1.1 200 OK\r\nX: y",
        b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\nsome",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nsome\r\n",
        b"HTTP/1.1 200 OK\r\n\r\nsome",
    ],
    ids=["before the answer", "in the headers", "in the body", "in the chunks", "in an endless body"],
)
def test_close_ends_waiting_requests_with_TimedOut(begin: bytes, certificate: Certificate | None) -> None:
    sent = threading.Event()

    def stall(request: ReceivedRequest) -> None:
        request.connection.sendall(begin)
        sent.set()
        site.ended.wait(30)

    with Site({"/": stall}, certificate=certificate) as site:
        network = Network(Policy(allowed_networks=NETWORKS, ca_bundle=site.ca_file))
        with run_in_thread(lambda: network.fetch(site.url)) as (thread, raised):
            assert sent.wait(10)
            network.close()
            thread.join(5)
            assert not thread.is_alive()
        assert [type(error) for error in raised] == [TimedOut]


def test_late_connection_is_not_used_after_close() -> None:
    dialing, closed = threading.Event(), threading.Event()

    def slow_dialer(address: str, port: int, timeout_s: float) -> socket.socket:
        dialing.set()
        assert closed.wait(5)
        return socket.create_connection((site.address, site.port), timeout_s)

    with Site({"/": Answer("x")}) as site:
        network = Network(Policy(allowed_networks=NETWORKS), dialer=slow_dialer)
        with run_in_thread(lambda: network.fetch(site.url)) as (thread, raised):
            assert dialing.wait(5)
            network.close()
            closed.set()
            thread.join(5)
        assert [type(error) for error in raised] == [TimedOut]
        assert site.requests == []


def test_closed_network_leaves_no_threads() -> None:
    before = set(threading.enumerate())
    with Site({"/": Answer("x")}) as site, loopback_network() as network:
        network.fetch(site.url)
        network.fetch(site.url_as("localhost"))
    assert set(threading.enumerate()) <= before


@contextlib.contextmanager
def run_in_thread(action: Callable[[], object]) -> Iterator[tuple[threading.Thread, list[BaseException]]]:
    raised: list[BaseException] = []

    def run() -> None:
        try:
            action()
        except NetError as error:
            raised.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield thread, raised
    finally:
        thread.join(10)


# Tests that the sent request is the request that was checked.


PIECES = st.sampled_from(
    [
        "a", "example.com", "www.", "127.0.0.1", "@", ":", "80", ":8080", "/", "//", "\\", "?", "#", "%2f",
        "%00", "..", ";", "[", "]", "|", "^", "`", "{", "'", '"', " ", "+", "ü", "☃", "。", "_", "-",
    ]
)  # fmt: skip


@pytest.fixture(scope="module")
def echo() -> Iterator[Site]:
    """Site that responds with the request's Host header and path."""
    with Site({"*": lambda request: Answer(f"{request.header('Host')} {request.path}")}) as site:
        yield site


@settings(max_examples=150, deadline=None)
@given(st.lists(PIECES, max_size=8).map("".join))
def test_request_reaches_the_checked_host(echo: Site, text: str) -> None:
    for url in (f"http://{text}", f"http://example.com/{text}"):
        try:
            target = parse_target(url, Policy())
        except (InvalidUrl, Blocked):
            continue
        wires = Wires({PUBLIC: echo})
        with Network(Policy(), resolver=Names({target.host: (PUBLIC,)}), dialer=wires) as network:
            sent = network.fetch(url).body.decode("latin-1")
        assert wires.dialed == [(PUBLIC, target.port)]
        assert sent == f"{target.origin.partition('//')[2]} {target.path}"


# Tests with arbitrary responses.


SCRAPS = st.sampled_from(
    [
        b"HTTP/1.1 200 OK\r\n", b"HTTP/1.0 200\n", b"HTTP/1.1 100 Continue\r\n\r\n", b"HTTP/9 999 \xff\r\n", b"\r\n",
        b"Content-Length: 5\r\n", b"Content-Length: -1\r\n", b"Content-Length: " + b"9" * 5000 + b"\r\n",
        b"Transfer-Encoding: chunked\r\n", b"Content-Encoding: gzip\r\n", b"Content-Encoding: br\r\n",
        b"Content-Encoding: zstd\r\n", b"Content-Encoding: deflate\r\n", b"Connection: close\r\n", b": x\r\n", b"x\r\n",
        b"Set-Cookie\r\n", b" folded\r\n", b"\r\n\r\n", b"5\r\nhello\r\n0\r\n\r\n", b"-5\r\n", b"ffffffffffffffff\r\n",
        b"0x5\r\n", b"hello", b"\0", b"\x1f\x8b\x08", b"\x28\xb5\x2f\xfd", b"\xff" * 50,
    ]
)  # fmt: skip


@pytest.fixture(scope="module")
def scrambler() -> Iterator[Site]:
    """Site that sends the body of a request back as the raw response."""

    def answer(request: ReceivedRequest) -> None:
        request.connection.sendall(request.body)

    with Site({"*": answer}) as site:
        yield site


@settings(max_examples=300, deadline=None)
@given(answer=st.lists(st.one_of(SCRAPS, st.binary(max_size=20)), max_size=10).map(b"".join))
def test_arbitrary_raw_response_is_handled(scrambler: Site, answer: bytes) -> None:
    for prefix in (b"", b"HTTP/1.1 200 OK\r\n"):
        with loopback_network() as network:
            try:
                response = network.fetch(Request(scrambler.url, method="POST", body=prefix + answer, timeout_s=5))
            except (BadResponse, NotReachable):
                continue
            assert len(response.body) <= network.limits.decoded_bytes
            assert response.header_bytes <= len(prefix + answer)
