"""Effect of slow and greedy clients on others: dripping connections (slowloris), and targets that drop packets."""

from __future__ import annotations

import asyncio
import contextlib
import json
import math
import socket
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager

from benchmarks.api import request_of, web
from benchmarks.installation import install, servers
from tests.e2e.service import free_port

ATTACK_S = 60
DRIP_S = 20
GOAL_MS = 250
FREE_ORGANIZATIONS = 5
# Each client sends its next request a second after the response; the free plan allows 60 per minute and organization.
POSTS_AT_ONCE = 12
PER_SECOND = 20


def main() -> int:
    """Print the table; return 1 if a response took too long."""
    with ExitStack() as cleanup:
        folder, stack = cleanup.enter_context(servers())
        silent = cleanup.enter_context(_silent_port())
        (folder / "bodies").mkdir()
        install(
            folder,
            stack,
            BENCHMARK_BODIES=str(folder / "bodies"),
            SCAN_ALLOWED_NETWORKS="127.0.0.0/8",
            ALLOWED_HOSTS="127.0.0.1",
        )
        from accounts.keys.services import create_api_key
        from accounts.services import ensure_organization

        victim = create_api_key(organization=ensure_organization(name="Victim", tier="business"), name="bench")[1]
        greedy = [
            create_api_key(organization=ensure_organization(name=f"Free {number}", tier="free"), name="bench")[1]
            for number in range(FREE_ORGANIZATIONS)
        ]
        port = free_port()
        cleanup.enter_context(web(port, folder))
        return asyncio.run(_measure(port, silent, victim, greedy))


async def _measure(port: int, silent: int, victim: str, greedy: list[str]) -> int:
    get, health = request_of("GET", "/v1/scans", victim), request_of("GET", "/healthz")
    missed = 0
    await _asked(port, get, 3)  # warm-up: each process loads modules with its first requests
    print(f"{'':34}{'GET p50':>10}{'p99':>8}{'/healthz p99':>14}   ms, goal {GOAL_MS}")
    attacks = {
        "nobody else": _nobody(),
        "500 idle connections": _dripping(port, 500, b""),
        "500 heads, a byte a second": _dripping(port, 500, b"GET / HTTP/1.1\r\nHost: a\r\nX-"),
        "100 bodies, a byte a second": _dripping(
            port, 100, b"POST /login/ HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 5000\r\n\r\na"
        ),
        "5 free plans, silent targets": _posting(port, silent, greedy),
    }
    for name, attack in attacks.items():
        async with attack as seconds:
            times, probes = await asyncio.gather(_asked(port, get, seconds), _asked(port, health, seconds))
        worst = max(_quantile(times, 0.99), _quantile(probes, 0.99))
        missed |= worst > GOAL_MS
        print(
            f"{name:34}{_quantile(times, 0.5):10.1f}{_quantile(times, 0.99):8.1f}{_quantile(probes, 0.99):14.1f}"
            f"   {'met' if worst <= GOAL_MS else 'MISSED'}"
        )
    return int(missed)


def _quantile(times: list[float], share: float) -> float:
    return sorted(times)[min(len(times) - 1, math.floor(share * len(times)))] * 1000


async def _asked(port: int, request: bytes, seconds: float) -> list[float]:
    """Return the seconds of each response, each on a new connection; a response that takes over 10 s counts as 10."""
    begin = time.monotonic()
    pending = []
    while time.monotonic() < begin + seconds:
        pending.append(asyncio.create_task(_ask(port, request)))
        await asyncio.sleep(1 / PER_SECOND)
    return list(await asyncio.gather(*pending))


async def _ask(port: int, request: bytes) -> float:
    begin = time.monotonic()
    with contextlib.suppress(TimeoutError, OSError, asyncio.IncompleteReadError):
        async with asyncio.timeout(10):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(request)
            head = await reader.readuntil(b"\r\n\r\n")
            writer.close()
            if head.startswith(b"HTTP/1.1 200"):
                return time.monotonic() - begin
    return 10.0


@asynccontextmanager
async def _nobody() -> AsyncIterator[float]:
    yield DRIP_S / 4


@asynccontextmanager
async def _dripping(port: int, number: int, begun: bytes) -> AsyncIterator[float]:
    """Hold `number` connections that send a byte a second, and reconnect when the service closes them."""

    async def drip() -> None:
        while True:
            with contextlib.suppress(OSError):
                _, writer = await asyncio.open_connection("127.0.0.1", port)
                writer.write(begun)
                while not writer.is_closing():
                    await asyncio.sleep(1)
                    if begun:
                        writer.write(b"a")
                        await writer.drain()
            await asyncio.sleep(0.1)

    async with _running([drip() for _ in range(number)]):
        yield DRIP_S


@asynccontextmanager
async def _posting(port: int, silent: int, keys: list[str]) -> AsyncIterator[float]:
    """Let organizations of the free plan request scans of a host that answers no SYN."""

    async def post(key: str) -> None:
        body = json.dumps({"url": f"http://127.0.0.1:{silent}/", "type": "seo"}).encode()
        while True:
            await _ask(port, request_of("POST", "/v1/scan", key, body))
            await asyncio.sleep(1)

    async with _running([post(key) for key in keys for _ in range(POSTS_AT_ONCE)]):
        yield ATTACK_S


@asynccontextmanager
async def _running(work: list[object]) -> AsyncIterator[None]:
    tasks = [asyncio.ensure_future(each) for each in work]  # type: ignore[call-overload]
    await asyncio.sleep(1)
    try:
        yield
    finally:
        for each in tasks:
            each.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


@contextmanager
def _silent_port() -> Iterator[int]:
    """Listen on a port whose backlog is full: the kernel drops every further SYN."""
    with socket.create_server(("127.0.0.1", 0), backlog=0) as server, ExitStack() as cleanup:
        for _ in range(2):
            waiting = cleanup.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(server.getsockname())
        yield server.getsockname()[1]
