"""Tests for HTTP exchanges over real connections."""

from __future__ import annotations

import gzip
import ipaddress
import socket
import ssl
import threading
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.targets.server import Answer, Certificate, Route, Site
from tests.targets.server import Request as ReceivedRequest
from tests.website_scan.net.loopback import NETWORKS
from tests.website_scan.net.tls_servers import LOOPBACK, alert, serve
from website_scan.net.budget import Limits
from website_scan.net.client import DEFAULT_LIMITS, Network
from website_scan.net.errors import (
    BadResponse,
    BudgetExceeded,
    Http2Only,
    NotReachable,
    TimedOut,
    TlsFailed,
    Untrusted,
)
from website_scan.net.http.request import Request
from website_scan.net.policy import Policy

KIB = 1024
MIB = 1024 * KIB


def network(site: Site | None = None, *, limits: Limits = DEFAULT_LIMITS, time_limit_s: float = 60.0) -> Network:
    policy = Policy(allowed_networks=NETWORKS, ca_bundle=site.ca_file if site else None)
    return Network(policy, limits=limits, time_limit_s=time_limit_s)


def raw(*parts: bytes) -> Callable[[ReceivedRequest], None]:
    """Return a route that sends these bytes and closes the connection."""

    def answer(request: ReceivedRequest) -> None:
        for part in parts:
            request.connection.sendall(part)

    return answer


def test_response_has_the_details_of_the_exchange() -> None:
    page = b"<h1>Hello</h1>" * 100
    answer = Answer(
        gzip.compress(page),
        headers=[("Content-Encoding", "gzip"), ("Set-Cookie", "a=1"), ("X-B", "2"), ("set-cookie", "c=3")],
    )
    with Site({"/": answer}) as site, network() as net:
        response = net.fetch(site.url)
        assert response.url == site.url + "/"
        assert (response.status, response.reason, response.http_version) == (200, "OK", "1.1")
        assert response.body == page
        assert response.body_wire_bytes == len(answer.body)
        assert response.header_bytes == answer.encoded(head_only=True).index(b"\r\n\r\n") + 4
        assert [name for name, _ in response.headers][:4] == [
            "Content-Encoding", "Set-Cookie", "X-B", "set-cookie",
        ]  # fmt: skip
        assert response.address == "127.0.0.1"
        assert not response.truncated
        assert response.tls is None
        assert 0 < response.connect_s < response.total_s
        assert 0 < response.ttfb_s < response.total_s
        is_still_encoded = net.fetch(Request(site.url, decode=False))
        assert is_still_encoded.body == answer.body
        assert is_still_encoded.connect_s == 0.0


def test_request_ignores_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1/")
    with Site({"*": Answer("x", headers={"Set-Cookie": "kept=no"})}) as site, network() as net:
        net.fetch(site.url + "/one")
        net.fetch(Request(site.url + "/two%zz|%2e?a='b^&c=ü#fragment", headers={"user-agent": "Other", "X-A": "b"}))
        net.fetch(Request(site.url, method="POST", body=b'{"a": 1}', headers={"Content-Type": "application/json"}))
        net.fetch(Request(site.url, method="POST"))
    first, second, third, fourth = site.requests
    assert dict(first.headers) == {
        "Host": f"127.0.0.1:{site.port}",
        "User-Agent": Policy().user_agent,
        "Accept": "*/*",
        "Accept-Encoding": "gzip, deflate, br, zstd",
    }
    # The URL is sent as the WHATWG parser returns it. No second library normalizes the path.
    assert second.path == "/two%zz|%2e?a=%27b^&c=%C3%BC"
    assert [value for name, value in second.headers if name.lower() == "user-agent"] == ["Other"]
    assert second.header("Cookie") is None
    assert (third.method, third.body) == ("POST", b'{"a": 1}')
    assert third.header("Content-Type") == "application/json"
    assert fourth.header("Content-Length") == "0"


