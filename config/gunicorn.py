"""gunicorn worker whose main loop reads requests and sends slow responses, so that threads never wait for a client.

Threads are a worker's scarcest resource. So the main loop, which waits for thousands of connections at once, reads
heads and bodies, with deadlines. A thread gets a parsed request with its body in memory. A client that sends nothing,
or a byte a second, occupies an entry in a list and no thread. A response of which the client has not received
`MAX_UNSENT_BYTES` yet is paused: the loop sends what is there, then a thread produces more. The loop also responds to
`/healthz`, because a process is alive even if all of its threads wait for the database. The worker's own error
responses are JSON.

Memory has two limits: `MAX_RECEIVED_BYTES` for all requests, from their first byte until their response is complete,
and `MAX_ALL_UNSENT_BYTES` for all responses. Bodies of more than 64 KiB are read only from clients that the application
admits (`config.admission`).

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
from collections import Counter
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from functools import partial
from typing import Any

from gunicorn.http import wsgi
from gunicorn.http.errors import ParseException
from gunicorn.workers.gthread import ThreadWorker

from config.connections import ClientSocket, Connection, ParsedRequest, PausableResponse
from config.draining import DRAIN_S
from config.incoming import BODY_S, Admission, BodyTooLarge, IncomingRequest, RefusedBody
from website_scan.ids import random_base62

# Maximum seconds until the end of a request's head. They begin with the connection, or with the first byte if the
# connection is persistent.
HEAD_S = 10.0
# Seconds to wait for the client to close the connection. If the server closed first, data that the client still sends
# could reset the connection and discard the last response.
CLOSE_S = 2.0
# Seconds after which the connection of a client that still has not received a response is closed.
WRITE_S = 30.0
READ_BYTES = 64 * 1024
# Maximum bytes of all requests in memory, including those that are incomplete, waiting or in a thread.
MAX_RECEIVED_BYTES = 32 * 1024 * 1024
# Maximum unsent bytes of all responses together.
MAX_ALL_UNSENT_BYTES = 64 * 1024 * 1024

ALIVE = b'{"status": "ok"}'
DRAINING = b'{"status": "draining", "problems": {"draining": "This process is stopping."}}'
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
BUSY = b'{"code": "SERVICE_UNAVAILABLE", "error": "The service receives too much at once. Try again in a few seconds."}'


class Worker(ThreadWorker):
    """Worker that reads requests in its main loop, and refuses invalid HTTP in JSON with `code` and `error`."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # Without this setting, gunicorn would accept a SCRIPT_NAME header from 127.0.0.1, and links would get its
        # prefix.
        self.cfg.set("forwarder_headers", "")
        # Connections by state. Incoming requests are incomplete, outgoing responses are incomplete, and finished
        # connections wait for the client to close. The longest wait comes first.
        self._incoming: dict[Connection, IncomingRequest] = {}
        self._outgoing: dict[Connection, float] = {}
        self._closing: dict[Connection, float] = {}
        self._drain_deadline: float | None = None
        # Bytes in memory per connection, and their sum.
        self._received: dict[Connection, int] = {}
        self._received_sum = 0

    def handle_exit(self, sig: int, frame: Any) -> None:
        """Handle SIGTERM. The first one starts draining if DRAIN_S is set, and a second one ends it.

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
        """Accept a connection.

        If there are too many, drop the one that has waited longest.
        """
        try:
            client, address = listener.accept()
        except OSError as error:
            if error.errno not in (errno.EAGAIN, errno.ECONNABORTED, errno.EWOULDBLOCK):
                raise
            return
        self.nr_conns += 1
        connection = Connection(self.cfg, ClientSocket(client.detach()), address, listener.getsockname())
        self._await_request(connection, HEAD_S)
        waiting = len(self._incoming) + len(self._outgoing) + len(self._closing)
        if waiting > self.worker_connections - self.cfg.threads - 1:
            self._drop(next(iter(self._closing or self._incoming or self._outgoing)))

    def handle_request(self, req: Any, conn: Connection) -> bool:
        """Produce the response in a thread, or the next part of a paused response.

        Returns True to keep the connection. Replaces gunicorn's method, which produces a response in one go.
        """
        if conn.response is None:
            conn.response = self._call_application(req, conn)
        response = conn.response
        try:
            is_complete = response.write(conn.sock)
        except BaseException as error:
            self._close_response(conn)
            if response.writer.headers_sent and not isinstance(error, OSError):
                self.log.exception("request failed after the beginning of its response")
                raise StopIteration from None  # gunicorn then closes the connection without a second response.
            raise
        if is_complete:
            self._close_response(conn)
        return not response.writer.should_close()

    def _call_application(self, request: Any, connection: Connection) -> PausableResponse:
        writer, environ = wsgi.create(request, connection.sock, connection.client, connection.server, self.cfg)
        environ["wsgi.multithread"] = True
        self.nr += 1
        if self.nr >= self.max_requests:
            self.alive = False
        if not self.alive or not self.cfg.keepalive:
            writer.force_close()
        return PausableResponse(writer, self.wsgi(environ, writer.start_response))

    @staticmethod
    def _close_response(connection: Connection) -> None:
        response, connection.response = connection.response, None
        if response is not None:
            response.close()

    def finish_request(self, conn: Connection, fs: Any) -> None:
        """Send the rest of the response, then continue: produce more, await another request, or close."""
        if conn.response is not None:
            self._send(conn, partial(self.enqueue_req, conn))
            return
        self._set_received(conn, 0)
        keeps_alive = not fs.cancelled() and fs.exception() is None and bool(fs.result())
        rest = conn.parser.rest
        self._send(conn, partial(self._await_request, conn, self.cfg.keepalive, rest) if keeps_alive else None)

    def murder_pending(self) -> None:
        """Drop connections past their deadlines and, when the worker stops, idle connections.

        Called every second.
        """
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

    def _await_request(self, connection: Connection, timeout_s: float, data: bytes = b"") -> None:
        self._incoming[connection] = IncomingRequest(self.cfg, connection.client, time.monotonic() + timeout_s)
        self.poller.register(connection.sock, selectors.EVENT_READ, partial(self._read, connection))
        if data:
            self._feed(connection, data)

    def _read(self, connection: Connection, _: object) -> None:
        if connection not in self._incoming:
            return  # Another event in the same main loop iteration has refused or dropped the request.
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

    def _feed(self, connection: Connection, data: bytes) -> None:
        incoming = self._incoming[connection]
        if not incoming.has_begun:
            incoming.deadline = time.monotonic() + HEAD_S
        try:
            is_complete = incoming.feed(data)
        except BodyTooLarge as error:
            if incoming.owner is None:
                self._request_admission(connection, incoming)
            else:
                self._refuse(connection, error)
            return
        except Exception as error:  # noqa: BLE001 -- any parser error ends this connection
            self._refuse(connection, error)
            return
        self._set_received(connection, incoming.size)
        if is_complete:
            self._handle_request(connection, incoming.request, incoming.rest)
        elif incoming.expects_continue:
            incoming.expects_continue = False
            with contextlib.suppress(OSError):
                connection.sock.send(CONTINUE)
        self._limit_received()

    def _refuse(self, connection: Connection, error: Exception) -> None:
        self._set_received(connection, 0)
        self.handle_error(None, connection.sock, connection.client, error)
        self._send(connection)

    def _request_admission(self, connection: Connection, incoming: IncomingRequest) -> None:
        """Call the application's `admit` in a thread for a long body.

        The body is not read before `admit` returns.
        """
        self._set_received(connection, incoming.size)
        self.poller.unregister(connection.sock)
        _, environ = wsgi.create(incoming.request, connection.sock, connection.client, connection.server, self.cfg)
        self.tpool.submit(self.wsgi.admit, environ).add_done_callback(
            lambda future: self.method_queue.defer(self._finish_admission, connection, incoming, future)
        )

    def _finish_admission(
        self, connection: Connection, incoming: IncomingRequest, future: Future[Admission | RefusedBody]
    ) -> None:
        if self._incoming.get(connection) is not incoming:
            return  # The connection was dropped, or its request was refused because of the memory limit.
        try:
            admission = future.result()
        except Exception as error:  # noqa: BLE001 -- an error must not end the main loop
            self._refuse(connection, error)
            return
        if isinstance(admission, RefusedBody):
            self._respond(connection, admission.status, admission.body, headers=admission.headers)
            return
        incoming.owner, incoming.max_body_bytes = admission.owner, admission.max_bytes
        incoming.deadline = time.monotonic() + BODY_S
        self.poller.register(connection.sock, selectors.EVENT_READ, partial(self._read, connection))
        self._feed(connection, b"")

    def _set_received(self, connection: Connection, size: int) -> None:
        self._received_sum += size - self._received.pop(connection, 0)
        if size:
            self._received[connection] = size

    def _limit_received(self) -> None:
        """Refuse requests while the requests in memory exceed their limit.

        Requests of clients that are not admitted are refused first, the longest of them, then the longest request of
        the owner with the most bytes. Complete requests are never refused.
        """
        while self._received_sum > MAX_RECEIVED_BYTES and self._incoming:
            candidates = [conn for conn, incoming in self._incoming.items() if incoming.owner is None]
            if not candidates:
                sums: Counter[str | None] = Counter()
                for conn, incoming in self._incoming.items():
                    sums[incoming.owner] += self._received.get(conn, 0)
                [(owner, _)] = sums.most_common(1)
                candidates = [conn for conn, incoming in self._incoming.items() if incoming.owner == owner]
            longest = max(candidates, key=lambda conn: self._received.get(conn, 0))
            self._respond(longest, "503 Service Unavailable", BUSY, headers={"Retry-After": "5"})

    def _handle_request(self, connection: Connection, request: Any, rest: bytes) -> None:
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

    def _respond(
        self,
        connection: Connection,
        status: str,
        body: bytes,
        *,
        is_head: bool = False,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self._set_received(connection, 0)
        head = _head(status, body, random_base62(), headers)
        with contextlib.suppress(OSError):  # The client may have closed the connection.
            connection.sock.sendall(head if is_head else head + body)
        self._send(connection)

    def _send(self, connection: Connection, then: Callable[[], None] | None = None) -> None:
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
                self._drop(max(self._outgoing, key=lambda conn: len(conn.sock.unsent)))

    def _close(self, connection: Connection) -> None:
        try:
            connection.sock.shutdown(socket.SHUT_WR)
            self.poller.register(connection.sock, selectors.EVENT_READ, partial(self._discard_input, connection))
        except (OSError, ValueError):
            self._drop(connection)
        else:
            self._closing[connection] = time.monotonic() + CLOSE_S

    def _discard_input(self, connection: Connection, _: object) -> None:
        try:
            if connection.sock.recv(READ_BYTES):
                return
        except BlockingIOError:
            return
        except OSError:
            pass
        self._drop(connection)

    def _stop_waiting(self, connection: Connection) -> None:
        self._incoming.pop(connection, None)
        self._outgoing.pop(connection, None)
        self._closing.pop(connection, None)
        with contextlib.suppress(KeyError, ValueError):
            self.poller.unregister(connection.sock)

    def _drop(self, connection: Connection) -> None:
        if connection.sock.is_dropped:
            return  # Another event of the same iteration of the main loop has dropped the connection.
        connection.sock.is_dropped = True
        self._stop_waiting(connection)
        self._set_received(connection, 0)
        if connection.response is not None:  # The response is paused.
            self.tpool.submit(self._close_response, connection)
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
        with contextlib.suppress(OSError):  # The client may have closed the connection.
            client.sendall(_head(status, body, request_id) + body)


def _head(status: str, body: bytes, request_id: str, headers: Mapping[str, str] | None = None) -> bytes:
    fields = {
        "Content-Type": "application/json",
        **(headers or {}),
        "Content-Length": str(len(body)),
        "X-Request-ID": request_id,
        "Connection": "close",
    }
    return "\r\n".join([f"HTTP/1.1 {status}", *(f"{name}: {value}" for name, value in fields.items()), "", ""]).encode()
