"""Cost of the API: each request beside a bare Django view that returns the same bytes from the same server.

Processor time is that of the web processes for one request, without PostgreSQL and Redis.
"""

from __future__ import annotations

import json
import operator
import statistics
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import psutil

from benchmarks.load import Load, body_of, load, request_of
from benchmarks.service import installed
from benchmarks.sites import slow
from benchmarks.table import Table
from benchmarks.usage import cpu_s

ROUNDS, ROUND_S = 6, 0.7
FEW, MANY = 1_000, 1_000_000
# The least requests a second as a share of the bare view's, and how much longer a list of many scans may take.
REPORT, LIST, OF_FEW = 0.3, 0.35, 1.5
# Milliseconds of processor time. Clients poll GET scan: it must cost no more than GET scans, but for what rounds vary.
CPU_MS, OF_LIST = 3.0, 1.1


@dataclass(frozen=True)
class Request:
    """Request of the API, with its name and its goals beside the bare view."""

    name: str
    sent: bytes
    least: tuple[float, ...] = ()
    most_cpu: tuple[float, ...] = ()

    @property
    def bare(self) -> str:
        """Return the name of the file with the answer's bytes, which the bare view sends."""
        return self.name.replace(" ", "-")


def measure(table: Table, share: float) -> None:
    with (
        TemporaryDirectory() as bodies,
        slow(0) as (url, _),
        installed(
            DJANGO_SETTINGS_MODULE="benchmarks.api_settings",
            BENCHMARK_BODIES=bodies,
            SCAN_QUEUE_LIMIT="100000000",
            SCAN_QUEUE_AGE_LIMIT="86400",  # no worker runs
        ) as service,
    ):
        from benchmarks.seed import organization_with

        few, many = organization_with("Few", FEW), organization_with("Many", round(MANY * share))
        order = json.dumps({"url": url, "type": "seo"}).encode()
        requests = [
            Request("GET scans", request_of("GET", "/v1/scans", few.key), (LIST,), (CPU_MS,)),
            Request("GET report", request_of("GET", f"/v1/report/{few.scan_id}", few.key), (REPORT,), (CPU_MS,)),
            Request("GET scan", request_of("GET", f"/v1/scan/{few.scan_id}", few.key), (), (CPU_MS,)),
            Request("POST scan", request_of("POST", "/v1/scan", few.key, order)),
        ]
        with service.running("web"):
            for each in requests:
                (Path(bodies) / each.bare).write_bytes(body_of(service.port, each.sent))
        with service.running("web") as (web,):  # reads the bodies when it starts
            _beside_bare(table, service.port, requests)
            _processor_time(table, service.port, web, requests)
            table.head(f"a list of {round(MANY * share):,} scans", "ratio", "p50 ms", "p50 of 1,000")
            pairs = _side_by_side(service.port, requests[0].sent, request_of("GET", "/v1/scans", many.key))
            few_ms, many_ms = ([each.p50_ms for each in loads] for loads in zip(*pairs, strict=True))
            ratio = statistics.median(map(operator.truediv, many_ms, few_ms))
            table.row("GET scans", ratio, statistics.median(many_ms), statistics.median(few_ms), most=(OF_FEW,))


def _beside_bare(table: Table, port: int, requests: list[Request]) -> None:
    table.head("beside a bare view", "ratio", "a second", "p50 ms", "p99 ms", "bare")
    for each in requests:
        pairs = _side_by_side(port, each.sent, request_of(each.sent.split()[0].decode(), f"/bare/{each.bare}"))
        ratio = statistics.median(ours.per_second / bare.per_second for ours, bare in pairs)
        median = sorted((ours for ours, _ in pairs), key=lambda load: load.per_second)[ROUNDS // 2]
        bare_per_second = statistics.median(bare.per_second for _, bare in pairs)
        table.row(each.name, ratio, median.per_second, median.p50_ms, median.p99_ms, bare_per_second, least=each.least)


def _processor_time(table: Table, port: int, web: psutil.Process, requests: list[Request]) -> None:
    """Measure all requests in turns, so that other work of the machine affects all equally."""
    taken: dict[str, list[float]] = {each.name: [] for each in requests}
    for _ in range(ROUNDS):
        for each in requests:
            began = cpu_s(web)
            answered = load(port, each.sent, ROUND_S).requests
            taken[each.name].append((cpu_s(web) - began) * 1000 / answered)
    table.head(f"processor time of a request, {ROUNDS} rounds", "CPU ms", "least")
    for each in requests:
        table.row(each.name, statistics.median(taken[each.name]), min(taken[each.name]), most=each.most_cpu)
    ratios = map(operator.truediv, taken["GET scan"], taken["GET scans"])
    table.head("polling beside the list", "ratio")
    table.row("GET scan", statistics.median(ratios), most=(OF_LIST,))


def _side_by_side(port: int, first: bytes, second: bytes) -> list[tuple[Load, Load]]:
    """Run both loads in turns, so that other work of the machine affects both equally."""
    for each in (first, second):
        load(port, each, 0.5)
    pairs = [(load(port, first, ROUND_S), load(port, second, ROUND_S)) for _ in range(ROUNDS)]
    answered = {status for pair in pairs for each in pair for status in each.statuses}
    assert answered <= {200, 201}, answered
    return pairs
