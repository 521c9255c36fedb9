"""gunicorn worker that hands a request to a thread only when it is complete.

Threads are a worker's scarcest resource. So the main loop, which waits for thousands of connections at once, reads
heads and bodies, with deadlines. A client that sends nothing, or a byte a second, occupies an entry in a list and no
thread. The loop also answers `/healthz`, because a process whose threads all wait for the database is alive. Errors are
JSON here, too.

After SIGTERM, a worker goes on for `DRAIN_S` seconds and answers `/readyz` with "draining", so that a load balancer
removes it before it refuses connections.
"""

from __future__ import annotations

import contextlib
import errno
import json
import re
import selectors
import socket
import time
from functools import partial
from typing import Any

from gunicorn.http.errors import LimitRequestHeaders, ParseException
from gunicorn.util import write_nonblock
from gunicorn.workers.gthread import TConn, ThreadWorker

from config.draining import DRAIN_S
from scanner.ids import random_base62

HEAD_S = 10.0  # from the connection, or the first byte on a kept-alive one, to the end of the request's head
BODY_S = 20.0  # from there to the end of the body
CLOSE_S = 2.0  # wait for the client to close, so that data it still sends does not reset our last response
# A response is written as a whole. The connection of a client that has not read all of it in this time is closed.
WRITE_S = 30.0
MAX_HEAD_BYTES = 64 * 1024
MAX_BODY_BYTES = 1024 * 1024
READ_BYTES = 64 * 1024

PROBE = re.compile(rb"(GET|HEAD) /healthz(?:\?[!-~]*)? HTTP/1\.[01]\r\n")
ALIVE = b'{"status": "ok"}'
READINESS = re.compile(rb"(GET|HEAD) /readyz(?:\?[!-~]*)? HTTP/1\.[01]\r\n")
DRAINING = b'{"status": "draining", "problems": {"draining": "This process is stopping."}}'
CONTENT_LENGTH = re.compile(rb"\r\ncontent-length[ \t]*:[ \t]*(\d{1,18})[ \t]*(?=\r\n)", re.IGNORECASE)
CHUNKED = re.compile(rb"\r\ntransfer-encoding[ \t]*:[^\r\n]*\bchunked[ \t]*(?=\r\n)", re.IGNORECASE)
EXPECT = re.compile(rb"\r\nexpect[ \t]*:[ \t]*100-continue[ \t]*(?=\r\n)", re.IGNORECASE)
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
CHUNK_SIZE = re.compile(rb"([0-9a-fA-F]{1,8})[ \t]*(?:;[^\r\n]{0,1024})?\r\n")
MAX_CHUNK_LINE = 1100


class TooLarge(Exception):
    """The body is longer than MAX_BODY_BYTES."""


class Incoming:
    """Buffer of an incoming request. It only finds the request's end; gunicorn's parser validates it."""

    def __init__(self, deadline: float) -> None:
        self.deadline = deadline
        self.data = bytearray()
        self.expects_continue = False
        self._body = 0  # start of the body; 0 until the head is complete
        self._end: int | None = None  # end of the body; None for a chunked body
        self._chunk = 0  # position of the next chunk's size

    def feed(self, data: bytes) -> bool:
        """Add bytes. Returns True when the request is complete. Raises LimitRequestHeaders or TooLarge."""
        searched = max(0, len(self.data) - 3)
        self.data += data
        if not self._body:
            head_end = self.data.find(b"\r\n\r\n", searched)
            if head_end < 0:
                if len(self.data) > MAX_HEAD_BYTES:
                    raise LimitRequestHeaders("the head is too long")
                return False
            self._read_head(head_end + 4)
        if self._end is None:
            return self._ends_with_a_chunk()
        return len(self.data) >= self._end

    @property
    def has_begun(self) -> bool:
        return bool(self.data)

    def _read_head(self, end: int) -> None:
        head = bytes(self.data[:end])
        self._body = self._chunk = end
        self.deadline = time.monotonic() + BODY_S
        lengths = CONTENT_LENGTH.findall(head)
        if CHUNKED.search(head):
            self._end = None
        else:
            length = int(lengths[0]) if lengths else 0
            if length > MAX_BODY_BYTES:
                raise TooLarge
            self._end = end + length
        if EXPECT.search(head):
            self.expects_continue = True
            without = EXPECT.sub(b"", head)
            self.data[:end] = without
            self._body = self._chunk = len(without)
            if self._end is not None:
                self._end -= end - len(without)

    def _ends_with_a_chunk(self) -> bool:
        if len(self.data) - self._body > MAX_BODY_BYTES:
            raise TooLarge
        while True:
            size = CHUNK_SIZE.match(self.data, self._chunk)
            if size is None:
                # An invalid line counts as complete: the parser will refuse it.
                return len(self.data) - self._chunk > MAX_CHUNK_LINE or b"\n" in self.data[self._chunk :]
            length = int(size[1], 16)
            if length > MAX_BODY_BYTES:
                raise TooLarge
            if length == 0:
                # Trailers that are too long count as complete: the parser will refuse them.
                rest = self.data[size.end() - 2 : size.end() + MAX_CHUNK_LINE]
                return b"\r\n\r\n" in rest or len(rest) > MAX_CHUNK_LINE
            if len(self.data) < (after := size.end() + length + 2):
                return False
            self._chunk = after


