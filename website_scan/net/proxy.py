"""HTTP proxy on loopback, the browser's only network access, with the network's address check, pins and deadline.

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
from dataclasses import dataclass

from website_scan.net.budget import MIB, Limits, Meter
from website_scan.net.client import Network
from website_scan.net.deadline import Deadline, GuardedSocket
from website_scan.net.errors import BadResponse, Blocked, BudgetExceeded, NetError
from website_scan.net.targets import InvalidUrl, Target, parse_target

HOST = "127.0.0.1"
# Chromium opens at most 32 connections to a proxy, plus some for WebSockets.
MAX_CONNECTIONS = 128
MAX_REFUSALS = 100
HEAD_BYTES = 64 * 1024
HEAD_S = 10.0
CLIENT_S = 30.0  # for the browser to read the response
READ_BYTES = 64 * 1024
CLOSE_S = 5.0

# Requests inside a tunnel can't be counted, so the limits on requests apply to connections; bytes count in both cases.
BROWSER_LIMITS = Limits(requests=600, requests_per_host=400, total_bytes=60 * MIB)
SENT_BYTES = 5 * MIB

_TOKEN = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_AUTHORITY = re.compile(r"[^\s/?#@\\]{1,260}:[0-9]{1,5}")
_PLAIN_URI = re.compile(r"http://([^\s/?#@\\]{1,260})(/[!-~]*)")
_END_OF_HEAD = re.compile(rb"\r?\n\r?\n")
_STATUS = re.compile(rb"HTTP/1\.[01] +([1-9][0-9]{2})(?![0-9])")
# Hop-by-hop headers (RFC 9110, section 7.6.1), and headers that browsers send to proxies only.
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


@dataclass(frozen=True, slots=True)
class Refused:
    """Host to which the browser was not connected. `code` is the error's code."""

    host: str
    code: str


@dataclass(frozen=True, slots=True)
class _Request:
    method: bytes
    target: str
    headers: list[tuple[bytes, bytes]]  # names in lower case
    rest: bytes  # data after the head

    def header(self, name: bytes) -> bytes | None:
        return next((value for header_name, value in self.headers if header_name == name), None)


