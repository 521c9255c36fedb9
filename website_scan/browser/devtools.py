"""Client for the Chrome DevTools Protocol.

Messages are JSON, sent over a pair of pipes and ended by a NUL byte. Unlike a port, a pipe is out of reach of other
programs. A session exchanges messages with one target (a page or a worker), or with the browser itself. See
https://chromedevtools.github.io/devtools-protocol/.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
from collections.abc import Callable, Mapping
from typing import Any, Protocol

logger = logging.getLogger(__name__)

END = b"\0"
CLOSED = "Target closed"

Event = Mapping[str, Any]


class ProtocolError(Exception):
    """Raised when a DevTools command fails.

    Also when the session ends before the command's response.
    """


class Target(Protocol):
    """Interface of a DevTools session.

    It sends commands to one target and receives its events.
    """

    async def send(self, method: str, params: dict[str, Any] | None = None) -> Any: ...

    def on(self, event: str, handler: Callable[[Any], None]) -> object: ...


class Session:
    """DevTools session with one target.

    When the session ends, all commands without a response fail.
    """

    def __init__(self, connection: Connection, id: str) -> None:
        self._connection = connection
        self._id = id
        self._handlers: dict[str, list[Callable[[Event], None]]] = {}
        self._pending: dict[int, asyncio.Future[Any]] = {}
        self._is_open = True

    async def send(self, method: str, params: dict[str, Any] | None = None) -> Any:
        """Send a command and return its result.

        Raises `ProtocolError`.
        """
        if not self._is_open:
            raise ProtocolError(CLOSED)
        id = self._connection.write(self._id, method, params)
        response = self._pending[id] = asyncio.get_running_loop().create_future()
        try:
            return await response
        finally:
            self._pending.pop(id, None)

    def post(self, method: str, params: dict[str, Any] | None = None) -> None:
        """Send a command without waiting for its result.

        Errors are ignored, for example if the page is closed.
        """
        if self._is_open:
            self._connection.write(self._id, method, params)

    def on(self, event: str, handler: Callable[[Any], None]) -> None:
        """Call `handler` with the parameters of every event of this name."""
        self._handlers.setdefault(event, []).append(handler)

    def handle_response(self, message: Mapping[str, Any]) -> None:
        """Complete a pending command with its response."""
        response = self._pending.get(message["id"])
        if response is None or response.done():
            return
        if error := message.get("error"):
            response.set_exception(ProtocolError(str(error.get("message", ""))))
        else:
            response.set_result(message["result"])

    def handle_event(self, message: Mapping[str, Any]) -> None:
        """Call all handlers that are registered for an event."""
        for handler in self._handlers.get(message["method"], ()):
            handler(message["params"])

    def end(self) -> None:
        """Fail all pending commands, because the session has ended."""
        self._is_open = False
        for response in self._pending.values():
            if not response.done():
                response.set_exception(ProtocolError(CLOSED))


class Connection(asyncio.Protocol):
    """DevTools connection to a browser.

    `root` is the session with the browser itself.
    """

    def __init__(self) -> None:
        self.is_open = True
        self.root = Session(self, "")
        self._sessions = {"": self.root}
        self._last_id = 0
        self._owners: dict[int, Session] = {}
        self._received: list[bytes] = []
        self._reader: asyncio.BaseTransport | None = None
        self._writer: asyncio.WriteTransport | None = None
        self.root.on("Target.detachedFromTarget", self._on_target_detached)

    @classmethod
    async def connect(cls, reading: int, writing: int) -> Connection:
        """Connect to the browser over the file descriptors of two pipes.

        The connection closes the descriptors.
        """
        connection, loop = cls(), asyncio.get_running_loop()
        connection._reader, _ = await loop.connect_read_pipe(lambda: connection, os.fdopen(reading, "rb", 0))
        connection._writer, _ = await loop.connect_write_pipe(asyncio.BaseProtocol, os.fdopen(writing, "wb", 0))
        return connection

    def session(self, id: str) -> Session:
        """Return the session with this ID.

        The browser has assigned it to a target.
        """
        if id not in self._sessions:
            session = self._sessions[id] = Session(self, id)
            session.on("Target.detachedFromTarget", self._on_target_detached)
        return self._sessions[id]

    def write(self, session: str, method: str, params: dict[str, Any] | None) -> int:
        """Write a command to the pipe and return the command's ID."""
        self._last_id += 1
        message: dict[str, Any] = {"id": self._last_id, "method": method, "params": params or {}}
        if session:
            message["sessionId"] = session
        if self._writer is not None and self.is_open:
            self._writer.write(json.dumps(message, separators=(",", ":")).encode() + END)
        return self._last_id

    def close(self) -> None:
        """Close the pipes, which makes the browser quit."""
        for pipe in (self._reader, self._writer):
            if pipe is not None:
                pipe.close()

    def data_received(self, data: bytes) -> None:
        first, *others = data.split(END)
        self._received.append(first)
        for part in others:
            message, self._received = b"".join(self._received), [part]
            self._dispatch(json.loads(message))

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 -- asyncio.Protocol
        self.is_open = False
        for session in list(self._sessions.values()):
            session.end()

    def _dispatch(self, message: Mapping[str, Any]) -> None:
        session = self._sessions.get(message.get("sessionId", ""))
        if session is None:
            return
        if "id" in message:
            session.handle_response(message)
            return
        try:
            session.handle_event(message)
        except Exception:
            logger.exception("The browser's event %s could not be handled", message["method"])

    def _on_target_detached(self, event: Event) -> None:
        session = self._sessions.pop(str(event["sessionId"]), None)
        if session is not None:
            session.end()
