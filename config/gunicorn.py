"""gunicorn worker whose main loop reads requests and sends slow responses, so that threads never wait for a client.

Threads are a worker's scarcest resource. So the main loop, which waits for thousands of connections at once, reads
heads and bodies, with deadlines. A thread gets a parsed request with its body in memory. A client that sends nothing,
or a byte a second, occupies an entry in a list and no thread. The loop also responds to `/healthz`, because a process
is alive even if all of its threads wait for the database. The worker's own error responses are JSON.

After SIGTERM, a worker serves requests for another `DRAIN_S` seconds and responds to `/readyz` with "draining", so that
load balancers remove the worker before it refuses connections.
"""

from __future__ import annotations

import contextlib
import errno
import json
import selectors
import socket
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from gunicorn.http.errors import ParseException
from gunicorn.workers.gthread import TConn, ThreadWorker

from config.draining import DRAIN_S
from config.incoming import BodyTooLarge, IncomingRequest
from website_scan.ids import random_base62

# Seconds from the connection, or from the first byte on a persistent connection, to the end of the request's head.
HEAD_S = 10.0
# Seconds to wait until the client closes, because data that it still sends could reset the connection and discard the
# last response.
CLOSE_S = 2.0
# Seconds after which the connection of a client that still has not received a response is closed.
WRITE_S = 30.0
# Limit for all uploads of list entries together, while they are received.
MAX_ALL_UPLOAD_BYTES = 64 * 1024 * 1024
READ_BYTES = 64 * 1024
# Limit of unsent bytes of one response, beyond which the thread waits, and of all responses.
MAX_UNSENT_BYTES = 1024 * 1024
MAX_ALL_UNSENT_BYTES = 64 * 1024 * 1024

ALIVE = b'{"status": "ok"}'
DRAINING = b'{"status": "draining", "problems": {"draining": "This process is stopping."}}'
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"


class ParsedRequest:
    """Request that is parsed already, with the interface of the parser that gunicorn's threads expect."""

    def __init__(self, request: Any, rest: bytes) -> None:
        self._request = request
        self.rest = rest  # bytes after the request: the beginning of the next request

    def __next__(self) -> Any:
        return self._request

    def finish_body(self, **_: object) -> bool:
        return True


class ClientSocket(socket.socket):
    """Non-blocking socket with a buffer of unsent bytes, which the main loop sends."""

    def __init__(self, fileno: int) -> None:
        super().__init__(fileno=fileno)
        self.unsent = bytearray()
        self.is_dropped = False

    def setblocking(self, flag: bool) -> None:
        self.settimeout(0.0)

    def sendall(self, data: Any, flags: int = 0) -> None:
        """Buffer the bytes and send what the client accepts now. If too many bytes remain, wait until they are sent."""
        self.unsent += data
        self.send_unsent()
        if len(self.unsent) <= MAX_UNSENT_BYTES:
            return
        self.settimeout(WRITE_S)
        try:
            super().sendall(self.unsent)
        except TimeoutError:
            raise ConnectionResetError(errno.ECONNRESET, "the client takes no answer") from None
        finally:
            self.settimeout(0.0)
            self.unsent.clear()

    def send_unsent(self) -> None:
        """Send buffered bytes, as far as the client accepts them without waiting."""
        with contextlib.suppress(BlockingIOError):
            while self.unsent:
                del self.unsent[: self.send(self.unsent)]


