"""A slow link in real time: a relay in front of sites on loopback that delays bytes as a phone's link would.

    with Site(routes) as site, SlowLink([site.port]) as link:
        link.slow_down()
        ...  # load http://127.0.0.1:{link.ports[0]}/

Before `slow_down()` everything passes at once, so that a page has the same addresses with and without the link.
It models a round trip for the name of each site, one for each connection, the delay of every byte in both
directions, one downlink that all connections share fairly, and TCP's slow start. It does not model lost packets or
the width of the uplink.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections import deque
from collections.abc import Sequence
from typing import Self

from tests.website_scan.net.tls_servers import LOOPBACK

BYTES_PER_S = 200_000.0  # 1.6 Mbit/s
ROUND_TRIP_S = 0.15
FIRST_WINDOW_BYTES = 14_600  # RFC 6928
LARGEST_WINDOW_BYTES = 256 * 1024
CHUNK_BYTES = 1_460


class SlowLink:
    """A relay that listens on one port of its own for each port of the sites, in a thread."""

    def __init__(self, ports: Sequence[int]) -> None:
        self._targets = tuple(ports)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="slow-link", daemon=True)
        self._is_slow = False
        self._resolved_at: dict[int, float] = {}  # by port: the time at which its name is resolved
        self._downlink = _Downlink(self._loop)
        self._servers: list[asyncio.Server] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self.ports: tuple[int, ...] = ()

    def __enter__(self) -> Self:
        self._thread.start()
        self._wait(self._listen())
        return self

    def __exit__(self, *_: object) -> None:
        self._wait(self._end())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def slow_down(self) -> None:
        """Make new connections slow and forget all resolved names, as for a first-time visitor."""
        self._loop.call_soon_threadsafe(self._resolved_at.clear)
        self._is_slow = True

    def speed_up(self) -> None:
        """Let new connections pass at once."""
        self._is_slow = False

    def _wait(self, what: object) -> None:
        asyncio.run_coroutine_threadsafe(what, self._loop).result()  # type: ignore[arg-type]

    async def _listen(self) -> None:
        for target in self._targets:

            def attend(
                reader: asyncio.StreamReader, writer: asyncio.StreamWriter, target: int = target
            ) -> asyncio.Task[None]:
                task = self._loop.create_task(self._attend(reader, writer, target))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)
                return task

            self._servers.append(await asyncio.start_server(attend, LOOPBACK, 0, backlog=128))
        self.ports = tuple(each.sockets[0].getsockname()[1] for each in self._servers)

    async def _end(self) -> None:
        for each in self._servers:
            each.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _attend(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, target: int) -> None:
        now, is_slow = self._loop.time(), self._is_slow
        resolved_at = self._resolved_at.setdefault(target, now + ROUND_TRIP_S)
        opened_at = max(now, resolved_at) + ROUND_TRIP_S
        there, back = writer, None
        with contextlib.suppress(OSError):
            site_reader, back = await asyncio.open_connection(LOOPBACK, target)
            if is_slow:
                ways = self._up(reader, back, opened_at), self._down(site_reader, there)
            else:
                ways = _copy(reader, back), _copy(site_reader, there)
            tasks = [self._loop.create_task(each) for each in ways]
            try:
                await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)
        for each in (there, back):
            if each is not None:
                each.close()

    async def _up(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, opened_at: float) -> None:
        while data := await reader.read(65536):
            # Requests are small, and a connection waits for its answers, so waiting here delays no later request.
            await self._until(max(self._loop.time(), opened_at) + ROUND_TRIP_S / 2)
            writer.write(data)

    async def _down(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = _Connection(writer)
        while data := await reader.read(CHUNK_BYTES):
            await connection.has_room(self._loop)
            self._downlink.put(connection, data)

    async def _until(self, at: float) -> None:
        await asyncio.sleep(max(0.0, at - self._loop.time()))


class _Connection:
    """TCP state of one client: bytes in flight and the congestion window."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self.writer = writer
        self.pending: deque[bytes] = deque()
        self._window = FIRST_WINDOW_BYTES
        self._unacknowledged = 0
        self._acknowledged = asyncio.Event()

    async def has_room(self, loop: asyncio.AbstractEventLoop) -> None:
        while self._unacknowledged >= self._window:
            self._acknowledged.clear()
            await self._acknowledged.wait()

    def sent(self, size: int) -> None:
        self._unacknowledged += size

    def acknowledge(self, size: int) -> None:
        self._unacknowledged -= size
        self._window = min(self._window + size, LARGEST_WINDOW_BYTES)
        self._acknowledged.set()

    def deliver(self, data: bytes) -> None:
        if not self.writer.is_closing():
            self.writer.write(data)


class _Downlink:
    """The shared downlink: sends one packet after the other, from the connections in turn."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._turn: deque[_Connection] = deque()
        self._free_at = 0.0
        self._is_busy = False

    def put(self, connection: _Connection, data: bytes) -> None:
        connection.sent(len(data))
        connection.pending.append(data)
        if len(connection.pending) == 1:
            self._turn.append(connection)
        if not self._is_busy:
            self._free_at = max(self._free_at, self._loop.time())
            self._send()

    def _send(self) -> None:
        """Send the packets that are due. Due times are computed, so coarse clock steps do not change the bandwidth."""
        self._is_busy = bool(self._turn)
        while self._turn:
            if self._free_at > self._loop.time():
                self._loop.call_at(self._free_at, self._send)
                return
            connection = self._turn.popleft()
            data = connection.pending.popleft()
            if connection.pending:
                self._turn.append(connection)
            self._free_at += len(data) / BYTES_PER_S
            self._loop.call_at(self._free_at + ROUND_TRIP_S / 2, connection.deliver, data)
            self._loop.call_at(self._free_at + ROUND_TRIP_S, connection.acknowledge, len(data))
        self._is_busy = False


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(65536):
        writer.write(data)
        await writer.drain()
