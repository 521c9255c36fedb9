"""Benchmark the queue: wait times next to a backlog, claim cost, and throughput with several workers.

Runs real workers. Sites with slow responses stand in for slow scans, so that the figures depend on the queue and not on
the processor.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from contextlib import ExitStack
from datetime import datetime, timedelta

import psutil
from django.db import connection
from django.utils import timezone
from msgspec.structs import replace

from accounts.models import Tier
from accounts.services import ensure_organization
from accounts.usage import month_of
from benchmarks.seed import create_organization
from benchmarks.service import Service
from benchmarks.sites import run_slow_site
from benchmarks.table import Table
from scans.models import DomainTurn, Scan, Turn
from scans.visits.claims import claim_next
from scans.visits.overload import queue_age_s, refuse_when_overloaded
from scans.visits.queue import Worker, enqueue, queue_of
from sites.models import Audit
from tests.factories import Member, member_of
from tests.operations.stack.processes import wait_until
from tests.targets.many_pages import shop_site
from tests.targets.server import Answer
from website_scan.findings import ScanType

SLOTS, SLOW_SITE_DELAY_S = 6, 5.0  # Slots of the worker, and the delay of slow sites in seconds.
BACKLOGS = (24, 200)  # Numbers of queued scans of the two organizations with a backlog.
# Pages in the audit, response delay of every page in seconds, and pages to finish before the single scans start.
PAGES, PAGE_DELAY_S, PAGES_BEFORE_SCANS = 1_000, 0.2, 5
SINGLES, MAX_WAIT_S = 5, 2.0  # Number of single scans, and the maximum wait of a single scan in seconds.
ROWS, CLAIMS, WAITING, MAX_CLAIM_RATIO = 1_000_000, 300, 20, 1.5
WORKERS, SLOTS_PER_WORKER, SCANS_PER_WORKER, RESPONSE_DELAY_S, MIN_SPEEDUP = 3, 4, 60, 0.1, 2.4
TIMEOUT_S = 180.0


def measure(table: Table, share: float, service: Service) -> None:
    _measure_wait_next_to_backlogs(table, service)
    _measure_wait_next_to_audit(table, service, max(100, round(PAGES * share)))
    _measure_workers(table, service, max(10, round(SCANS_PER_WORKER * share)))
    _measure_claims(table, round(ROWS * share), max(10, round(CLAIMS * share)))


def _measure_wait_next_to_backlogs(table: Table, service: Service) -> None:
    # The organizations are created first, because a worker gives all slots to an organization that is the only one.
    for number in range(SINGLES):
        _create_queued_scans(f"Single {number}", "", 0)
    # The sites stop before the worker, which otherwise waits for the slow scans.
    with service.worker(SLOTS), run_slow_site(SLOW_SITE_DELAY_S) as (url, _), run_slow_site(0) as (quick, _):
        for number, count in enumerate(BACKLOGS):
            _create_queued_scans(f"Backlog {number}", url, count)
        wait_until(lambda: Scan.objects.filter(status="scanning").count() >= SLOTS - 2, TIMEOUT_S)
        waits = [_wait_for_scan_s(_create_queued_scans(f"Single {number}", quick, 1)[0]) for number in range(SINGLES)]
        queued = Scan.objects.filter(status="queued").count()
        Scan.objects.filter(status="queued").delete()
    table.head("a single scan begins, seconds after its request", "longest wait", "median wait", "waiting")
    table.row("beside two backlogs", max(waits), statistics.median(waits), queued, most=(MAX_WAIT_S,))


def _measure_wait_next_to_audit(table: Table, service: Service, pages: int) -> None:
    with run_slow_site(0) as (quick, _), shop_site(pages, with_sitemap=True) as site:
        for path, route in list(site.routes.items()):
            if isinstance(route, Answer) and not path.endswith((".txt", ".xml")):
                site.routes[path] = replace(route, delay_s=PAGE_DELAY_S)
        audit_member, other_member = _create_member("One", 20), _create_member("Other", 2)
        with service.running("worker", "scheduler"):
            body = {"site": f"{site.url}/", "max_pages": pages, "types": ["security", "seo"]}
            audit_id = audit_member.api.post("/v1/audits", body).json()["id"]
            audit = Audit.objects.filter(id=audit_id)
            wait_until(lambda: audit.filter(pages_done__gte=PAGES_BEFORE_SCANS).exists(), TIMEOUT_S, poll_s=0.5)
            for name, member in (
                ("of another organization", other_member),
                ("of the audit's organization", audit_member),
            ):
                waits = []
                for _ in range(SINGLES):
                    response = member.api.post("/v1/scan", {"url": quick, "type": "seo"})
                    waits.append(_wait_for_scan_s(response.json()["id"]))
                unfinished_pages = pages - audit.get().pages_done
                table.row(
                    f"beside an audit, {name}",
                    max(waits),
                    statistics.median(waits),
                    unfinished_pages,
                    most=(MAX_WAIT_S,),
                )
            audit_member.api.delete(f"/v1/audits/{audit_id}")


def _measure_workers(table: Table, service: Service, per_worker: int) -> None:
    """Measure the scans per minute with one, two and three workers.

    Every worker has its own host name.
    """
    table.head(f"workers of {SLOTS_PER_WORKER} slots, {per_worker} scans each", "of one", "scans a minute", "idle %")
    rates: list[float] = []
    with run_slow_site(RESPONSE_DELAY_S, others_s=RESPONSE_DELAY_S) as (url, _), ExitStack() as cleanup:
        for number in range(1, WORKERS + 1):
            cleanup.enter_context(service.worker(SLOTS_PER_WORKER, host=f"host{number}"))
            # During the warm-up, each process of the new worker imports its modules.
            _end_times(_create_queued_scans("Scale", url, SLOTS_PER_WORKER * number))
            psutil.cpu_times_percent()
            rates.append(_scans_per_minute(_end_times(_create_queued_scans("Scale", url, per_worker * number))))
            idle = psutil.cpu_times_percent().idle
            goals = (MIN_SPEEDUP,) if number == WORKERS else ()
            table.row(str(number), rates[-1] / rates[0], rates[-1], idle, least=goals)


def _end_times(ids: list[str]) -> list[float]:
    """Wait until the scans have ended, and return their end times in ascending order."""
    rows = Scan.objects.filter(id__in=ids)
    wait_until(lambda: not rows.exclude(status__in=Scan.FINAL).exists(), TIMEOUT_S, poll_s=0.5)
    assert not rows.exclude(status="completed").exists(), set(rows.values_list("status", "error_code"))
    ends = rows.order_by("completed_at").values_list("completed_at", flat=True)
    return [end.timestamp() for end in ends if end is not None]


def _scans_per_minute(ends: list[float]) -> float:
    """Return the scans per minute in the middle part of the run, when all slots are in use."""
    first, last = len(ends) // 5, 4 * len(ends) // 5
    return (last - first) / (ends[last] - ends[first]) * 60


def _measure_claims(table: Table, rows: int, rounds: int) -> None:
    before = _median_claim_ms(rounds)
    create_organization("Many", rows, hosts=1_000)
    table.head(f"beside {rows:,} rows more", "ratio", "ms before", "ms")
    for name, ms in _median_claim_ms(rounds).items():
        table.row(name, ms / before[name], before[name], ms, most=(MAX_CLAIM_RATIO,))


def _median_claim_ms(rounds: int) -> dict[str, float]:
    """Return the median milliseconds for a claim, and for the queries that precede accepting a scan.

    The queue has 200 waiting scans of each of 20 organizations, half of them for one domain that has reached its limit.
    """
    ids: list[str] = []
    for number in range(WAITING):
        ids += _create_queued_scans(f"Waits {number}", "https://full.example.com/", 100, wakes_workers=False)
        ids += _create_queued_scans(f"Waits {number}", f"https://www.example{number}.org/", 100, wakes_workers=False)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE scans_scan, scans_domainturn, scans_turn")
    worker = Worker("bench", 10 * rounds)
    calls: dict[str, Callable[[], object]] = {
        "a claim": lambda: claim_next(ids[0], worker),
        "the queue's age": lambda: queue_age_s("scans"),
        "queries before a scan is accepted": lambda: refuse_when_overloaded([ScanType.SECURITY]),
    }
    times: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            start = time.perf_counter()
            call()
            times[name].append((time.perf_counter() - start) * 1000)
        # The claimed scan ends immediately, so that only the queue changes. The domain's pause starts again.
        Scan.objects.filter(status="scanning").update(status="failed", lease_expires_at=None)
        _pause_domain("example.com")
    Scan.objects.filter(id__in=ids).delete()
    Turn.objects.all().delete()
    return {name: statistics.median(ms) for name, ms in times.items()}


def _pause_domain(domain: str) -> None:
    """Start this domain's pause, as after a visit, and end the pauses of all other domains."""
    DomainTurn.objects.exclude(domain=domain).delete()
    now = timezone.now()
    times: dict[str, datetime] = {"taken_at": now - timedelta(seconds=1), "free_at": now + timedelta(minutes=5)}
    DomainTurn.objects.update_or_create(domain=domain, defaults=times)


