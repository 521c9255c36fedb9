"""Test the proxy with requests that no browser would send."""

from __future__ import annotations

import contextlib
import socket
import ssl
import threading
import time
from base64 import b64encode
from collections.abc import Iterator
from ipaddress import ip_network
from typing import Any

import pytest

from tests.targets.server import Answer, Certificate, Request, Site
from tests.website_scan.net.seams import PUBLIC, Names, Wires
from website_scan.net.budget import Limits
from website_scan.net.client import Network
from website_scan.net.errors import Blocked, BudgetExceeded
from website_scan.net.http.request import Request as HttpRequest
from website_scan.net.policy import Policy
from website_scan.net.proxy import HEAD_TIMEOUT_S, MAX_CONNECTIONS, BrowserProxy, Refused
from website_scan.net.targets import parse_target

POLICY = Policy(allowed_networks=(ip_network("127.0.0.1/32"),))


@contextlib.contextmanager
def proxied(**options: Any) -> Iterator[BrowserProxy]:
    with Network(POLICY) as network, BrowserProxy(network, **options) as proxy:
        yield proxy


@pytest.fixture
def proxy() -> Iterator[BrowserProxy]:
    with proxied() as made:
        yield made


def authorization(proxy: BrowserProxy, password: str | None = None) -> str:
    return "Basic " + b64encode(f"scan:{password or proxy.password}".encode()).decode()


def ask(proxy: BrowserProxy, line: str, *headers: str, body: bytes = b"", known: bool = True) -> socket.socket:
    """Send a request to the proxy and return the connection."""
    connection = connect(proxy)
    lines = [line, *headers]
    if known:
        lines.append(f"Proxy-Authorization: {authorization(proxy)}")
    connection.sendall("\r\n".join([*lines, "", ""]).encode("latin-1") + body)
    return connection


def connect(proxy: BrowserProxy) -> socket.socket:
    host, _, port = proxy.url.removeprefix("http://").partition(":")
    return socket.create_connection((host, int(port)), 5)


def answer(connection: socket.socket) -> bytes:
    """Read the response until the proxy closes the connection."""
    received = b""
    with connection:
        while data := connection.recv(65536):
            received += data
    return received


def tunnel(proxy: BrowserProxy, authority: str) -> socket.socket:
    connection = ask(proxy, f"CONNECT {authority} HTTP/1.1", f"Host: {authority}")
    established = b""
    while not established.endswith(b"\r\n\r\n"):
        data = connection.recv(1)
        assert data, established
        established += data
    assert established.startswith(b"HTTP/1.1 200 ")
    return connection


def test_tunnel_relays_TLS_end_to_end(proxy: BrowserProxy) -> None:
    with Site({"/": Answer("Hello")}, certificate=Certificate.VALID) as site:
        context = ssl.create_default_context(cafile=site.ca_file)
        with context.wrap_socket(tunnel(proxy, f"127.0.0.1:{site.port}"), server_hostname="127.0.0.1") as secure:
            secure.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            assert b"".join(iter(lambda: secure.recv(65536), b"")).endswith(b"Hello")
    assert proxy.connections == 1
    assert proxy.received_bytes > 1000


def test_host_with_cookies_has_one_reachable_port() -> None:
    with Site({"*": Answer("Hello")}) as site, Site({"*": Answer("Hello")}) as port:
        with proxied(only_port_of=parse_target(f"{site.url}/", POLICY)) as proxy:
            assert answer(ask(proxy, f"GET {site.url}/ HTTP/1.1", "Host: x")).endswith(b"Hello")
            assert answer(ask(proxy, f"GET {port.url}/ HTTP/1.1", "Host: x")) == b""
            assert b" 403 " in answer(ask(proxy, f"CONNECT 127.0.0.1:{port.port} HTTP/1.1", "Host: x"))
            assert answer(ask(proxy, f"GET {port.url_as('localhost')}/ HTTP/1.1", "Host: x")).endswith(b"Hello")
        assert port.connections == 1


