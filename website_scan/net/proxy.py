"""HTTP proxy that is the browser's only network access.

It listens on loopback, checks addresses and enforces the scan's limits.

Chromium sends all traffic through the proxy, WebSockets included: `CONNECT` for encrypted connections, whole requests
for plain ones. Each connection is used for one request, so that no response can be attributed to another host.
"""

from __future__ import annotations

import contextlib
import hmac
import re
import secrets
import selectors
import socket
import threading
from base64 import b64encode
from collections.abc import Callable

from msgspec import Struct
from msgspec.structs import replace

from website_scan.net.budget import MIB, Limits, Meter
from website_scan.net.client import Network
from website_scan.net.deadline import Deadline, GuardedSocket
from website_scan.net.errors import BadResponse, Blocked, BudgetExceeded, NetError
from website_scan.net.http.request import Request
from website_scan.net.http.response import Response
from website_scan.net.targets import InvalidUrl, Target, parse_target

HOST = "127.0.0.1"
# Chromium opens at most 32 connections to a proxy, plus some for WebSockets.
MAX_CONNECTIONS = 128
MAX_REFUSALS = 100
MAX_HEAD_BYTES = 64 * 1024
HEAD_TIMEOUT_S = 10.0
CLIENT_TIMEOUT_S = 30.0  # Time limit for the browser to read data.
READ_CHUNK_BYTES = 64 * 1024
CLOSE_TIMEOUT_S = 5.0

# The proxy cannot count requests inside a tunnel, so it limits connections.
BROWSER_LIMITS = Limits(requests=600, requests_per_host=400, total_bytes=60 * MIB)
MAX_SENT_BYTES = 5 * MIB

_TOKEN = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_AUTHORITY = re.compile(r"[^\s/?#@\\]{1,260}:[0-9]{1,5}")
_HTTP_URI = re.compile(r"http://([^\s/?#@\\]{1,260})(/[!-~]*)")
_END_OF_HEAD = re.compile(rb"\r?\n\r?\n")
_STATUS = re.compile(rb"HTTP/1\.[01] +([1-9][0-9]{2})(?![0-9])")
# Hop-by-hop headers (RFC 9110, section 7.6.1), and headers for proxies only.
_HOP_BY_HOP = frozenset(
    {
        b"connection",
        b"keep-alive",
        b"proxy-connection",
        b"proxy-authorization",
        b"proxy-authenticate",
        b"te",
        b"upgrade",
    }
)
_PROXY_AUTH_REQUIRED = 407


class Refused(Struct, frozen=True):
    """Host that the proxy refused, with the error's code."""

    host: str
    code: str


class _ProxyRequest(Struct, frozen=True):
    method: bytes
    target: str
    headers: list[tuple[bytes, bytes]]  # Header names are in lower case.
    rest: bytes  # Received data after the head of the request.

    def header(self, name: bytes) -> bytes | None:
        return next((value for header_name, value in self.headers if header_name == name), None)


