"""Benchmark API requests against a bare Django view that returns the same bytes.

Processor time is the time of the web processes for one request, without PostgreSQL and Redis. The load is closed-loop:
each connection sends its next request after it has received the last response.
"""

from __future__ import annotations

import asyncio
import http.client
import json
import operator
import re
import socket
import statistics
import time

import psutil
from msgspec import Struct

from benchmarks.seed import create_organization
from benchmarks.service import Service
from benchmarks.sites import run_slow_site
from benchmarks.table import Table
from benchmarks.usage import cpu_s

ROUNDS, ROUND_DURATION_S, WARM_UP_DURATION_S = 4, 0.7, 0.5
CONNECTIONS = 8
FEW, MANY = 1_000, 1_000_000
# Ratios: the first two are the minimum requests per second compared with the bare view. The third is the maximum time
# for listing an organization's scans when it has many, compared with few.
MIN_REPORT_RATIO, MIN_LIST_RATIO, MAX_MANY_RATIO = 0.3, 0.35, 1.5
# Limits in milliseconds of CPU time. Clients poll GET /v1/scan/:id, so it must not cost more than GET /v1/scans. The
# ratio above 1 allows for variation.
MAX_CPU_MS, MAX_LIST_RATIO = 3.0, 1.1


class Request(Struct, frozen=True):
    """An API request to measure, with its goals relative to the bare view."""

    name: str
    content: bytes
    min_bare_ratio: tuple[float, ...] = ()
    max_cpu_goals: tuple[float, ...] = ()

    @property
    def bare(self) -> str:
        """Name of the recorded response body, which the bare view sends."""
        return self.name.replace(" ", "-")


class Load(Struct, frozen=True):
    """Load test result: number of responses, responses per second, and 50th and 99th percentile in milliseconds."""

    requests: int
    per_second: float
    p50_ms: float
    p99_ms: float


def measure(table: Table, share: float, service: Service) -> None:
    bodies = service.folder / "bodies"  # The views of benchmarks/api_urls.py read the response bodies from this folder.
    bodies.mkdir()
    few, many = create_organization("Few", FEW), create_organization("Many", round(MANY * share))
    key = few.member.plaintext
    with run_slow_site(0) as (url, _):
        scan_body = json.dumps({"url": url, "type": "seo"}).encode()
        requests = [
            Request("GET scans", _request("GET", "/v1/scans", key), (MIN_LIST_RATIO,), (MAX_CPU_MS,)),
            Request(
                "GET report", _request("GET", f"/v1/report/{few.scan_id}", key), (MIN_REPORT_RATIO,), (MAX_CPU_MS,)
            ),
            Request("GET scan", _request("GET", f"/v1/scan/{few.scan_id}", key), (), (MAX_CPU_MS,)),
            Request("POST scan", _request("POST", "/v1/scan", key, scan_body)),
        ]
        with service.running("web") as (web,):
            for request in requests:
                (bodies / request.bare).write_bytes(_body(service.port, request.content))
            _compare_with_bare_view(table, service.port, requests)
            _processor_time(table, service.port, web, requests)
            table.head(f"a list of {round(MANY * share):,} scans", "ratio", "p50 ms", "p50 of 1,000")
            pairs = _load_alternately(
                service.port, requests[0].content, _request("GET", "/v1/scans", many.member.plaintext)
            )
            few_scans_ms, many_scans_ms = ([load.p50_ms for load in loads] for loads in zip(*pairs, strict=True))
            ratios = list(map(operator.truediv, many_scans_ms, few_scans_ms))
            table.row(
                "GET scans",
                ratios,
                many_scans_ms,
                few_scans_ms,
                most=(MAX_MANY_RATIO,),
            )


