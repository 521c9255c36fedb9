"""Speed of the API: each request compared with a bare Django view that returns the same bytes from the same server."""

from __future__ import annotations

import http.client
import json
import os
import socket
import statistics
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.installation import BASE_DIR, install, servers
from benchmarks.load import Load, load
from tests.e2e.service import free_port
from tests.targets.server import Answer, Site

ROUNDS = 5
ROUND_S = 1.5
FEW, MANY = 1_000, 1_000_000


@dataclass(frozen=True)
class Measured:
    """Measured API request; `goal` is the minimum ratio to its bare view's requests per second, None without a goal."""

    name: str
    request: bytes
    goal: float | None = None


def main() -> int:
    """Print the table; return 1 if a goal was missed."""
    with ExitStack() as cleanup:
        folder, stack = cleanup.enter_context(servers())
        site = cleanup.enter_context(Site({"/": Answer("Hello")}))
        (folder / "bodies").mkdir()
        install(
            folder,
            stack,
            DJANGO_SETTINGS_MODULE="benchmarks.settings",
            BENCHMARK_BODIES=str(folder / "bodies"),
            SCAN_ALLOWED_NETWORKS="127.0.0.0/8",
            SCAN_QUEUE_LIMIT="100000000",
            ALLOWED_HOSTS="127.0.0.1",
        )
        from benchmarks.seed import organization_with

        few, many = organization_with("Few", FEW), organization_with("Many", MANY)
        port = free_port()
        body = json.dumps({"url": f"{site.url}/", "type": "seo"}).encode()
        measured = [
            Measured("GET report", request_of("GET", f"/v1/report/{few.scan_id}", few.key), 0.3),
            Measured("GET scans", request_of("GET", "/v1/scans", few.key), 0.35),
            Measured("GET scan", request_of("GET", f"/v1/scan/{few.scan_id}", few.key)),
            Measured("POST scan", request_of("POST", "/v1/scan", few.key, body)),
        ]
        listing = Measured("GET scans of 1,000,000", request_of("GET", "/v1/scans", many.key))
        with web(port, folder):
            for each in [*measured, listing]:
                name = each.name.replace(" ", "-")
                (folder / "bodies" / name).write_bytes(_answer(port, each.request))
        with web(port, folder):
            missed = _report(port, measured)
            return _report_growth(port, measured[1], listing) or missed


def _report(port: int, measured: list[Measured]) -> int:
    missed = 0
    print(f"{'':24}{'req/s':>8}{'p50 ms':>9}{'p99 ms':>9}   {'bare req/s':>10}{'ratio':>8}")
    for each in measured:
        bare = request_of(each.request.split()[0].decode(), f"/bare/{each.name.replace(' ', '-')}")
        ours, theirs = _side_by_side(port, each.request, bare)
        ratio = statistics.median(a.per_second / b.per_second for a, b in zip(ours, theirs, strict=True))
        median = sorted(ours, key=lambda one: one.per_second)[ROUNDS // 2]
        theirs_per_second = statistics.median(one.per_second for one in theirs)
        verdict = "" if each.goal is None else f"  goal {each.goal}: {'met' if ratio >= each.goal else 'MISSED'}"
        missed |= each.goal is not None and ratio < each.goal
        print(
            f"{each.name:24}{median.per_second:8.0f}{median.p50_ms:9.2f}{median.p99_ms:9.2f}"
            f"   {theirs_per_second:10.0f}{ratio:8.2f}{verdict}"
        )
    return int(missed)


def _report_growth(port: int, few: Measured, many: Measured) -> int:
    small, large = _side_by_side(port, few.request, many.request)
    ratio = statistics.median(b.p50_ms / a.p50_ms for a, b in zip(small, large, strict=True))
    p50_ms = statistics.median(one.p50_ms for one in large)
    verdict = "met" if ratio <= 1.5 else "MISSED"
    print(f"{many.name:24}{'':8}{p50_ms:9.2f}   {ratio:.2f} times that of {FEW:,} scans, goal ≤ 1.5: {verdict}")
    return int(ratio > 1.5)


def _side_by_side(port: int, first: bytes, second: bytes) -> tuple[list[Load], list[Load]]:
    """Run both loads in turns, so that other work of the machine affects both equally."""
    load(port, first, 0.5)
    load(port, second, 0.5)
    ours, theirs = [], []
    for _ in range(ROUNDS):
        ours.append(load(port, first, ROUND_S))
        theirs.append(load(port, second, ROUND_S))
    answered = {status for each in ours + theirs for status in each.statuses}
    assert answered <= {200, 201}, answered
    return ours, theirs


def request_of(method: str, path: str, key: str = "", body: bytes = b"") -> bytes:
    lines = [f"{method} {path} HTTP/1.1", "Host: 127.0.0.1"]
    lines += [f"Authorization: Bearer {key}"] if key else []
    lines += ["Content-Type: application/json", f"Content-Length: {len(body)}"] if body else []
    return "\r\n".join([*lines, "", ""]).encode() + body


def _answer(port: int, request: bytes) -> bytes:
    """Return the body of one response."""
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.sendall(request)
        response = http.client.HTTPResponse(connection)
        response.begin()
        assert response.status in (200, 201), (response.status, response.read())
        return response.read()


@contextmanager
def web(port: int, folder: Path) -> Iterator[None]:
    """Run the web process exactly like `manage.py up`, with the benchmark's URLs."""
    from operations.stack.management.commands.up import programs

    web = next(each for each in programs(folder, port, dict(os.environ)) if each.name == "web")
    process = subprocess.Popen(web.command, cwd=BASE_DIR, env=dict(os.environ))
    try:
        deadline = time.monotonic() + 20
        while True:
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                break
            except OSError:
                assert process.poll() is None, "the web process has ended"
                assert time.monotonic() < deadline, "the web process does not answer"
                time.sleep(0.05)
        yield
    finally:
        process.terminate()
        process.wait(10)
