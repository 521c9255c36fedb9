"""Load on the API and shared clients: closed-loop, each connection sends its next request after the last response."""

from __future__ import annotations

import asyncio
import http.client
import re
import socket
import statistics
import time
from dataclasses import dataclass

CONNECTIONS = 8


@dataclass(frozen=True)
class Load:
    """Result of a load: answered requests, how many a second, the 50th and 99th percentile of their milliseconds.

    `statuses` are those of the answers.
    """

    requests: int
    per_second: float
    p50_ms: float
    p99_ms: float
    statuses: frozenset[int]


def request_of(method: str, path: str, key: str = "", body: bytes = b"") -> bytes:
    lines = [f"{method} {path} HTTP/1.1", "Host: 127.0.0.1"]
    lines += [f"Authorization: Bearer {key}"] if key else []
    lines += ["Content-Type: application/json", f"Content-Length: {len(body)}"] if body else []
    return "\r\n".join([*lines, "", ""]).encode() + body


def body_of(port: int, request: bytes) -> bytes:
    """Return the body of one successful response."""
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.sendall(request)
        response = http.client.HTTPResponse(connection)
        response.begin()
        body = response.read()
        assert response.status in (200, 201), (response.status, body)
        return body


def load(port: int, request: bytes, seconds: float) -> Load:
    """Send `request` repeatedly on CONNECTIONS connections for `seconds`; runs in this process."""
    return asyncio.run(_load(port, request, seconds))


async def _load(port: int, request: bytes, seconds: float) -> Load:
    times: list[float] = []
    statuses: set[int] = set()
    began = time.perf_counter()
    await asyncio.gather(*(_connection(port, request, began + seconds, times, statuses) for _ in range(CONNECTIONS)))
    elapsed = time.perf_counter() - began
    cuts = statistics.quantiles(times, n=100)
    return Load(len(times), len(times) / elapsed, cuts[49] * 1000, cuts[98] * 1000, frozenset(statuses))


async def _connection(port: int, request: bytes, until: float, times: list[float], statuses: set[int]) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    while (began := time.perf_counter()) < until:
        writer.write(request)
        head = await reader.readuntil(b"\r\n\r\n")
        statuses.add(int(head[9:12]))
        length = re.search(rb"\r\ncontent-length: *(\d+)", head, re.IGNORECASE)
        await reader.readexactly(int(length[1]) if length else 0)
        times.append(time.perf_counter() - began)
        if b"connection: close" in head.lower():
            writer.close()
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.close()
    await writer.wait_closed()