class _Socket(socket.socket):
    """Socket with a timeout for writing, so that no thread waits for a client that has stopped reading."""

    def setblocking(self, flag: bool) -> None:
        self.settimeout(WRITE_S if flag else 0.0)

    def sendall(self, *arguments: Any) -> None:
        try:
            super().sendall(*arguments)
        except TimeoutError:
            raise ConnectionResetError(errno.ECONNRESET, "the client takes no answer") from None


class Worker(ThreadWorker):
    """Worker that reads requests in its main loop, and refuses invalid HTTP in JSON with `code` and `error`."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # Connections with an incomplete request, the longest waiting first; those that wait for the client to close.
        self._incoming: dict[TConn, Incoming] = {}
        self._closing: dict[TConn, float] = {}
        self._drained_at: float | None = None

    def handle_exit(self, sig: int, frame: Any) -> None:
        """Handle SIGTERM: start draining if DRAIN_S is set; a second SIGTERM ends it.

        gunicorn's master kills workers after `graceful_timeout`. Draining takes at most half of it, the rest is for
        running requests.
        """
        drain_s = min(DRAIN_S, self.cfg.graceful_timeout / 2)
        if self.alive and drain_s and self._drained_at is None:
            self._drained_at = time.monotonic() + drain_s
            self.cfg.set("keepalive", 0)  # the next request opens a new connection, to another process
        else:
            super().handle_exit(sig, frame)

    def accept(self, listener: socket.socket) -> None:
        """Accept a connection. If there are too many, drop the one that has waited longest."""
        try:
            accepted, address = listener.accept()
        except OSError as error:
            if error.errno not in (errno.EAGAIN, errno.ECONNABORTED, errno.EWOULDBLOCK):
                raise
            return
        self.nr_conns += 1
        connection = TConn(self.cfg, _Socket(fileno=accepted.detach()), address, listener.getsockname())
        self._await_request(connection, HEAD_S)
        waiting = len(self._incoming) + len(self._closing)
        if waiting > self.worker_connections - self.cfg.threads - 1:
            self._drop(next(iter(self._closing or self._incoming)))

    def finish_request(self, conn: TConn, fs: Any) -> None:
        """Wait for the next request, which may be there already, or for the client to close. Called after a request."""
        keeps = not fs.cancelled() and fs.exception() is None and bool(fs.result())
        if keeps:
            self._await_request(conn, self.cfg.keepalive, conn.parser.unreader.take_buffered())
            return
        with contextlib.suppress(OSError):
            conn.sock.shutdown(socket.SHUT_WR)
            conn.sock.setblocking(False)
            self.poller.register(conn.sock, selectors.EVENT_READ, partial(self._drain, conn))
            self._closing[conn] = time.monotonic() + CLOSE_S
            return
        self._drop(conn)

    def murder_pending(self) -> None:
        """Drop connections past their deadlines and, when the worker stops, idle ones. Called every second."""
        now = time.monotonic()
        if self._drained_at is not None and self._drained_at <= now:
            self.alive = False
        late = [
            each
            for each, incoming in self._incoming.items()
            if incoming.deadline < now or not (self.alive or incoming.has_begun)
        ]
        for connection in [*late, *(each for each, deadline in self._closing.items() if deadline < now)]:
            self._drop(connection)

    def _await_request(self, connection: TConn, patience_s: float, data: bytes = b"") -> None:
        connection.sock.setblocking(False)
        self._incoming[connection] = Incoming(time.monotonic() + patience_s)
        self.poller.register(connection.sock, selectors.EVENT_READ, partial(self._read, connection))
        if data:
            self._take(connection, data)

    def _read(self, connection: TConn, _: object) -> None:
        try:
            data = connection.sock.recv(READ_BYTES)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if data:
            self._take(connection, data)
        else:
            self._drop(connection)

    def _take(self, connection: TConn, data: bytes) -> None:
        incoming = self._incoming[connection]
        if not incoming.has_begun:
            incoming.deadline = time.monotonic() + HEAD_S
        try:
            is_complete = incoming.feed(data)
        except (LimitRequestHeaders, TooLarge) as error:
            self._hand_over(connection, partial(self._refuse, connection, error))
            return
        if is_complete:
            if PROBE.match(incoming.data):
                self._say(connection, "200 OK", ALIVE, is_head=incoming.data.startswith(b"HEAD"))
                return
            if self._drained_at is not None and READINESS.match(incoming.data):
                self._say(connection, "503 Service Unavailable", DRAINING, is_head=incoming.data.startswith(b"HEAD"))
                return
            received = bytes(incoming.data)
            connection.init()
            connection.parser.unreader.unread(received)
            connection.data_ready = True
            self._hand_over(connection, partial(self.handle, connection))
        elif incoming.expects_continue:
            incoming.expects_continue = False
            with contextlib.suppress(OSError):
                connection.sock.send(CONTINUE)

    def _hand_over(self, connection: TConn, work: partial[Any]) -> None:
        self._forget(connection)
        done = self.tpool.submit(work)
        done.add_done_callback(lambda future: self.method_queue.defer(self.finish_request, connection, future))

    def _say(self, connection: TConn, status: str, body: bytes, *, is_head: bool) -> None:
        head = _head(status, body, random_base62())
        self._forget(connection)
        with contextlib.suppress(OSError):
            connection.sock.send(head if is_head else head + body)
        self._drop(connection)

    def _drain(self, connection: TConn, _: object) -> None:
        try:
            if connection.sock.recv(READ_BYTES):
                return
        except BlockingIOError:
            return
        except OSError:
            pass
        self._drop(connection)

    def _forget(self, connection: TConn) -> None:
        self._incoming.pop(connection, None)
        self._closing.pop(connection, None)
        with contextlib.suppress(KeyError, ValueError):
            self.poller.unregister(connection.sock)

    def _drop(self, connection: TConn) -> None:
        self._forget(connection)
        self.nr_conns -= 1
        connection.close()

    def _refuse(self, connection: TConn, error: Exception) -> bool:
        connection.sock.setblocking(True)
        self.handle_error(None, connection.sock, connection.client, error)
        return False

    def handle_error(self, req: Any, client: socket.socket, addr: Any, exc: BaseException) -> None:
        """Send an error response for a request that could not be parsed, or that failed outside of Django."""
        request_id = random_base62()
        if isinstance(exc, TooLarge):
            status, code = "413 Content Too Large", "PAYLOAD_TOO_LARGE"
            message = f"The body has more than {MAX_BODY_BYTES:,} bytes."
        elif isinstance(exc, ParseException):
            status, code = "400 Bad Request", "INVALID_PARAMS"
            message = "The request is not valid HTTP, or its first line or headers are too long."
        else:
            self.log.exception("request %s failed outside of Django", request_id)
            status, code = "500 Internal Server Error", "INTERNAL_ERROR"
            message = "Something went wrong on our side. Quote the X-Request-ID when you report it."
        body = json.dumps({"code": code, "error": message}).encode()
        with contextlib.suppress(OSError):  # the client may have gone
            write_nonblock(client, _head(status, body, request_id) + body)


def _head(status: str, body: bytes, request_id: str) -> bytes:
    return (
        f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n"
        f"X-Request-ID: {request_id}\r\nConnection: close\r\n\r\n"
    ).encode()