def test_request_of_the_scanner_is_sent_without_following_redirects(proxy: BrowserProxy) -> None:
    with Site({"/": Answer.redirect("/next")}) as site:
        response = proxy.fetch(HttpRequest(f"{site.url}/", headers={"Cookie": "id=1"}))
    assert (response.status, proxy.connections) == (302, 1)
    assert [(request.path, request.header("Cookie")) for request in site.requests] == [("/", "id=1")]


def test_request_of_the_scanner_obeys_the_rules_of_the_proxy() -> None:
    with Site({"/": Answer("Hello")}) as site, Site({"/": Answer("Hello")}) as other:
        with proxied(only_port_of=parse_target(f"{site.url}/", POLICY)) as proxy:
            with pytest.raises(Blocked):
                proxy.fetch(HttpRequest(f"{other.url}/"))
            with pytest.raises(Blocked):
                proxy.fetch(HttpRequest("http://10.0.0.1/"))
        with proxied(limits=Limits(requests=1)) as proxy:
            proxy.fetch(HttpRequest(f"{site.url}/"))
            with pytest.raises(BudgetExceeded):
                proxy.fetch(HttpRequest(f"{site.url}/"))
    assert (len(site.requests), len(other.requests)) == (1, 0)


def test_request_does_not_show_its_headers() -> None:
    assert "abc123" not in repr(HttpRequest("https://site.example.com/", headers={"Cookie": "id=abc123"}))


def test_plain_request_is_forwarded(proxy: BrowserProxy) -> None:
    with Site({"*": Answer("Hello")}) as site:
        got = answer(
            ask(
                proxy,
                f"POST {site.url}/a%20b?q='x'&long={'y' * 4000} HTTP/1.1",
                "Host: elsewhere.example",
                "Content-Length: 5",
                "Proxy-Connection: keep-alive",
                "Connection: keep-alive, X-Own",
                "X-Own: dropped",
                "Cookie: a=b",
                body=b"12345",
            )
        )
    assert got.startswith(b"HTTP/1.1 200 OK\r\n")
    assert got.endswith(b"\r\nConnection: close\r\n\r\nHello")
    (request,) = site.requests
    assert (request.method, request.body) == ("POST", b"12345")
    assert request.path == f"/a%20b?q='x'&long={'y' * 4000}"
    assert {name.lower(): value for name, value in request.headers} == {
        "host": f"127.0.0.1:{site.port}",
        "content-length": "5",
        "cookie": "a=b",
        "connection": "close",
    }


def test_request_without_the_proxy_password_is_refused(proxy: BrowserProxy) -> None:
    with Site({"/": Answer("Hello")}) as site:
        for line in (f"CONNECT 127.0.0.1:{site.port} HTTP/1.1", f"GET {site.url}/ HTTP/1.1"):
            for headers in ([], [f"Proxy-Authorization: {authorization(proxy, 'guess')}"]):
                got = answer(ask(proxy, line, *headers, known=False))
                assert got.startswith(b"HTTP/1.1 407 ")
                assert b'Proxy-Authenticate: Basic realm="scan"\r\n' in got
        with proxied() as other:
            stolen = f"Proxy-Authorization: {authorization(other)}"
            assert answer(ask(proxy, line, stolen, known=False)).startswith(b"HTTP/1.1 407 ")
    assert site.connections == 0
    assert proxy.connections == 0


@pytest.mark.parametrize(
    ("authority", "code"),
    [
        ("127.0.0.2:80", "DOMAIN_BLOCKED"),
        ("[::1]:443", "DOMAIN_BLOCKED"),
        ("[::ffff:127.0.0.2]:443", "DOMAIN_BLOCKED"),
        ("0x7f000002:443", "DOMAIN_BLOCKED"),
        ("169.254.169.254:80", "DOMAIN_BLOCKED"),
        ("metadata.google.internal:80", "DOMAIN_BLOCKED"),
        ("example.com@127.0.0.1:80", "INVALID_URL"),
        ("127.0.0.1:80/", "INVALID_URL"),
        ("127.0.0.1:80#", "INVALID_URL"),
        ("127.0.0.1", "INVALID_URL"),
        ("127.0.0.1:", "INVALID_URL"),
        ("127.0.0.1:0", "INVALID_URL"),
        ("127.0.0.1:99999", "INVALID_URL"),
        (f"{'a' * 70}.example.com:443", "INVALID_URL"),
    ],
)
def test_tunnel_to_a_forbidden_host_is_refused(proxy: BrowserProxy, authority: str, code: str) -> None:
    assert answer(ask(proxy, f"CONNECT {authority} HTTP/1.1")).startswith(b"HTTP/1.1 403 ")
    (refused,) = proxy.refused
    assert refused.code == code


