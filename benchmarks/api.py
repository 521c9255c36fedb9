"""Speed of the API: each request beside a bare Django view that returns the same bytes from the same server."""

from __future__ import annotations

import json
import statistics
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.load import Load, body_of, load, request_of
from benchmarks.service import installed
from benchmarks.sites import slow
from benchmarks.table import Table

ROUNDS, ROUND_S = 5, 1.5
FEW, MANY = 1_000, 1_000_000
# The least requests a second as a share of the bare view's, and how much longer a list of many scans may take.
REPORT, LIST, OF_FEW = 0.3, 0.35, 1.5


def measure(table: Table, share: float) -> None:
    with TemporaryDirectory() as name, slow(0) as (url, _):
        bodies = Path(name)
        with installed(
            DJANGO_SETTINGS_MODULE="benchmarks.api_settings",
            BENCHMARK_BODIES=name,
            SCAN_QUEUE_LIMIT="100000000",
            SCAN_QUEUE_AGE_LIMIT="86400",  # no worker runs
        ) as service:
            from benchmarks.seed import organization_with

            few, many = organization_with("Few", FEW), organization_with("Many", round(MANY * share))
            order = json.dumps({"url": url, "type": "seo"}).encode()
            requests: dict[str, tuple[bytes, tuple[float, ...]]] = {
                "GET report": (request_of("GET", f"/v1/report/{few.scan_id}", few.key), (REPORT,)),
                "GET scans": (request_of("GET", "/v1/scans", few.key), (LIST,)),
                "GET scan": (request_of("GET", f"/v1/scan/{few.scan_id}", few.key), ()),
                "POST scan": (request_of("POST", "/v1/scan", few.key, order), ()),
            }
            of_many = request_of("GET", "/v1/scans", many.key)
            with service.running("web"):
                for each, (request, _) in requests.items():
                    (bodies / each.replace(" ", "-")).write_bytes(body_of(service.port, request))
            with service.running("web"):  # reads the bodies when it starts
                table.head("beside a bare view", "ratio", "a second", "p50 ms", "p99 ms", "bare")
                for each, (request, least) in requests.items():
                    bare = request_of(request.split()[0].decode(), f"/bare/{each.replace(' ', '-')}")
                    ours, theirs = _side_by_side(service.port, request, bare)
                    ratio = statistics.median(a.per_second / b.per_second for a, b in zip(ours, theirs, strict=True))
                    median = sorted(ours, key=lambda one: one.per_second)[ROUNDS // 2]
                    per_second = statistics.median(one.per_second for one in theirs)
                    table.row(each, ratio, median.per_second, median.p50_ms, median.p99_ms, per_second, least=least)
                table.head("beside a list of 1,000 scans", "ratio", "p50 ms")
                small, large = _side_by_side(service.port, requests["GET scans"][0], of_many)
                ratio = statistics.median(b.p50_ms / a.p50_ms for a, b in zip(small, large, strict=True))
                p50_ms = statistics.median(one.p50_ms for one in large)
                table.row(f"GET scans of {round(MANY * share):,}", ratio, p50_ms, most=(OF_FEW,))


def _side_by_side(port: int, first: bytes, second: bytes) -> tuple[list[Load], list[Load]]:
    """Run both loads in turns, so that other work of the machine affects both equally."""
    for each in (first, second):
        load(port, each, 0.5)
    ours, theirs = [], []
    for _ in range(ROUNDS):
        ours.append(load(port, first, ROUND_S))
        theirs.append(load(port, second, ROUND_S))
    answered = {status for each in ours + theirs for status in each.statuses}
    assert answered <= {200, 201}, answered
    return ours, theirs