class Worker(ThreadWorker):
    """Worker that reads requests in its main loop, and refuses invalid HTTP in JSON with `code` and `error`."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.cfg.set("sendfile", False)  # sendfile would wait for the client.
        # Connections with an incomplete request, with an incomplete response, and with a finished response, after which
        # the client should close. The longest waiting connections come first.
        self._incoming: dict[TConn, IncomingRequest] = {}
        self._outgoing: dict[TConn, float] = {}
        self._closing: dict[TConn, float] = {}
        self._drain_deadline: float | None = None

    def handle_exit(self, sig: int, frame: Any) -> None:
        """Handle SIGTERM: start draining if DRAIN_S is set. A second SIGTERM ends the draining.

        gunicorn's master kills workers after `graceful_timeout`. Draining takes at most half of that time; the
        rest is for running requests.
        """
        drain_s = min(DRAIN_S, self.cfg.graceful_timeout / 2)
        if self.alive and drain_s and self._drain_deadline is None:
            self._drain_deadline = time.monotonic() + drain_s
            self.cfg.set("keepalive", 0)  # The next request opens a new connection, which another process accepts.
        else:
            super().handle_exit(sig, frame)

    def accept(self, listener: socket.socket) -> None:
        """Accept a connection. If there are too many, drop the connection that has waited longest."""
        try:
            client, address = listener.accept()
        except OSError as error:
            if error.errno not in (errno.EAGAIN, errno.ECONNABORTED, errno.EWOULDBLOCK):
                raise
            return
        self.nr_conns += 1
        connection = TConn(self.cfg, ClientSocket(client.detach()), address, listener.getsockname())
        self._await_request(connection, HEAD_S)
        waiting = len(self._incoming) + len(self._outgoing) + len(self._closing)
        if waiting > self.worker_connections - self.cfg.threads - 1:
            self._drop(next(iter(self._closing or self._incoming or self._outgoing)))

    def finish_request(self, conn: TConn, fs: Any) -> None:
        """Send the rest of the response, then wait for the next request or for the client to close."""
        keeps_alive = not fs.cancelled() and fs.exception() is None and bool(fs.result())
        rest = conn.parser.rest
        self._send(conn, partial(self._await_request, conn, self.cfg.keepalive, rest) if keeps_alive else None)

    def murder_pending(self) -> None:
        """Drop connections past their deadlines and, when the worker stops, idle connections. Called every second."""
        now = time.monotonic()
        if self._drain_deadline is not None and self._drain_deadline <= now:
            self.alive = False
        late = [
            connection
            for connection, incoming in self._incoming.items()
            if incoming.deadline < now or not (self.alive or incoming.has_begun)
        ]
        ending = [*self._outgoing.items(), *self._closing.items()]
        for connection in [*late, *(connection for connection, deadline in ending if deadline < now)]:
            self._drop(connection)

    def _await_request(self, connection: TConn, timeout_s: float, data: bytes = b"") -> None:
        self._incoming[connection] = IncomingRequest(self.cfg, connection.client, time.monotonic() + timeout_s)
        self.poller.register(connection.sock, selectors.EVENT_READ, partial(self._read, connection))
        if data:
            self._feed(connection, data)

    def _read(self, connection: TConn, _: object) -> None:
        try:
            data = connection.sock.recv(READ_BYTES)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if data:
            self._feed(connection, data)
        else:
            self._drop(connection)

    def _feed(self, connection: TConn, data: bytes) -> None:
        incoming = self._incoming[connection]
        if not incoming.has_begun:
            incoming.deadline = time.monotonic() + HEAD_S
        try:
            is_complete = incoming.feed(data)
        except Exception as error:  # noqa: BLE001 -- any parser error ends this connection
            self.handle_error(None, connection.sock, connection.client, error)
            self._send(connection)
            return
        if is_complete:
            self._handle_request(connection, incoming.request, incoming.rest)
        elif incoming.expects_continue:
            incoming.expects_continue = False
            with contextlib.suppress(OSError):
                connection.sock.send(CONTINUE)
        if incoming.upload_bytes:
            self._limit_uploads()

    def _limit_uploads(self) -> None:
        """Drop the longest waiting uploads while all uploads together exceed their limit."""
        while sum(incoming.upload_bytes for incoming in self._incoming.values()) > MAX_ALL_UPLOAD_BYTES:
            self._drop(next(conn for conn, incoming in self._incoming.items() if incoming.upload_bytes))

    def _handle_request(self, connection: TConn, request: Any, rest: bytes) -> None:
        is_probe = request.method in ("GET", "HEAD")
        if is_probe and request.path == "/healthz":
            self._respond(connection, "200 OK", ALIVE, is_head=request.method == "HEAD")
        elif is_probe and request.path == "/readyz" and self._drain_deadline is not None:
            self._respond(connection, "503 Service Unavailable", DRAINING, is_head=request.method == "HEAD")
        else:
            self._stop_waiting(connection)
            connection.parser = ParsedRequest(request, rest)
            connection.data_ready = True
            self.enqueue_req(connection)

    def _respond(self, connection: TConn, status: str, body: bytes, *, is_head: bool = False) -> None:
        head = _head(status, body, random_base62())
        with contextlib.suppress(OSError):  # the client may have closed the connection
            connection.sock.sendall(head if is_head else head + body)
        self._send(connection)

    def _send(self, connection: TConn, then: Callable[[], None] | None = None) -> None:
        """Send the rest of the response, then call `then`, or close the connection if `then` is None."""
        try:
            connection.sock.send_unsent()
        except OSError:
            self._drop(connection)
            return
        if not connection.sock.unsent:
            self._stop_waiting(connection)
            (then or partial(self._close, connection))()
        elif connection not in self._outgoing:
            self._stop_waiting(connection)
            self._outgoing[connection] = time.monotonic() + WRITE_S
            self.poller.register(connection.sock, selectors.EVENT_WRITE, lambda _: self._send(connection, then))
            while sum(len(conn.sock.unsent) for conn in self._outgoing) > MAX_ALL_UNSENT_BYTES:
                self._drop(next(iter(self._outgoing)))

    def _close(self, connection: TConn) -> None:
        try:
            connection.sock.shutdown(socket.SHUT_WR)
            self.poller.register(connection.sock, selectors.EVENT_READ, partial(self._discard_input, connection))
        except (OSError, ValueError):
            self._drop(connection)
        else:
            self._closing[connection] = time.monotonic() + CLOSE_S

    def _discard_input(self, connection: TConn, _: object) -> None:
        try:
            if connection.sock.recv(READ_BYTES):
                return
        except BlockingIOError:
            return
        except OSError:
            pass
        self._drop(connection)

    def _stop_waiting(self, connection: TConn) -> None:
        self._incoming.pop(connection, None)
        self._outgoing.pop(connection, None)
        self._closing.pop(connection, None)
        with contextlib.suppress(KeyError, ValueError):
            self.poller.unregister(connection.sock)

    def _drop(self, connection: TConn) -> None:
        if connection.sock.is_dropped:
            return  # Another event of the same iteration has dropped the connection.
        connection.sock.is_dropped = True
        self._stop_waiting(connection)
        self.nr_conns -= 1
        connection.close()

    def handle_error(self, req: Any, client: socket.socket, addr: Any, exc: BaseException) -> None:
        """Send an error response for a request that could not be parsed, or that failed outside of Django."""
        request_id = random_base62()
        if isinstance(exc, BodyTooLarge):
            status, code = "413 Content Too Large", "PAYLOAD_TOO_LARGE"
            message = f"The body has more than {exc.max_bytes:,} bytes."
        elif isinstance(exc, ParseException):
            status, code = "400 Bad Request", "INVALID_PARAMS"
            message = "The request is not valid HTTP, or its first line or headers are too long."
        else:
            self.log.exception("request %s failed outside of Django", request_id)
            status, code = "500 Internal Server Error", "INTERNAL_ERROR"
            message = "Something went wrong on our side. Quote the X-Request-ID when you report it."
        body = json.dumps({"code": code, "error": message}).encode()
        with contextlib.suppress(OSError):  # the client may have closed the connection
            client.sendall(_head(status, body, request_id) + body)


def _head(status: str, body: bytes, request_id: str) -> bytes:
    return (
        f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n"
        f"X-Request-ID: {request_id}\r\nConnection: close\r\n\r\n"
    ).encode()