def test_forbidden_plain_request_gets_no_response(proxy: BrowserProxy) -> None:
    """The page would mistake a response of the proxy for the site's response."""
    with Site({"/": Answer("Hello")}, address="127.0.0.2") as canary:
        assert answer(ask(proxy, f"GET {canary.url}/ HTTP/1.1")) == b""
    assert canary.connections == 0
    assert proxy.refused == (Refused(f"127.0.0.2:{canary.port}", "DOMAIN_BLOCKED"),)


@pytest.mark.parametrize(
    "uri", ["/", "*", "https://127.0.0.1/", "ftp://127.0.0.1/", "http://a b/", "http:///x", "http://u:p@127.0.0.1/"]
)
def test_invalid_plain_request_gets_no_response(proxy: BrowserProxy, uri: str) -> None:
    assert answer(ask(proxy, f"GET {uri} HTTP/1.1")) in (
        b"",
        b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
    )


@pytest.mark.parametrize(
    "raw",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
        b"GET\r\n\r\n",
        b"GET / HTTP/2.0\r\n\r\n",
        b"CONNECT a:1 HTTP/1.1\r\nno colon\r\n\r\n",
        b"CONNECT a:1 HTTP/1.1\r\nbad name : x\r\n\r\n",
        "CONNECT ü:1 HTTP/1.1\r\n\r\n".encode(),
        b"CONNECT a:1 HTTP/1.1\r\nX: " + b"y" * 100_000 + b"\r\n\r\n",
    ],
)
def test_invalid_request_to_the_proxy_is_refused(proxy: BrowserProxy, raw: bytes) -> None:
    with connect(proxy) as connection:
        connection.sendall(raw)
        try:
            assert connection.recv(100).startswith(b"HTTP/1.1 400 ")
        except ConnectionResetError:
            assert len(raw) > 65536  # Unread bytes make the kernel reset the connection.
    assert proxy.connections == 0


def test_proxy_uses_the_pinned_address() -> None:
    """The client and the browser use the same resolved address of a name."""
    names = Names({"rebind.example.com": [(PUBLIC,), ("127.0.0.1",)]})
    with Site({"*": Answer("Hello")}) as site:
        wires = Wires({PUBLIC: site})
        with Network(Policy(), resolver=names, dialer=wires) as network, BrowserProxy(network) as proxy:
            network.addresses("rebind.example.com", 80)
            assert answer(ask(proxy, "GET http://rebind.example.com/ HTTP/1.1")).endswith(b"Hello")
            tunnel(proxy, "rebind.example.com:443").close()
    assert names.asked == ["rebind.example.com"]
    assert wires.dialed == [(PUBLIC, 80), (PUBLIC, 443)]


def test_forbidden_ports_are_refused_by_the_proxy() -> None:
    names = Names({"site.example.com": (PUBLIC,)})
    wires = Wires({})
    with Network(Policy(), resolver=names, dialer=wires) as network, BrowserProxy(network) as proxy:
        assert answer(ask(proxy, "CONNECT site.example.com:25 HTTP/1.1")).startswith(b"HTTP/1.1 403 ")
    assert (names.asked, wires.dialed) == ([], [])


def test_received_bytes_are_limited() -> None:
    with Site({"/": Answer(b"x" * 300_000)}) as site, proxied(limits=Limits(total_bytes=500_000)) as proxy:
        assert len(answer(ask(proxy, f"GET {site.url}/ HTTP/1.1"))) > 300_000
        assert len(answer(ask(proxy, f"GET {site.url}/ HTTP/1.1"))) < 300_000