def _compare_with_bare_view(table: Table, port: int, requests: list[Request]) -> None:
    table.head("beside a bare view", "of the bare", "a second", "p50 ms", "p99 ms", "bare")
    for request in requests:
        method = request.content.split()[0].decode()
        pairs = _load_alternately(port, request.content, _request(method, f"/bare/{request.bare}"))
        table.row(
            request.name,
            [ours.per_second / bare.per_second for ours, bare in pairs],
            [ours.per_second for ours, _ in pairs],
            [ours.p50_ms for ours, _ in pairs],
            [ours.p99_ms for ours, _ in pairs],
            [bare.per_second for _, bare in pairs],
            least=request.min_bare_ratio,
        )


def _processor_time(table: Table, port: int, web: psutil.Process, requests: list[Request]) -> None:
    """Measure all requests alternately, so that other load on the machine affects all of them equally."""
    cpu_ms: dict[str, list[float]] = {request.name: [] for request in requests}
    for _ in range(ROUNDS):
        for request in requests:
            start_s = cpu_s(web)
            responses = _load(port, request.content, ROUND_DURATION_S).requests
            cpu_ms[request.name].append((cpu_s(web) - start_s) * 1000 / responses)
    table.head(f"processor time of a request, {ROUNDS} rounds", "CPU ms", "least CPU ms")
    for request in requests:
        figures = cpu_ms[request.name]
        table.row(request.name, figures, min(figures), most=request.max_cpu_goals)
    ratios = list(map(operator.truediv, cpu_ms["GET scan"], cpu_ms["GET scans"]))
    table.head("polling beside the list", "ratio")
    table.row("GET scan", ratios, most=(MAX_LIST_RATIO,))


def _load_alternately(port: int, first_request: bytes, second_request: bytes) -> list[tuple[Load, Load]]:
    """Run both loads alternately, so that other load on the machine affects both equally."""
    for request in (first_request, second_request):
        _load(port, request, WARM_UP_DURATION_S)
    return [
        (_load(port, first_request, ROUND_DURATION_S), _load(port, second_request, ROUND_DURATION_S))
        for _ in range(ROUNDS)
    ]


def _request(method: str, path: str, key: str = "", body: bytes = b"") -> bytes:
    lines = [f"{method} {path} HTTP/1.1", "Host: 127.0.0.1"]
    lines += [f"Authorization: Bearer {key}"] if key else []
    lines += ["Content-Type: application/json", f"Content-Length: {len(body)}"] if body else []
    return "\r\n".join([*lines, "", ""]).encode() + body


def _body(port: int, request: bytes) -> bytes:
    """Return the response body for a request that must succeed."""
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.sendall(request)
        response = http.client.HTTPResponse(connection)
        response.begin()
        body = response.read()
        assert response.status in (200, 201), (response.status, body)
        return body


def _load(port: int, request: bytes, seconds: float) -> Load:
    """Send `request` repeatedly for `seconds`, over CONNECTIONS connections from this process."""

    async def all_connections() -> list[float]:
        deadline = time.perf_counter() + seconds
        loads = await asyncio.gather(*(_connection(port, request, deadline) for _ in range(CONNECTIONS)))
        return [second for times in loads for second in times]

    start = time.perf_counter()
    times = asyncio.run(all_connections())
    elapsed_s = time.perf_counter() - start
    percentiles = statistics.quantiles(times, n=100)
    return Load(len(times), len(times) / elapsed_s, percentiles[49] * 1000, percentiles[98] * 1000)


async def _connection(port: int, request: bytes, deadline: float) -> list[float]:
    """Send requests over one connection until `deadline`. Return how many seconds every response took."""
    times = []
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    while (start := time.perf_counter()) < deadline:
        writer.write(request)
        head = await reader.readuntil(b"\r\n\r\n")
        assert head[9:12] in (b"200", b"201"), head
        length = re.search(rb"\r\ncontent-length: *(\d+)", head, re.IGNORECASE)
        await reader.readexactly(int(length[1]) if length else 0)
        times.append(time.perf_counter() - start)
        if b"connection: close" in head.lower():
            writer.close()
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.close()
    await writer.wait_closed()
    return times
