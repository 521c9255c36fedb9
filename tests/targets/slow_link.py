"""Relay that slows down local sites in real time.

It delays bytes in both directions, like a phone's connection.

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

BYTES_PER_S = 200_000.0  # This bandwidth is 1.6 Mbit/s.
ROUND_TRIP_S = 0.15
INITIAL_WINDOW_BYTES = 14_600  # RFC 6928 recommends this initial congestion window.
MAX_WINDOW_BYTES = 256 * 1024
CHUNK_BYTES = 1_460


class SlowLink:
    """Relay with a listening port for every site.

    It runs in a thread.
    """

    def __init__(self, ports: Sequence[int]) -> None:
        self._targets = tuple(ports)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="slow-link", daemon=True)
        self._is_slow = False
        self._resolved_at: dict[int, float] = {}  # Time when the name of the site with this port is resolved.
        self._downlink = _Downlink(self._loop)
        self._servers: list[asyncio.Server] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self.ports: tuple[int, ...] = ()

    def __enter__(self) -> Self:
        self._thread.start()
        self._run_in_loop(self._listen())
        return self

    def __exit__(self, *_: object) -> None:
        self._run_in_loop(self._close_servers())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def slow_down(self) -> None:
        """Slow down new connections and forget resolved names.

        This simulates a first-time visitor.
        """
        self._loop.call_soon_threadsafe(self._resolved_at.clear)
        self._is_slow = True

    def speed_up(self) -> None:
        """Relay the bytes of new connections without delay."""
        self._is_slow = False

    def _run_in_loop(self, coroutine: object) -> None:
        asyncio.run_coroutine_threadsafe(coroutine, self._loop).result()  # type: ignore[arg-type]

    async def _listen(self) -> None:
        for target in self._targets:

            def handle_connection(
                reader: asyncio.StreamReader, writer: asyncio.StreamWriter, target: int = target
            ) -> asyncio.Task[None]:
                task = self._loop.create_task(self._relay(reader, writer, target))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)
                return task

            self._servers.append(await asyncio.start_server(handle_connection, LOOPBACK, 0, backlog=128))
        self.ports = tuple(server.sockets[0].getsockname()[1] for server in self._servers)

    async def _close_servers(self) -> None:
        for server in self._servers:
            server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _relay(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, target: int) -> None:
        now, is_slow = self._loop.time(), self._is_slow
        resolved_at = self._resolved_at.setdefault(target, now + ROUND_TRIP_S)
        opened_at = max(now, resolved_at) + ROUND_TRIP_S
        client_writer, site_writer = writer, None
        with contextlib.suppress(OSError):
            site_reader, site_writer = await asyncio.open_connection(LOOPBACK, target)
            if is_slow:
                coroutines = (
                    self._relay_upstream(reader, site_writer, opened_at),
                    self._relay_downstream(site_reader, client_writer),
                )
            else:
                coroutines = _copy_bytes(reader, site_writer), _copy_bytes(site_reader, client_writer)
            tasks = [self._loop.create_task(coroutine) for coroutine in coroutines]
            try:
                await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)
        for connection in (client_writer, site_writer):
            if connection is not None:
                connection.close()

    async def _relay_upstream(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, opened_at: float
    ) -> None:
        while data := await reader.read(65536):
            # Clients wait for a response before the next request, so this wait delays no other one.
            await self._wait_until(max(self._loop.time(), opened_at) + ROUND_TRIP_S / 2)
            writer.write(data)

    async def _relay_downstream(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = _Connection(writer)
        while data := await reader.read(CHUNK_BYTES):
            await connection.wait_for_window(self._loop)
            self._downlink.enqueue(connection, data)

    async def _wait_until(self, at: float) -> None:
        await asyncio.sleep(max(0.0, at - self._loop.time()))


class _Connection:
    """TCP congestion state of one client."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self.writer = writer
        self.pending: deque[bytes] = deque()
        self._window = INITIAL_WINDOW_BYTES
        self._unacknowledged = 0
        self._acknowledged = asyncio.Event()

    async def wait_for_window(self, loop: asyncio.AbstractEventLoop) -> None:
        while self._unacknowledged >= self._window:
            self._acknowledged.clear()
            await self._acknowledged.wait()

    def record_sent(self, size: int) -> None:
        self._unacknowledged += size

    def acknowledge(self, size: int) -> None:
        self._unacknowledged -= size
        self._window = min(self._window + size, MAX_WINDOW_BYTES)
        self._acknowledged.set()

    def deliver(self, data: bytes) -> None:
        if not self.writer.is_closing():
            self.writer.write(data)


class _Downlink:
    """Shared downlink that sends one packet at a time.

    Connections take turns.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._turn: deque[_Connection] = deque()
        self._free_at = 0.0
        self._is_busy = False

    def enqueue(self, connection: _Connection, data: bytes) -> None:
        connection.record_sent(len(data))
        connection.pending.append(data)
        if len(connection.pending) == 1:
            self._turn.append(connection)
        if not self._is_busy:
            self._free_at = max(self._free_at, self._loop.time())
            self._send_due_packets()

    def _send_due_packets(self) -> None:
        """Send the due packets.

        Due times are computed, so a coarse clock does not change the bandwidth.
        """
        self._is_busy = bool(self._turn)
        while self._turn:
            if self._free_at > self._loop.time():
                self._loop.call_at(self._free_at, self._send_due_packets)
                return
            connection = self._turn.popleft()
            data = connection.pending.popleft()
            if connection.pending:
                self._turn.append(connection)
            self._free_at += len(data) / BYTES_PER_S
            self._loop.call_at(self._free_at + ROUND_TRIP_S / 2, connection.deliver, data)
            self._loop.call_at(self._free_at + ROUND_TRIP_S, connection.acknowledge, len(data))
        self._is_busy = False


async def _copy_bytes(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(65536):
        writer.write(data)
        await writer.drain()