class BrowserProxy:
    """Proxy for the browser context of one scan.

    Thread-safe. Use the proxy as a context manager.

    The browser gets `url`, `username` and `password`; the password excludes other programs on the machine. If
    `only_port_of` is set, the proxy refuses other ports of that target's host. Browsers send a host's cookies to all
    its ports, and these cookies may be credentials that a user entered for this port only.
    """

    username = "scan"

    def __init__(
        self,
        network: Network,
        *,
        limits: Limits = BROWSER_LIMITS,
        sent_bytes: int = MAX_SENT_BYTES,
        only_port_of: Target | None = None,
    ) -> None:
        self._network = network
        self._only_port_of = only_port_of
        self._limits = limits
        self._meter = Meter(limits)
        self._unsent = sent_bytes
        self.password = secrets.token_urlsafe(32)
        self._authorization = b"Basic " + b64encode(f"{self.username}:{self.password}".encode())
        self._refused: list[Refused] = []
        self._lock = threading.Lock()
        self._clients: dict[socket.socket, threading.Thread] = {}
        # Clients that have not sent the password yet, oldest first.
        self._unauthenticated_clients: dict[socket.socket, None] = {}
        self._is_closed = False
        self._listener = socket.create_server((HOST, 0), backlog=MAX_CONNECTIONS)
        self._acceptor = threading.Thread(target=self._accept_clients, name="browser-proxy", daemon=True)
        self._acceptor.start()

    def __enter__(self) -> BrowserProxy:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def url(self) -> str:
        """Return the proxy's address, such as `http://127.0.0.1:41234`."""
        return f"http://{HOST}:{self._listener.getsockname()[1]}"

    @property
    def connections(self) -> int:
        """Return the number of connections that the browser requested.

        Refused connections count, too.
        """
        return self._meter.requests

    @property
    def received_bytes(self) -> int:
        """Return the bytes that sites have sent so far, including TLS overhead."""
        return self._meter.received_bytes

    @property
    def refused(self) -> tuple[Refused, ...]:
        """Return the first hosts to which the proxy refused a connection."""
        with self._lock:
            return tuple(self._refused)

    def count_in_tunnel(self, host: str, port: int) -> None:
        """Count a request inside a proxy tunnel against the scans' shared budget.

        Raises BudgetExceeded.
        """
        self._network.count_in_tunnel(host, port)

    def fetch(self, request: Request) -> Response:
        """Send a request of the scanner itself through the browser's network, within the browser's limits.

        Redirects are not followed. Raises a NetError, or InvalidUrl.
        """
        target = request.url if isinstance(request.url, Target) else parse_target(request.url, self._network.policy)
        self._require_own_port(target)
        self._meter.request(target.host)
        return self._network.fetch(replace(request, url=target))

    def close(self) -> None:
        """End all connections and stop listening."""
        with self._lock:
            if self._is_closed:
                return
            self._is_closed = True
            clients = dict(self._clients)
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)  # Unlike close(), shutdown() wakes the accepting thread.
        for client in clients:
            with contextlib.suppress(OSError):
                client.shutdown(socket.SHUT_RDWR)
        patience = Deadline(CLOSE_TIMEOUT_S)
        for thread in (self._acceptor, *clients.values()):
            thread.join(patience.remaining_s())
        self._listener.close()

    def _accept_clients(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            thread = threading.Thread(target=self._serve_client, args=(client,), name="browser-proxy", daemon=True)
            with self._lock:
                if len(self._clients) >= MAX_CONNECTIONS and self._unauthenticated_clients:
                    # The oldest client without a password is disconnected, so that it can't block the browser.
                    oldest = next(iter(self._unauthenticated_clients))
                    del self._unauthenticated_clients[oldest], self._clients[oldest]
                    with contextlib.suppress(OSError):
                        oldest.shutdown(socket.SHUT_RDWR)
                is_accepted = not self._is_closed and len(self._clients) < MAX_CONNECTIONS
                if is_accepted:
                    self._clients[client] = thread
                    self._unauthenticated_clients[client] = None
                    thread.start()
            if not is_accepted:
                client.close()

    def _serve_client(self, client: socket.socket) -> None:
        try:
            # Errors are ignored, because the browser reports the failed request.
            with contextlib.suppress(OSError, NetError):
                self._handle_request(client)
        finally:
            with self._lock:
                self._clients.pop(client, None)
                self._unauthenticated_clients.pop(client, None)
            client.close()

    def _handle_request(self, client: socket.socket) -> None:
        request = _read_request(client)
        if request is None:
            client.sendall(_status_response(b"400 Bad Request"))
            return
        if not hmac.compare_digest(request.header(b"proxy-authorization") or b"", self._authorization):
            client.sendall(
                _status_response(b"407 Proxy Authentication Required", b'Proxy-Authenticate: Basic realm="scan"')
            )
            return
        with self._lock:
            if self._unauthenticated_clients.pop(client, client) is client:
                return  # The client was disconnected in favour of another client.
        client.settimeout(CLIENT_TIMEOUT_S)
        is_tunnel = request.method == b"CONNECT"
        upstream = self._open_upstream(request.target, is_tunnel)
        if upstream is None:
            # The page would mistake an error for the site's response.
            if is_tunnel:
                client.sendall(_status_response(b"403 Forbidden"))
            return
        with upstream.connection:
            if is_tunnel:
                client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
                self._upload(upstream.connection, request.rest)
                self._relay(client, upstream.connection, lambda data: data)
            else:
                self._upload(upstream.connection, _origin_request_head(request, upstream) + request.rest)
                self._relay(client, upstream.connection, _ResponseHeadFilter(self._limits.header_bytes).feed)

    def _open_upstream(self, address: str, is_tunnel: bool) -> _Upstream | None:
        """Open a connection to the host that the browser requests.

        None if the connection is refused or fails.
        """
        match = _AUTHORITY.fullmatch(address) if is_tunnel else _HTTP_URI.fullmatch(address)
        if match is None:
            self._record_refusal("", InvalidUrl.code)
            return None
        host, path = (address, "/") if is_tunnel else (match[1], match[2])
        try:
            # Only host and port are parsed, because paths are not restricted.
            target = parse_target(f"{'https' if is_tunnel else 'http'}://{host}/", self._network.policy)
            self._require_own_port(target)
            return _Upstream(target, path, self._network.tunnel(target, self._meter))
        except (NetError, InvalidUrl) as error:
            self._record_refusal(host, error.code)
            return None

    def _require_own_port(self, target: Target) -> None:
        """Raise Blocked if the target is another port of the only host and port with cookies."""
        own = self._only_port_of
        if own is not None and own.host == target.host and own.port != target.port:
            raise Blocked("The scan has cookies for another port of this host.")

    def _record_refusal(self, host: str, code: str) -> None:
        with self._lock:
            if len(self._refused) < MAX_REFUSALS:
                self._refused.append(Refused(host, code))

    def _upload(self, upstream: GuardedSocket, data: bytes) -> None:
        with self._lock:
            self._unsent -= len(data)
            if self._unsent < 0:
                raise BudgetExceeded("The page sends too much.")
        upstream.sendall(data)

    def _relay(self, client: socket.socket, upstream: GuardedSocket, received: Callable[[bytes], bytes]) -> None:
        """Relay bytes in both directions.

        This ends when one side closes, the time is up or a budget is exceeded.
        """
        with selectors.DefaultSelector() as selector:
            selector.register(client, selectors.EVENT_READ)
            selector.register(upstream, selectors.EVENT_READ)
            while ready := selector.select(upstream.guard.timeout_s()):
                for key, _ in ready:
                    if key.fileobj is upstream:
                        data = upstream.recv(READ_CHUNK_BYTES)
                        client.sendall(received(data))
                    else:
                        data = client.recv(READ_CHUNK_BYTES)
                        self._upload(upstream, data)
                    if not data:
                        return


class _Upstream(Struct, frozen=True):
    target: Target
    path: str
    connection: GuardedSocket


class _ResponseHeadFilter:
    """Filter that rewrites the head of a response.

    The browser then uses the connection only once.
    """

    def __init__(self, limit_bytes: int) -> None:
        self._limit_bytes = limit_bytes
        self._buffer = b""
        self._is_done = False

    def feed(self, data: bytes) -> bytes:
        """Return the bytes to forward to the browser.

        Raises BadResponse for status 407 or invalid HTTP/1.
        """
        if self._is_done:
            return data
        self._buffer += data
        ready = b""
        while not self._is_done and (end := _END_OF_HEAD.search(self._buffer)):
            head, self._buffer = self._buffer[: end.start()], self._buffer[end.end() :]
            status = _STATUS.match(head)
            # Status 407 from a site would make the browser discard the proxy's password.
            if status is None or int(status[1]) == _PROXY_AUTH_REQUIRED:
                raise BadResponse("The response cannot be forwarded.")
            self._is_done = not 100 <= int(status[1]) < 200
            ready += _remove_hop_by_hop_headers(head) + (b"Connection: close\r\n\r\n" if self._is_done else b"\r\n")
        if self._is_done:
            ready, self._buffer = ready + self._buffer, b""
        elif len(self._buffer) > self._limit_bytes:
            raise BadResponse("The response's headers are too large.")
        return ready


def _read_request(client: socket.socket) -> _ProxyRequest | None:
    """Read the head of the browser's request.

    None if it is not HTTP. Raises TimedOut, OSError.
    """
    patience = Deadline(HEAD_TIMEOUT_S)
    received = b""
    while (end := received.find(b"\r\n\r\n")) < 0:
        client.settimeout(patience.check())
        data = client.recv(READ_CHUNK_BYTES)
        received += data
        if not data or len(received) > MAX_HEAD_BYTES:
            return None
    line, *lines = received[:end].split(b"\r\n")
    parts = line.split(b" ")
    if len(parts) != 3 or not _TOKEN.fullmatch(parts[0]) or parts[2] not in (b"HTTP/1.1", b"HTTP/1.0"):
        return None
    if not parts[1].isascii():
        return None
    headers = []
    for header in lines:
        name, colon, value = header.partition(b":")
        if not colon or not _TOKEN.fullmatch(name):
            return None
        headers.append((name.lower(), value.strip()))
    return _ProxyRequest(parts[0], parts[1].decode(), headers, received[end + 4 :])


def _origin_request_head(request: _ProxyRequest, upstream: _Upstream) -> bytes:
    """Build the head of the plain HTTP request to the site."""
    connection_options = {token.strip().lower() for token in (request.header(b"connection") or b"").split(b",")}
    dropped = _HOP_BY_HOP | connection_options | {b"host"}
    lines = [b"%s %s HTTP/1.1" % (request.method, upstream.path.encode())]
    lines.append(b"Host: " + upstream.target.origin.partition("://")[2].encode())
    lines += [b"%s: %s" % (name, value) for name, value in request.headers if name not in dropped]
    return b"\r\n".join([*lines, b"Connection: close", b"", b""])


def _remove_hop_by_hop_headers(head: bytes) -> bytes:
    lines: list[bytes] = []
    is_hop_by_hop = False
    for line in head.split(b"\n"):
        line = line.removesuffix(b"\r")
        if not line.startswith((b" ", b"\t")):  # A line that begins with white space continues the previous line.
            is_hop_by_hop = line.partition(b":")[0].strip().lower() in _HOP_BY_HOP
        if not is_hop_by_hop:
            lines.append(line)
    return b"\r\n".join([*lines, b""])


def _status_response(status: bytes, *headers: bytes) -> bytes:
    """Return a response of the proxy itself, without a body."""
    return b"\r\n".join([b"HTTP/1.1 " + status, *headers, b"Content-Length: 0", b"Connection: close", b"", b""])
