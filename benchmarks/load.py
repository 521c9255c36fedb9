"""Closed-loop load generator on loopback: each connection sends its next request after the response to the last."""

from __future__ import annotations

import asyncio
import statistics
import time
from dataclasses import dataclass

CONNECTIONS = 8


@dataclass(frozen=True)
class Load:
    """Result of a load: requests per second, and the 50th and 99th percentile of the times in milliseconds."""

    per_second: float
    p50_ms: float
    p99_ms: float
    statuses: frozenset[int]


def load(port: int, request: bytes, seconds: float) -> Load:
    """Send `request` repeatedly on CONNECTIONS connections for `seconds`; runs in this process."""
    return asyncio.run(_load(port, request, seconds))


async def _load(port: int, request: bytes, seconds: float) -> Load:
    times: list[float] = []
    statuses: set[int] = set()
    begin = time.perf_counter()
    await asyncio.gather(*(_connection(port, request, begin + seconds, times, statuses) for _ in range(CONNECTIONS)))
    elapsed = time.perf_counter() - begin
    cuts = statistics.quantiles(times, n=100)
    return Load(len(times) / elapsed, cuts[49] * 1000, cuts[98] * 1000, frozenset(statuses))


async def _connection(port: int, request: bytes, until: float, times: list[float], statuses: set[int]) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    while (begin := time.perf_counter()) < until:
        writer.write(request)
        head = await reader.readuntil(b"\r\n\r\n")
        statuses.add(int(head[9:12]))
        await reader.readexactly(_content_length(head))
        times.append(time.perf_counter() - begin)
        if b"connection: close" in head.lower():
            writer.close()
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.close()
    await writer.wait_closed()


def _content_length(head: bytes) -> int:
    for line in head.split(b"\r\n"):
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            return int(value)
    return 0