class BrowserProxy:
    """Proxy for one scan's browser context. Thread-safe; use it as a context manager.

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
        sent_bytes: int = SENT_BYTES,
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
        self._strangers: dict[socket.socket, None] = {}  # clients that have not sent the password yet, oldest first
        self._is_closed = False
        self._listener = socket.create_server((HOST, 0), backlog=MAX_CONNECTIONS)
        self._acceptor = threading.Thread(target=self._accept, name="browser-proxy", daemon=True)
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
        """Return the number of connections requested so far, including those refused by address or budget."""
        return self._meter.requests

    @property
    def received_bytes(self) -> int:
        """Return the bytes that sites have sent so far, TLS included."""
        return self._meter.received_bytes

    @property
    def refused(self) -> tuple[Refused, ...]:
        """Return the first hosts to which the browser was not connected."""
        with self._lock:
            return tuple(self._refused)

    def count_in_tunnel(self, host: str, port: int) -> None:
        """Count a request inside a tunnel in the budget shared with other scans. Raises BudgetExceeded."""
        self._network.count_in_tunnel(host, port)

    def close(self) -> None:
        """End every connection and stop listening."""
        with self._lock:
            if self._is_closed:
                return
            self._is_closed = True
            clients = dict(self._clients)
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)  # wakes the acceptor; close() alone would not
        for client in clients:
            with contextlib.suppress(OSError):
                client.shutdown(socket.SHUT_RDWR)
        patience = Deadline(CLOSE_S)
        for thread in (self._acceptor, *clients.values()):
            thread.join(patience.remaining_s())
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            thread = threading.Thread(target=self._serve, args=(client,), name="browser-proxy", daemon=True)
            with self._lock:
                if len(self._clients) >= MAX_CONNECTIONS and self._strangers:
                    # A silent client must not block the browser, so the oldest one is disconnected.
                    oldest = next(iter(self._strangers))
                    del self._strangers[oldest], self._clients[oldest]
                    with contextlib.suppress(OSError):
                        oldest.shutdown(socket.SHUT_RDWR)
                is_accepted = not self._is_closed and len(self._clients) < MAX_CONNECTIONS
                if is_accepted:
                    self._clients[client] = thread
                    self._strangers[client] = None
                    thread.start()
            if not is_accepted:
                client.close()

    def _serve(self, client: socket.socket) -> None:
        try:
            # An error ends only one of the page's requests, and the browser reports it.
            with contextlib.suppress(OSError, NetError):
                self._answer(client)
        finally:
            with self._lock:
                self._clients.pop(client, None)
                self._strangers.pop(client, None)
            client.close()

    def _answer(self, client: socket.socket) -> None:
        request = _read_request(client)
        if request is None:
            client.sendall(_status(b"400 Bad Request"))
            return
        if not hmac.compare_digest(request.header(b"proxy-authorization") or b"", self._authorization):
            client.sendall(_status(b"407 Proxy Authentication Required", b'Proxy-Authenticate: Basic realm="scan"'))
            return
        with self._lock:
            if self._strangers.pop(client, client) is client:
                return  # the client was disconnected in favour of another client
        client.settimeout(CLIENT_S)
        is_tunnel = request.method == b"CONNECT"
        upstream = self._open(request.target, is_tunnel)
        if upstream is None:
            # A plain request gets no response, because the page would take it for the site's own.
            if is_tunnel:
                client.sendall(_status(b"403 Forbidden"))
            return
        with upstream.connection:
            if is_tunnel:
                client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
                self._upload(upstream.connection, request.rest)
                self._relay(client, upstream.connection, lambda data: data)
            else:
                self._upload(upstream.connection, _plain_head(request, upstream) + request.rest)
                self._relay(client, upstream.connection, _ResponseHead(self._limits.header_bytes).feed)

    def _open(self, address: str, is_tunnel: bool) -> _Upstream | None:
        """Open a connection to the host that the browser requests; None if it is forbidden or fails."""
        match = _AUTHORITY.fullmatch(address) if is_tunnel else _PLAIN_URI.fullmatch(address)
        if match is None:
            self._note("", InvalidUrl.code)
            return None
        host, path = (address, "/") if is_tunnel else (match[1], match[2])
        try:
            # Parse the host and port only: the browser has made the path canonical, and paths are not restricted.
            target = parse_target(f"{'https' if is_tunnel else 'http'}://{host}/", self._network.policy)
            own = self._only_port_of
            if own is not None and own.host == target.host and own.port != target.port:
                raise Blocked("The scan has cookies for another port of this host.")
            return _Upstream(target, path, self._network.tunnel(target, self._meter))
        except (NetError, InvalidUrl) as error:
            self._note(host, error.code)
            return None

    def _note(self, host: str, code: str) -> None:
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
        """Relay bytes both ways until one side closes, the time is up or a budget is exhausted."""
        with selectors.DefaultSelector() as selector:
            selector.register(client, selectors.EVENT_READ)
            selector.register(upstream, selectors.EVENT_READ)
            while ready := selector.select(upstream.guard.timeout_s()):
                for key, _ in ready:
                    if key.fileobj is upstream:
                        data = upstream.recv(READ_BYTES)
                        client.sendall(received(data))
                    else:
                        data = client.recv(READ_BYTES)
                        self._upload(upstream, data)
                    if not data:
                        return


@dataclass(frozen=True, slots=True)
class _Upstream:
    target: Target
    path: str
    connection: GuardedSocket


class _ResponseHead:
    """Filter that forwards a response and rewrites its head, so that the browser uses the connection only once."""

    def __init__(self, limit_bytes: int) -> None:
        self._limit_bytes = limit_bytes
        self._buffer = b""
        self._is_done = False

    def feed(self, data: bytes) -> bytes:
        """Return the bytes to forward. Raises BadResponse for a status 407, or if they are not an HTTP/1 response."""
        if self._is_done:
            return data
        self._buffer += data
        ready = b""
        while not self._is_done and (end := _END_OF_HEAD.search(self._buffer)):
            head, self._buffer = self._buffer[: end.start()], self._buffer[end.end() :]
            status = _STATUS.match(head)
            # A 407 would make the browser discard the proxy's password.
            if status is None or int(status[1]) == _PROXY_AUTH_REQUIRED:
                raise BadResponse("What came back is not an answer that can be passed on.")
            self._is_done = not 100 <= int(status[1]) < 200
            ready += _without_hop_by_hop(head) + (b"Connection: close\r\n\r\n" if self._is_done else b"\r\n")
        if self._is_done:
            ready, self._buffer = ready + self._buffer, b""
        elif len(self._buffer) > self._limit_bytes:
            raise BadResponse("The response's headers are too large.")
        return ready


def _read_request(client: socket.socket) -> _Request | None:
    """Return the browser's request after reading its head; None if it is not HTTP. Raises TimedOut, OSError."""
    patience = Deadline(HEAD_S)
    received = b""
    while (end := received.find(b"\r\n\r\n")) < 0:
        client.settimeout(patience.check())
        data = client.recv(READ_BYTES)
        received += data
        if not data or len(received) > HEAD_BYTES:
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
    return _Request(parts[0], parts[1].decode(), headers, received[end + 4 :])


def _plain_head(request: _Request, upstream: _Upstream) -> bytes:
    """Return the head of the request for the origin server."""
    named_by_connection = {token.strip().lower() for token in (request.header(b"connection") or b"").split(b",")}
    dropped = _HOP_BY_HOP | named_by_connection | {b"host"}
    lines = [b"%s %s HTTP/1.1" % (request.method, upstream.path.encode())]
    lines.append(b"Host: " + upstream.target.origin.partition("://")[2].encode())
    lines += [b"%s: %s" % (name, value) for name, value in request.headers if name not in dropped]
    return b"\r\n".join([*lines, b"Connection: close", b"", b""])


def _without_hop_by_hop(head: bytes) -> bytes:
    lines: list[bytes] = []
    is_dropped = False
    for line in head.split(b"\n"):
        line = line.removesuffix(b"\r")
        if not line.startswith((b" ", b"\t")):  # a folded line continues the line before
            is_dropped = line.partition(b":")[0].strip().lower() in _HOP_BY_HOP
        if not is_dropped:
            lines.append(line)
    return b"\r\n".join([*lines, b""])


def _status(status: bytes, *headers: bytes) -> bytes:
    """Return a response of the proxy itself, after which the connection ends."""
    return b"\r\n".join([b"HTTP/1.1 " + status, *headers, b"Content-Length: 0", b"Connection: close", b"", b""])
