"""The gunicorn worker's connections, with their socket, parsed request and response."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterable
from typing import Any

from gunicorn.workers.gthread import TConn

# A response is paused when it has more unsent bytes than this.
MAX_UNSENT_BYTES = 1024 * 1024


class ParsedRequest:
    """A parsed request that has the interface which gunicorn's threads expect."""

    def __init__(self, request: Any, rest: bytes) -> None:
        self._request = request
        self.rest = rest  # These bytes follow the request and are the beginning of the next request.

    def __next__(self) -> Any:
        return self._request

    def finish_body(self, **_: object) -> bool:
        return True


class ClientSocket(socket.socket):
    """Non-blocking socket with a buffer for unsent bytes, which the main loop sends."""

    def __init__(self, fileno: int) -> None:
        super().__init__(fileno=fileno)
        self.unsent = bytearray()
        self.is_dropped = False

    def setblocking(self, flag: bool) -> None:
        self.settimeout(0.0)

    def sendall(self, data: Any, flags: int = 0) -> None:
        """Buffer the bytes, and send what the client accepts now."""
        self.unsent += data
        self.send_unsent()

    def send_unsent(self) -> None:
        """Send as many buffered bytes as the client accepts without waiting."""
        with contextlib.suppress(BlockingIOError):
            while self.unsent:
                del self.unsent[: self.send(self.unsent)]


class PausableResponse:
    """A response that threads produce in parts, as fast as the client receives it."""

    def __init__(self, writer: Any, chunks: Iterable[bytes]) -> None:
        self.writer = writer  # This is an instance of gunicorn's `Response`.
        self._chunks = chunks
        self._iterator = iter(chunks)

    def write(self, client: ClientSocket) -> bool:
        """Write chunks until the client lags behind.

        Returns True if the response is complete.
        """
        for chunk in self._iterator:
            self.writer.write(chunk)
            if len(client.unsent) > MAX_UNSENT_BYTES:
                return False
        self.writer.close()
        return True

    def close(self) -> None:
        """Let the application release the response's resources."""
        if hasattr(self._chunks, "close"):
            self._chunks.close()


class Connection(TConn):
    """A client's connection. `response` is in progress or paused."""

    response: PausableResponse | None = None