def test_stale_connection_is_replaced() -> None:
    def respond_once(request: ReceivedRequest) -> Answer | None:
        # The server closes the connection after its second request.
        requests_on_connection = [
            other for other in site.requests if other.connection_number == request.connection_number
        ]
        return Answer("fresh") if len(requests_on_connection) == 1 else None

    with Site({"/": Answer("kept"), "/once": respond_once}) as site, network() as net:
        for _ in range(5):
            assert net.fetch(site.url).body == b"kept"
        assert site.connections == 1
        assert net.fetch(Request(site.url + "/once", headers={"Connection": "keep-alive"})).body == b"fresh"
        assert net.fetch(site.url + "/once").body == b"fresh"


def test_unread_body_prevents_reuse() -> None:
    with Site({"/long": Answer(b"x" * MIB), "/": Answer("short")}) as site, network() as net:
        cut = net.fetch(Request(site.url + "/long", max_bytes=1000))
        assert (len(cut.body), cut.truncated, cut.body_wire_bytes) == (1000, True, 1000)
        assert net.fetch(site.url).body == b"short"
        assert site.connections == 2


def test_network_can_be_used_by_several_threads() -> None:
    with Site({"*": lambda request: Answer(request.path)}) as site, network() as net:
        with ThreadPoolExecutor(8) as pool:
            bodies = list(pool.map(lambda n: net.fetch(f"{site.url}/{n}").body.decode(), range(80)))
        assert bodies == [f"/{number}" for number in range(80)]
        assert net.requests == 80
        assert site.connections <= 8


def test_response_to_HEAD_has_no_body() -> None:
    with Site({"/": Answer("hello"), "/none": Answer(status=204)}) as site, network() as net:
        response = net.fetch(Request(site.url, method="HEAD"))
        assert (response.method, response.body, response.truncated) == ("HEAD", b"", False)
        assert response.headers.get("Content-Length") == "5"
        assert net.fetch(site.url + "/none").status == 204
        assert site.connections == 1


def test_IPv6_literal_can_be_fetched() -> None:
    with Site({"/": Answer("six")}, address="::1") as site, network() as net:
        response = net.fetch(site.url)
        assert (response.body, response.address) == (b"six", "::1")
        assert site.requests[0].header("Host") == f"[::1]:{site.port}"


# Tests of TLS.


def test_trusted_certificate_is_accepted() -> None:
    with Site({"/": Answer("safe")}, certificate=Certificate.VALID) as site, network(site) as net:
        for url in (site.url, site.url_as("localhost")):
            response = net.fetch(url)
            assert response.tls is not None
            assert response.tls.version == "TLSv1.3"
            assert response.tls.cipher.startswith("TLS_")
            assert response.tls.trust_error is None


@pytest.mark.parametrize(
    ("certificate", "reason"),
    [
        (Certificate.EXPIRED, "certificate has expired"),
        (Certificate.NOT_YET_VALID, "certificate is not yet valid"),
        (Certificate.WRONG_HOST, "mismatch"),
        (Certificate.SELF_SIGNED, "self-signed certificate"),
        (Certificate.INCOMPLETE, "unable to get local issuer certificate"),
    ],
)
def test_untrusted_certificate_is_refused_or_recorded(certificate: Certificate, reason: str) -> None:
    with Site({"/": Answer("unsafe")}, certificate=certificate) as site, network(site) as net:
        for _ in range(2):
            with pytest.raises(Untrusted, match=reason):
                net.fetch(site.url)
            response = net.fetch(Request(site.url, verify=False))
            assert response.body == b"unsafe"
            assert response.tls is not None
            assert reason in (response.tls.trust_error or "")
        assert len(site.requests) == 2


# HTTP/2 servers answer an HTTP/1.1 request with SETTINGS and GOAWAY (PROTOCOL_ERROR).
HTTP_2_FRAMES = bytes.fromhex("0000060400000000000003000000640000080700000000000000000000000001")


