"""The web server's worker: gunicorn's threads, answering in JSON also where no request reaches Django."""

from __future__ import annotations

import contextlib
import json
import socket
from typing import Any

from gunicorn.http.errors import ParseException
from gunicorn.util import write_nonblock
from gunicorn.workers.gthread import ThreadWorker

from config.ids import random_base62

# What is still on its way when a request is refused; left unread, it would reset the connection and the answer.
DRAIN_BYTES = 1024 * 1024
DRAIN_TIMEOUT_S = 0.2


class Worker(ThreadWorker):
    """Refuses what is not HTTP, or too long for it, like everything else: with `code` and `error`."""

    def handle_error(self, req: Any, client: socket.socket, addr: Any, exc: BaseException) -> None:
        """Answer for a request that could not be parsed, or that failed outside of Django."""
        request_id = random_base62()
        if isinstance(exc, ParseException):
            status, code = "400 Bad Request", "INVALID_PARAMS"
            message = "The request is not valid HTTP, or its first line or headers are too long."
        else:
            self.log.exception("request %s failed outside of Django", request_id)
            status, code = "500 Internal Server Error", "INTERNAL_ERROR"
            message = "Something went wrong on our side. Quote the X-Request-ID when you report it."
        body = json.dumps({"code": code, "error": message}).encode()
        head = (
            f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n"
            f"X-Request-ID: {request_id}\r\nConnection: close\r\n\r\n"
        )
        with contextlib.suppress(OSError):  # the client may have gone
            write_nonblock(client, head.encode() + body)
            _drain(client)


def _drain(client: socket.socket) -> None:
    client.shutdown(socket.SHUT_WR)
    client.settimeout(DRAIN_TIMEOUT_S)
    left = DRAIN_BYTES
    while left > 0 and (data := client.recv(min(left, 65536))):
        left -= len(data)
