"""Client of the Chrome DevTools Protocol: JSON messages over a pair of pipes, each ended by a NUL byte.

No other program can connect to a pipe, unlike to a port. A session is a conversation with one target (a page or a
worker), or with the browser itself. See https://chromedevtools.github.io/devtools-protocol/.
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
    """A command failed, or its session ended before the answer."""


class Target(Protocol):
    """Interface of a session: commands to one target, and its events."""

    async def send(self, method: str, params: dict[str, Any] | None = None) -> Any: ...

    def on(self, event: str, handler: Callable[[Any], None]) -> object: ...


class Session:
    """Conversation with one target. Its end fails all commands that have no answer."""

    def __init__(self, connection: Connection, id: str) -> None:
        self._connection = connection
        self._id = id
        self._handlers: dict[str, list[Callable[[Event], None]]] = {}
        self._pending: dict[int, asyncio.Future[Any]] = {}
        self._is_open = True

    async def send(self, method: str, params: dict[str, Any] | None = None) -> Any:
        """Send a command and return its result. Raises `ProtocolError`."""
        if not self._is_open:
            raise ProtocolError(CLOSED)
        id = self._connection.write(self._id, method, params)
        answer = self._pending[id] = asyncio.get_running_loop().create_future()
        try:
            return await answer
        finally:
            self._pending.pop(id, None)

    def post(self, method: str, params: dict[str, Any] | None = None) -> None:
        """Send a command whose result nobody needs; it may fail, as when the page is closed."""
        if self._is_open:
            self._connection.write(self._id, method, params)

    def on(self, event: str, handler: Callable[[Any], None]) -> None:
        """Call `handler` with the parameters of each such event."""
        self._handlers.setdefault(event, []).append(handler)

    def answered(self, message: Mapping[str, Any]) -> None:
        """Take the answer to a command."""
        answer = self._pending.get(message["id"])
        if answer is None or answer.done():
            return
        if error := message.get("error"):
            answer.set_exception(ProtocolError(str(error.get("message", ""))))
        else:
            answer.set_result(message["result"])

    def happened(self, message: Mapping[str, Any]) -> None:
        """Take an event."""
        for handler in self._handlers.get(message["method"], ()):
            handler(message["params"])

    def end(self) -> None:
        """Fail all commands that have no answer: none will come."""
        self._is_open = False
        for answer in self._pending.values():
            if not answer.done():
                answer.set_exception(ProtocolError(CLOSED))


class Connection(asyncio.Protocol):
    """Connection to a browser. `root` is the session with the browser itself."""

    def __init__(self) -> None:
        self.is_open = True
        self.root = Session(self, "")
        self._sessions = {"": self.root}
        self._last_id = 0
        self._owners: dict[int, Session] = {}
        self._received: list[bytes] = []
        self._reader: asyncio.BaseTransport | None = None
        self._writer: asyncio.WriteTransport | None = None
        self.root.on("Target.detachedFromTarget", self._detached)

    @classmethod
    async def over(cls, reading: int, writing: int) -> Connection:
        """Connect over two file descriptors, which then belong to the connection."""
        connection, loop = cls(), asyncio.get_running_loop()
        connection._reader, _ = await loop.connect_read_pipe(lambda: connection, os.fdopen(reading, "rb", 0))
        connection._writer, _ = await loop.connect_write_pipe(asyncio.BaseProtocol, os.fdopen(writing, "wb", 0))
        return connection

    def session(self, id: str) -> Session:
        """Return the session with this ID, which the browser has given it."""
        if id not in self._sessions:
            session = self._sessions[id] = Session(self, id)
            session.on("Target.detachedFromTarget", self._detached)
        return self._sessions[id]

    def write(self, session: str, method: str, params: dict[str, Any] | None) -> int:
        """Send a command. Returns its number."""
        self._last_id += 1
        message: dict[str, Any] = {"id": self._last_id, "method": method, "params": params or {}}
        if session:
            message["sessionId"] = session
        if self._writer is not None and self.is_open:
            self._writer.write(json.dumps(message, separators=(",", ":")).encode() + END)
        return self._last_id

    def close(self) -> None:
        """Close the pipes, which ends the browser as well."""
        for pipe in (self._reader, self._writer):
            if pipe is not None:
                pipe.close()

    def data_received(self, data: bytes) -> None:
        first, *others = data.split(END)
        self._received.append(first)
        for each in others:
            message, self._received = b"".join(self._received), [each]
            self._take(json.loads(message))

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 -- asyncio.Protocol
        self.is_open = False
        for each in list(self._sessions.values()):
            each.end()

    def _take(self, message: Mapping[str, Any]) -> None:
        session = self._sessions.get(message.get("sessionId", ""))
        if session is None:
            return
        if "id" in message:
            session.answered(message)
            return
        try:
            session.happened(message)
        except Exception:
            logger.exception("The browser's event %s could not be handled", message["method"])

    def _detached(self, event: Event) -> None:
        session = self._sessions.pop(str(event["sessionId"]), None)
        if session is not None:
            session.end()
