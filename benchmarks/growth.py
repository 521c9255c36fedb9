"""Benchmark how the cost of a scan, of pages and of API calls grows with the number of stored scans.

An organization of each size is measured in a database that has the scans of all smaller ones. Processor time is that of
the application and of its PostgreSQL process. The largest organization needs 1 kB of disk space for each scan.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping

from django.db import connection
from django.test import Client
from msgspec import Struct

from benchmarks.seed import Seeded, create_organization
from benchmarks.service import Service
from benchmarks.sites import run_slow_site
from benchmarks.table import Table
from benchmarks.usage import scheduled_ms
from scans.models import Scan
from scans.visits.claims import claim_next, finish_scan, renew_claim
from scans.visits.queue import Worker
from tests.factories import browser_of, person_of
from tests.populated import real_result
from tests.queries import counted
from website_scan.findings import ScanType
from website_scan.result import Progress, ScanResult

SIZES, FULL_SIZE = (1_000, 100_000), 10_000_000
HOSTS = 997
WARM_UPS, ROUNDS = 3, 11
RENEWALS = 6  # A scan of a minute renews its lease so often.
# Ratio of a figure with the most scans to the same figure with the fewest, and the milliseconds that noise may add.
MAX_GROWTH, NOISE_MS = 1.5, 3.0
# The smallest organization has fewer scans than these pages show or search: 10,000 for a text, 20 for a site.
LIMITED_PAGES, MAX_LIMITED_GROWTH = ("scans, a text", "scans, a text nowhere", "a site"), 4.0

Action = Callable[[], None]


class Cost(Struct, frozen=True):
    """Cost of an action: queries, and samples of the processor milliseconds of the application and of PostgreSQL."""

    queries: int
    application_ms: list[float]
    database_ms: list[float]

    @property
    def total_ms(self) -> list[float]:
        return [sum(pair) for pair in zip(self.application_ms, self.database_ms, strict=True)]


def measure(table: Table, share: float, service: Service) -> None:
    sizes = sorted({*SIZES, max(SIZES[-1], round(FULL_SIZE * share))})
    result = real_result(ScanType.SECURITY)
    fewest_ms: dict[str, float] = {}
    with run_slow_site(0) as (url, _):
        for size in sizes:
            start = time.monotonic()
            seeded = create_organization(f"Growth {size}", size, HOSTS)
            pid, database_gb = _prepared_database()
            stored, seconds = Scan.objects.count(), time.monotonic() - start
            print(f"\n{stored:,} scans: {seconds:,.0f} s to create, {database_gb:,.1f} GB", flush=True)
            _measure_actions(table, _actions(seeded, size, url, result), size, pid, fewest_ms)


def _prepared_database() -> tuple[int, float]:
    """Update the statistics. Return the process of this connection, and the size of the database in gigabytes."""
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")  # Autovacuum would also update the statistics.
        cursor.execute("SET max_parallel_workers_per_gather = 0")  # Other processes' time would be missing.
        cursor.execute("SELECT pg_backend_pid(), pg_database_size(current_database())")
        pid, database_bytes = cursor.fetchone()
    return pid, database_bytes / 1e9


def _measure_actions(
    table: Table, actions: Mapping[str, Action], size: int, pid: int, fewest_ms: dict[str, float]
) -> None:
    """Measure actions and print them beside `fewest_ms`, the times with the fewest scans, which the first call sets."""
    table.head(f"{size:,} scans", "ratio", "CPU ms", "application", "database ms", "queries")
    for name, action in actions.items():
        cost = _cost(action, pid)
        total_ms = statistics.median(cost.total_ms)
        first_ms = fewest_ms.setdefault(name, total_ms)
        max_growth = MAX_LIMITED_GROWTH if name in LIMITED_PAGES else MAX_GROWTH
        table.row(
            name,
            total_ms / first_ms,
            cost.total_ms,
            cost.application_ms,
            cost.database_ms,
            cost.queries,
            most=(max(max_growth, 1 + NOISE_MS / first_ms),),
        )


def _cost(action: Action, pid: int) -> Cost:
    for _ in range(WARM_UPS):
        action()
    with counted() as queries:
        action()
    cost = Cost(len(queries), [], [])
    for _ in range(ROUNDS):
        application_s, database_ms = time.thread_time(), scheduled_ms(pid)
        action()
        cost.application_ms.append((time.thread_time() - application_s) * 1000)
        cost.database_ms.append(scheduled_ms(pid) - database_ms)
    return cost


def _actions(seeded: Seeded, size: int, url: str, result: ScanResult) -> dict[str, Action]:
    """Return what is measured, by name: a scan, pages, and API calls."""
    member = seeded.member
    api = Client(headers={"Authorization": f"Bearer {member.plaintext}"})
    browser = browser_of(person_of(member, "owner", f"{size}@growth.test"))
    home = f"/o/{member.organization.slug}/"
    old_scan = Scan.objects.filter(organization=member.organization).order_by("created_at")[size // 20]
    deep = f"before={int(old_scan.created_at.timestamp()) * 1_000_000}_{old_scan.id}"
    pages = {
        "overview": home,
        "scans": f"{home}scans/",
        "scans, deep page": f"{home}scans/?{deep}",
        "scans of a type and status": f"{home}scans/?type=seo&status=completed",
        "scans, a text": f"{home}scans/?q=12.example.com",
        "scans, a text nowhere": f"{home}scans/?q=nowhere",
        "sites": f"{home}sites/",
        "sites, deep page": f"{home}sites/?after=7.example.com",
        "sites, a text nowhere": f"{home}sites/?q=nowhere",
        "a site": f"{home}sites/12.example.com",
        "monitors": f"{home}monitors/",
        "lists": f"{home}lists/",
        "activity log": f"{home}activity/",
        "usage and settings": f"{home}settings/",
        "a report": f"/report/{seeded.scan_id}",
    }
    calls = {
        "GET scans": "/v1/scans",
        "GET scans of a type": "/v1/scans?type=seo&limit=100",
        "GET scans, deep": f"/v1/scans?limit=100&offset={size * 9 // 10}",
        "GET scan": f"/v1/scan/{seeded.scan_id}",
        "GET report": f"/v1/report/{seeded.scan_id}",
        "GET audits": "/v1/audits",
        "GET monitors": "/v1/monitors",
    }
    return {
        "a scan, from its request to its report": lambda: _scan(api, url, result),
        **{name: _get(browser, path) for name, path in pages.items()},
        **{name: _get(api, path) for name, path in calls.items()},
    }


def _get(client: Client, path: str) -> Action:
    def get() -> None:
        response = client.get(path)
        assert response.status_code == 200, (path, response.status_code)

    return get


def _scan(api: Client, url: str, result: ScanResult) -> None:
    """Request a scan, execute its steps like a worker, without visiting the site, and read its report."""
    answer = api.post("/v1/scan", {"url": url, "type": result.type}, content_type="application/json")
    assert answer.status_code == 201, answer.content
    scan_id = answer.json()["id"]
    claim = claim_next(scan_id, Worker("growth", 100))
    assert claim is not None
    for percent in range(RENEWALS):
        assert renew_claim(claim, Progress(10 * percent, "checking", {}))
    assert finish_scan(claim, result)
    for path in (f"/v1/scan/{scan_id}", f"/v1/report/{scan_id}"):
        assert api.get(path).status_code == 200