@pytest.mark.parametrize("certificate", [Certificate.VALID, None], ids=["TLS", "plain"])
def test_server_with_only_http_2_is_refused(certificate: Certificate | None) -> None:
    with (
        Site({"*": raw(HTTP_2_FRAMES)}, certificate=certificate) as site,
        network(site) as net,
        pytest.raises(Http2Only, match="The server speaks only HTTP/2"),
    ):
        net.fetch(site.url)


def test_server_without_http_1_raises_Http2Only() -> None:
    """RFC 7301, section 3.2: without a common protocol, the server sends the alert no_application_protocol (120)."""

    def refuse_protocols(connection: socket.socket) -> None:
        connection.recv(65536)
        connection.sendall(alert(120))

    with serve(refuse_protocols) as port, network() as net, pytest.raises(Http2Only):
        net.fetch(f"https://{LOOPBACK}:{port}/")


def test_unlisted_root_certificate_is_not_trusted() -> None:
    with (
        Site({"/": Answer()}, certificate=Certificate.VALID) as site,
        network() as net,
        pytest.raises(Untrusted),
    ):
        net.fetch(site.url)


def test_outdated_TLS_is_not_verified() -> None:
    def use_outdated_tls(context: ssl.SSLContext) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            context.set_ciphers("ALL:@SECLEVEL=0")
            context.minimum_version = ssl.TLSVersion.TLSv1
            context.maximum_version = ssl.TLSVersion.TLSv1_1

    with Site({"/": Answer()}, certificate=Certificate.VALID, tune=use_outdated_tls) as site, network(site) as net:
        with pytest.raises(TlsFailed) as raised:
            net.fetch(site.url)
        assert not isinstance(raised.value, Untrusted)
        response = net.fetch(Request(site.url, verify=False))
        assert response.tls is not None
        assert (response.tls.version, response.tls.trust_error) == ("TLSv1.1", None)


@pytest.mark.parametrize("greeting", [b"HTTP/1.1 400 Bad Request\r\n\r\n", b"SSH-2.0-x\r\n", b""])
def test_port_without_TLS_raises_TlsFailed(greeting: bytes) -> None:
    def converse(connection: socket.socket) -> None:
        connection.recv(65536)
        connection.sendall(greeting)

    with Site(converse=converse) as site, network() as net:
        for verify in (True, False):
            with pytest.raises(TlsFailed):
                net.fetch(Request(f"https://127.0.0.1:{site.port}/", verify=verify))


# Tests of time and size limits.


@pytest.fixture
def end_of_test() -> Iterator[threading.Event]:
    """Event that ends dripping responses at the end of a test."""
    event = threading.Event()
    yield event
    event.set()


def drip(first: bytes, drop: bytes, stopped: threading.Event) -> Callable[[ReceivedRequest], None]:
    """Return a route that sends bytes forever.

    The pauses are shorter than the socket's timeout.
    """

    def answer(request: ReceivedRequest) -> None:
        request.connection.sendall(first)
        while not stopped.wait(0.02):
            request.connection.sendall(drop)

    return answer


@pytest.mark.parametrize("certificate", [None, Certificate.VALID])
@pytest.mark.parametrize(
    "first",
    [
        b"H",
        b"HTTP/1.1 200 OK\r\nX: ",
        b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n\r\n",
    ],
    ids=["status line", "header", "body", "endless body"],
)
def test_dripping_response_ends_at_the_time_limit(
    first: bytes, certificate: Certificate | None, end_of_test: threading.Event
) -> None:
    with Site({"/": drip(first, b"1", end_of_test)}, certificate=certificate) as site, network(site) as net:
        with pytest.raises(TimedOut):
            net.fetch(Request(site.url, timeout_s=0.5))
        assert net.elapsed_s < 5


def test_dripping_chunk_size_ends_at_the_time_limit(end_of_test: threading.Event) -> None:
    first = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    with Site({"/": drip(first, b"0", end_of_test)}) as site, network() as net, pytest.raises(TimedOut):
        net.fetch(Request(site.url, timeout_s=0.5))