def test_sent_bytes_are_limited() -> None:
    received = threading.Event()

    def post(request: Request) -> Answer:
        received.set()
        return Answer("Thanks")

    with Site({"/": post}) as site, proxied(sent_bytes=2_000) as proxy:
        assert answer(ask(proxy, f"POST {site.url}/ HTTP/1.1", "Content-Length: 900", body=b"x" * 900)).endswith(
            b"Thanks"
        )
        received.clear()
        assert answer(ask(proxy, f"POST {site.url}/ HTTP/1.1", "Content-Length: 1200", body=b"x" * 1200)) == b""
        assert not received.is_set()


def test_proxy_connections_are_limited() -> None:
    with Site({"/": Answer("Hello")}) as site, proxied(limits=Limits(requests=2)) as proxy:
        answers = [answer(ask(proxy, f"GET {site.url}/ HTTP/1.1")) for _ in range(3)]
    assert [answer.endswith(b"Hello") for answer in answers] == [True, True, False]
    assert proxy.refused == (Refused(f"127.0.0.1:{site.port}", "BUDGET_EXCEEDED"),)


def test_silent_connections_do_not_block_the_browser(proxy: BrowserProxy) -> None:
    with contextlib.ExitStack() as cleanup, Site({"/": Answer("Hello")}) as site:
        for _ in range(MAX_CONNECTIONS + 20):
            cleanup.enter_context(connect(proxy))
        began = time.monotonic()
        cleanup.enter_context(tunnel(proxy, f"127.0.0.1:{site.port}"))
        assert time.monotonic() - began < HEAD_TIMEOUT_S


@pytest.mark.parametrize(
    "sent",
    [
        b"HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nKeep-Alive: x\r\nX-Kept: 1\r\nContent-Length: 2\r\n\r\nok",
        b"HTTP/1.1 200 OK\nConnection: keep-alive\n folded: x\nX-Kept: 1\nContent-Length: 2\n\nok",
        b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nX-Kept: 1\r\nContent-Length: 2\r\n\r\nok",
    ],
)
def test_plain_response_gets_Connection_close(proxy: BrowserProxy, sent: bytes) -> None:
    def converse(connection: socket.socket) -> None:
        connection.recv(65536)
        for position in range(len(sent)):
            connection.sendall(sent[position : position + 1])

    with Site(converse=converse) as site:
        got = answer(ask(proxy, f"GET {site.url}/ HTTP/1.1"))
    head, _, body = got.rpartition(b"\r\n\r\n")
    assert body == b"ok"
    assert b"X-Kept: 1\r\n" in head
    assert head.endswith(b"\r\nConnection: close")
    assert b"keep-alive" not in head.lower()
    assert b"folded" not in head


@pytest.mark.parametrize(
    "sent",
    [
        b"HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm=x\r\n\r\n",
        b"HTTP/1.1 103 Early\r\n\r\nHTTP/1.1 407 Again\r\n\r\n",
        b"SSH-2.0-OpenSSH_9.2\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nX: " + b"y" * 200_000,
        b"HTTP/1.1 200 OK\r\n",
    ],
)
def test_invalid_response_is_not_forwarded(proxy: BrowserProxy, sent: bytes) -> None:
    """After a status 407, the browser would discard the proxy password and later requests would fail."""

    def converse(connection: socket.socket) -> None:
        connection.recv(65536)
        connection.sendall(sent)

    with Site(converse=converse) as site:
        got = answer(ask(proxy, f"GET {site.url}/ HTTP/1.1"))
    assert b"407" not in got
    assert b"200" not in got
    assert b"SSH" not in got


def test_close_ends_all_connections() -> None:
    before = set(threading.enumerate())

    def silent(connection: socket.socket) -> None:
        connection.recv(1)

    with contextlib.ExitStack() as cleanup, Network(POLICY) as network:
        site = cleanup.enter_context(Site(converse=silent))
        proxy = BrowserProxy(network)
        tunnels = [tunnel(proxy, f"127.0.0.1:{site.port}") for _ in range(3)]
        idle = connect(proxy)
        address = proxy.url.removeprefix("http://").split(":")
        proxy.close()
        proxy.close()
        for connection in (*tunnels, idle):
            with connection, contextlib.suppress(ConnectionResetError):
                assert connection.recv(1) == b""
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection((address[0], int(address[1])), 1)
    assert set(threading.enumerate()) <= before