def _create_queued_scans(name: str, url: str, count: int, *, wakes_workers: bool = True) -> list[str]:
    """Create queued scans for an organization, and return their IDs."""
    Tier.objects.update(concurrent_scans=1_000_000, scans_per_month=1_000_000)
    organization, period = ensure_organization(name=name), month_of(timezone.now())
    rows = Scan.objects.bulk_create(
        Scan(organization=organization, type="security", url=url, period=period) for _ in range(count)
    )
    for row in rows if wakes_workers else ():
        enqueue(row.id, queue_of(ScanType.SECURITY))
    return [row.id for row in rows]


def _create_member(name: str, slots: int) -> Member:
    """Create an organization with its own tier."""
    tier = Tier.objects.get(name="business")
    tier.pk, tier.name, tier.concurrent_scans = name.lower(), name.lower(), slots
    tier.scans_per_month, tier.pages_per_audit, tier.requests_per_minute = 1_000_000, PAGES, 1_000_000
    tier.save(force_insert=True)
    return member_of(name, tier.name)


def _wait_for_scan_s(scan_id: str) -> float:
    """Wait until a scan has ended, and return the seconds from its creation to its start."""
    wait_until(lambda: Scan.objects.get(id=scan_id).is_final, TIMEOUT_S, poll_s=0.1)
    scan = Scan.objects.get(id=scan_id)
    assert scan.started_at
    return (scan.started_at - scan.created_at).total_seconds()