def test_dripping_handshake_ends_at_the_time_limit(end_of_test: threading.Event) -> None:
    def converse(connection: socket.socket) -> None:
        connection.recv(65536)
        connection.sendall(b"\x16\x03\x03\x40\x00")  # The server sends a TLS record of 16 KiB byte by byte.
        while not end_of_test.wait(0.02):
            connection.sendall(b"\x02")

    with Site(converse=converse) as site, network(limits=Limits(connect_s=0.5)) as net:
        with pytest.raises(TimedOut, match="TLS handshake"):
            net.fetch(f"https://127.0.0.1:{site.port}/")
        assert net.elapsed_s < 5


def test_silent_site_ends_at_the_first_byte_limit() -> None:
    with Site({"/": Answer(delay_s=60)}) as site, network(limits=Limits(first_byte_s=0.2)) as net:
        with pytest.raises(TimedOut):
            net.fetch(site.url)
        assert net.elapsed_s < 5


def test_network_time_limit_applies_to_every_exchange() -> None:
    with Site({"/": Answer(delay_s=60)}) as site, network(time_limit_s=0.3) as net:
        for _ in range(2):
            with pytest.raises(TimedOut):
                net.fetch(site.url)
        assert net.remaining_s == 0
        assert len(site.requests) == 1


def test_oversized_headers_raise_BadResponse() -> None:
    endless = Answer(headers=[(f"X-{number}", "y" * 1000) for number in range(200)])
    many = Answer("fine", headers=[(f"X-{number}", "y") for number in range(300)])
    long_line = raw(b"HTTP/1.1 200 OK\r\nX: ", b"y" * MIB)
    with Site({"/": endless, "/many": many, "/line": long_line}) as site, network() as net:
        for path in ("/", "/line"):
            with pytest.raises(BadResponse, match="headers are larger"):
                net.fetch(site.url + path)
        response = net.fetch(site.url + "/many")
        assert len(response.headers.all("X-299")) == 1
        assert response.body == b"fine"


def test_bodies_are_truncated_at_the_limit() -> None:
    limits = Limits(body_bytes=100 * KIB, decoded_bytes=200 * KIB)
    bomb = Answer(gzip.compress(b"\0" * (50 * MIB)), headers={"Content-Encoding": "gzip"})
    routes: dict[str, Route] = {
        "/plain": Answer(b"x" * MIB),
        "/bomb": bomb,
        "/endless": raw(b"HTTP/1.1 200 OK\r\n\r\n", b"x" * MIB),
    }
    with Site(routes) as site, network(limits=limits) as net:
        for path in ("/plain", "/endless"):
            response = net.fetch(site.url + path)
            assert (len(response.body), response.truncated) == (100 * KIB, True)
        response = net.fetch(site.url + "/bomb")
        assert (len(response.body), response.truncated) == (200 * KIB, True)
        assert len(net.fetch(Request(site.url + "/bomb", max_bytes=10)).body) == 10
        assert net.fetch(Request(site.url + "/plain", max_bytes=0)).body == b""


def test_body_of_a_redirect_is_truncated() -> None:
    page = Answer(b"x" * (20 * MIB), status=302, headers={"Location": "/"})
    with Site({"/": page}) as site, network(limits=Limits(body_bytes=10 * KIB)) as net:
        assert len(net.fetch(site.url).body) == 10 * KIB
        assert net.received_bytes < 5 * MIB


def test_requests_are_limited_in_total_and_by_host() -> None:
    with Site({"*": Answer("x")}) as site:
        with network(limits=Limits(requests=5, requests_per_host=3)) as net:
            for _ in range(3):
                net.fetch(site.url)
            with pytest.raises(BudgetExceeded, match=r"more than 3 requests to 127\.0\.0\.1"):
                net.fetch(site.url)
            for _ in range(2):
                net.fetch(site.url_as("localhost"))
            with pytest.raises(BudgetExceeded, match="more than 5 requests"):
                net.fetch(site.url_as("localhost"))
            assert net.requests == 5
        assert len(site.requests) == 5


def test_bytes_are_limited_over_the_whole_scan() -> None:
    limits = Limits(total_bytes=250 * KIB)
    with Site({"*": Answer(b"x" * 100 * KIB)}) as site, network(limits=limits) as net:
        net.fetch(site.url)
        net.fetch(site.url)
        assert 200 * KIB < net.received_bytes < 250 * KIB
        with pytest.raises(BudgetExceeded, match="sent more than"):
            net.fetch(site.url)


def test_TCP_bytes_count_toward_the_budget() -> None:
    with (
        Site(converse=lambda connection: connection.sendall(b"x" * MIB)) as site,
        network(limits=Limits(total_bytes=10 * KIB)) as net,
        net.connect(site.address, site.port) as connection,
    ):
        taken = 0
        with pytest.raises(BudgetExceeded):
            taken = sum(len(data) for data in iter(lambda: connection.recv(4096), b""))
        assert taken == 0
        assert 10 * KIB < net.received_bytes <= 14 * KIB


# Tests of responses that are not valid HTTP.


@pytest.mark.parametrize(
    "answer",
    [
        b"SSH-2.0-OpenSSH_9.2\r\n",
        b"<html>",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nhello",
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\nhello",
    ],
)
def test_invalid_HTTP_raises_BadResponse(answer: bytes) -> None:
    with Site({"/": raw(answer)}) as site, network() as net:
        with pytest.raises(BadResponse) as raised:
            net.fetch(site.url)
        for internal in ("urllib3", "requests", "Error(", "object at", "Traceback"):
            assert internal not in str(raised.value)


def test_closed_connection_raises_NotReachable() -> None:
    with Site({"/": raw()}) as site, network() as net:
        with pytest.raises(NotReachable, match="without an answer"):
            net.fetch(site.url)
        assert len(site.requests) == 1


def test_truncated_body_is_returned() -> None:
    routes = {
        "/length": raw(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhello"),
        "/chunks": raw(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n64\r\nhello"),
    }
    for certificate in (None, Certificate.VALID):
        with Site(routes, certificate=certificate) as site, network(site) as net:
            for path in routes:
                response = net.fetch(site.url + path)
                assert (response.body, response.truncated) == (b"hello", True)


def test_body_may_end_when_the_connection_closes() -> None:
    endless = raw(b"HTTP/1.0 200 OK\r\n\r\nhello")
    for certificate in (None, Certificate.VALID):
        with Site({"/": endless}, certificate=certificate) as site, network(site) as net:
            response = net.fetch(site.url)
            assert (response.body, response.truncated, response.http_version) == (b"hello", False, "1.0")


def test_early_response_to_a_large_upload_is_read() -> None:
    def refuse(connection: socket.socket) -> None:
        connection.recv(1000)
        connection.sendall(b"HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        while connection.recv(65536):
            pass

    with Site(converse=refuse) as site, network() as net:
        url = f"http://127.0.0.1:{site.port}/"
        assert net.fetch(Request(url, method="POST", body=b"x" * MIB)).status == 413


def test_response_to_an_unread_request_is_read() -> None:
    """Regression test: the client did not read the response.

    Sending to the closed connection failed.
    """

    def refuse(connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")

    with Site(converse=refuse) as site, network() as net:
        url = f"http://127.0.0.1:{site.port}/"
        assert net.fetch(Request(url, method="POST", body=b"x" * 8 * MIB)).status == 413


def test_loopback_is_refused_without_an_exemption() -> None:
    # Control test: the tests above exempt loopback.
    with (
        Site({"/": Answer()}) as site,
        Network(Policy(allowed_networks=(ipaddress.ip_network("::1/128"),))) as net,
    ):
        with pytest.raises(Exception, match="not publicly accessible"):
            net.fetch(site.url)
        assert site.connections == 0
