"""Growth of the database: cost and disk space of a scan, partitions by month, deletion of an organization.

Scans pass through all states in the database (created, claimed, renewed six times, finished with a report, delivered
to one receiver, polled and read), but without requests to a site: their results come from one real scan of each type.
The figures are extrapolated to more scans than this machine could run.
"""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING

import psutil

from benchmarks.load import load, request_of
from benchmarks.service import Service, installed
from benchmarks.sites import slow
from benchmarks.table import Table
from benchmarks.usage import cpu_s, elsewhere
from tests.targets.sample import sample_site

if TYPE_CHECKING:
    from accounts.authentication import Caller
    from scanner.result import ScanResult
    from tests.targets.server import Site

SCANS, CLIENTS, RENEWALS, POLLS = 800, 4, 6, 4
# Permitted load of a server, which leaves a reserve for VACUUM and other work; and the worst hour beside the mean.
LOADED, PEAK = 0.5, 4.0
MONTH_S = 30 * 86_400
VOLUMES = (1_000_000, 10_000_000, 100_000_000)
WORKER_CPU_S, SCAN_S = 1.2, 8.0  # a scan's mean over the four types with a browser: `make bench ARGS=scans`
TABLES = {
    "scans": ("scans_scan",),
    "reports": ("reports_report",),
    "deliveries": ("webhooks_delivery", "webhooks_event", "webhooks_attempt"),
}
MONTHS_KEPT = {"scans": 12, "reports": 1, "deliveries": 1}
MONTHS, A_MONTH, LOOKUPS = 6, 30_000, 2_000
LEAVING, ROUND_S = 100_000, 2.0
RUN_S = 45  # time limit of a run of the task; the scheduler starts one each minute
GOAL_MINUTES = 15.0


def measure(table: Table, share: float) -> None:
    with (
        sample_site() as site,
        installed(
            SCAN_CA_BUNDLE=str(site.ca_file),
            SCAN_BROWSER="off",
            SCAN_QUEUE_LIMIT="100000000",
            SCAN_QUEUE_AGE_LIMIT="86400",  # no worker runs
        ) as service,
    ):
        _of_a_scan(table, service, site, max(20, round(SCANS * share)))
        _partitions(table, max(100, round(A_MONTH * share)))
        _deletion(table, service, max(1_000, round(LEAVING * share)))


def _of_a_scan(table: Table, service: Service, site: Site, number: int) -> None:
    from benchmarks.seed import results_of
    from scanner.findings import ScanType

    postmaster = psutil.Process(int((service.folder / "postgres" / "postmaster.pid").read_text().split()[0]))
    caller, url, results = _caller(site), site.url_as("localhost") + "/", results_of(site, list(ScanType))
    _run(caller, url, results, number // 8)  # warm-up: connections are open and statements prepared
    sizes, wal, cpu = _sizes(), _wal(), cpu_s(postmaster)
    began = time.monotonic()
    _run(caller, url, results, number)
    _deliver()
    seconds = time.monotonic() - began
    _fetch("CHECKPOINT")
    cpu_of_one, wal_of_one = (cpu_s(postmaster) - cpu) / number, (_wal() - wal) / number
    table.head(f"{number} scans, {CLIENTS} at once", "")
    table.row("a second by this machine, clients included", number / seconds)
    table.row("PostgreSQL's processor for one, ms", cpu_of_one * 1000)
    table.row("write-ahead log of one", _bytes(wal_of_one))
    table.row(f"a second by one core at {LOADED:.0%} load", LOADED / cpu_of_one)
    table.head("bytes of one", "rows", "indexes")
    kept = {}
    for name, after in _sizes().items():
        rows, indexes = ((new - old) / number for new, old in zip(after, sizes[name], strict=True))
        kept[name] = rows + indexes
        table.row(name, round(rows), round(indexes))
    table.head("scans a month", "a second", "worst hour", "PG cores", "log a day", *TABLES, "places", "worker cores")
    for volume in VOLUMES:
        rate = volume / MONTH_S
        disk = (_bytes(kept[name] * volume * MONTHS_KEPT[name]) for name in TABLES)
        peak = rate * PEAK
        cores = peak * cpu_of_one / LOADED
        workers = peak * WORKER_CPU_S / LOADED
        log = _bytes(wal_of_one * volume / 30)
        table.row(f"{volume:,}", rate, peak, cores, log, *disk, round(peak * SCAN_S), workers)


def _caller(site: Site) -> Caller:
    from accounts.models import Tier
    from benchmarks.seed import PLENTY
    from tests.targets.server import Answer
    from tests.world import key_caller, member_of
    from webhooks.services import register_webhook

    Tier.objects.update(scans_per_month=PLENTY, concurrent_scans=PLENTY, webhooks=PLENTY)
    caller = key_caller(member_of("Growth").organization.id)
    site.routes["/hook"] = Answer("ok")
    events = ["scan.completed", "scan.partial", "scan.failed"]
    register_webhook(caller=caller, body={"url": site.url_as("localhost") + "/hook", "events": events})
    return caller


def _run(caller: Caller, url: str, results: tuple[ScanResult, ...], number: int) -> None:
    """Run scans from their creation until their reports are read."""
    from django.db import connection

    from reports.models import Report
    from scanner.result import Progress
    from scans.models import Scan
    from scans.services import create_scan
    from scans.visits import claims
    from scans.visits.queue import Worker

    def one(result: ScanResult) -> None:
        created = create_scan(caller=caller, body={"url": url, "type": str(result.type)}, idempotency_key=None)
        claim = claims.claim_next(str(created.response["id"]), Worker("bench", CLIENTS))
        if claim is None:  # another client has claimed it
            return
        for percent in range(RENEWALS):
            claims.renew_claim(claim, Progress(percent * 15, "checking", {}))
        assert claims.finish_scan(claim, replace(result, type=claim.types[0]))
        for _ in range(POLLS):
            assert Scan.objects.get(id=claim.scan_id).is_final
        assert Report.objects.values_list("body").get(scan_id=claim.scan_id)

    def some(first: int) -> None:
        for each in range(first, number, CLIENTS):
            one(results[each % len(results)])
        connection.close()

    with ThreadPoolExecutor(CLIENTS) as pool:
        list(pool.map(some, range(CLIENTS)))


def _deliver() -> None:
    from webhooks.delivery.dispatch import Dispatcher
    from webhooks.models import Delivery

    dispatcher = Dispatcher()
    while Delivery.objects.filter(status="pending", attempts_made=0).exists():
        dispatcher.deliver_due(time_limit_s=30)


def _sizes() -> dict[str, tuple[int, int]]:
    """Return the bytes on disk by kind of row: tables including TOAST, and their indexes."""
    sizes = {}
    for name, tables in TABLES.items():
        pairs = [_fetch(f"SELECT pg_table_size('{table}'), pg_indexes_size('{table}')")[0] for table in tables]
        sizes[name] = (sum(rows for rows, _ in pairs), sum(indexes for _, indexes in pairs))
    return sizes


def _partitions(table: Table, a_month: int) -> None:
    """Compare reports of some months in the present table and in monthly partitions."""
    table.head(f"{MONTHS} months of {a_month:,} reports", "as they are", "by month", "ratio")
    kept = [_Kept("as_they_are", a_month), _Kept("by_month", a_month)]
    figures: dict[str, Callable[[_Kept], float]] = {
        "rows written a second": _Kept.fill,
        "MB of indexes": _Kept.index_mb,
        "a report found by its scan, microseconds": _Kept.lookup_us,
        "the oldest month deleted, seconds": _Kept.forget,
        "MB of write-ahead log of that": lambda each: each.forgotten_wal / 1e6,
        "MB given back": lambda each: each.given_back / 1e6,
    }
    for name, figure in figures.items():
        plain, parts = (figure(each) for each in kept)
        table.row(name, plain, parts, parts / plain if plain else "")


class _Kept:
    """Copy of the table of reports in a schema of its own; the one called `by_month` is partitioned."""

    def __init__(self, schema: str, a_month: int) -> None:
        self._schema, self._table, self._a_month = schema, f"{schema}.reports_report", a_month
        self._is_partitioned = schema == "by_month"
        self.forgotten_wal = self.given_back = 0
        by = " PARTITION BY RANGE (created_at)" if self._is_partitioned else ""
        _fetch(f"CREATE SCHEMA {schema}")
        _fetch(f"CREATE TABLE {self._table} (LIKE public.reports_report INCLUDING DEFAULTS INCLUDING GENERATED){by}")
        for month in range(MONTHS) if self._is_partitioned else ():
            _fetch(
                f"CREATE TABLE {self._table}_{month} PARTITION OF {self._table}"
                f" FOR VALUES FROM ('{_month(month)}') TO ('{_month(month + 1)}')"
            )
        of_reports = "schemaname = 'public' AND tablename = 'reports_report'"
        for (statement,) in _fetch(f"SELECT indexdef FROM pg_indexes WHERE {of_reports}"):
            # A unique index of a partitioned table must contain the partition key.
            made = str(statement).replace("CREATE UNIQUE INDEX", "CREATE INDEX")
            _fetch(made.replace("public.reports_report", self._table))

    def fill(self) -> float:
        began = time.monotonic()
        for month in range(MONTHS):
            # A fifth of the size of real ones: only the ratio of both layouts matters.
            _fetch(
                f"""
                INSERT INTO {self._table} (id, scan_id, organization_id, body, export, facts, created_at, expires_at)
                SELECT 'rpt_' || id, 'scan_' || id, n % 1000, repeat(id, 60), repeat(id, 120), '{{}}',
                    moment, moment + interval '30 days'
                FROM (
                    SELECT n, md5('{month}-' || n) AS id,
                        '{_month(month)}'::timestamptz + n * interval '27 days' / {self._a_month} AS moment
                    FROM generate_series(1, {self._a_month}) AS n
                ) AS numbered
                """
            )
        seconds = time.monotonic() - began
        _fetch(f"VACUUM ANALYZE {self._table}")
        return MONTHS * self._a_month / seconds

    def index_mb(self) -> float:
        return sum(_fetch(f"SELECT pg_indexes_size('{each}')")[0][0] for each in self._parts()) / 1e6

    def lookup_us(self) -> float:
        from django.db import connection

        query = f"SELECT created_at FROM {self._table} WHERE scan_id = 'scan_' || md5(%s)"
        with connection.cursor() as cursor:
            began = time.perf_counter()
            for number in range(LOOKUPS):
                cursor.execute(query, [f"{number % MONTHS}-{1 + number * 37 % self._a_month}"])
                assert cursor.fetchone()
            return (time.perf_counter() - began) / LOOKUPS * 1e6

    def forget(self) -> float:
        """Delete the oldest month in batches like the nightly task, or drop its partition; return the seconds."""
        size, wal, began = self._bytes(), _wal(), time.monotonic()
        if self._is_partitioned:
            _fetch(f"DROP TABLE {self._table}_0")
        else:
            batch = (
                f"WITH old AS (SELECT ctid FROM {self._table} WHERE created_at < '{_month(1)}' LIMIT 5000),"
                f" gone AS (DELETE FROM {self._table} WHERE ctid = ANY(ARRAY(SELECT ctid FROM old)) RETURNING 1)"
                " SELECT count(*) FROM gone"
            )
            while _fetch(batch)[0][0]:
                pass
            _fetch(f"VACUUM {self._table}")
        seconds = time.monotonic() - began
        self.forgotten_wal, self.given_back = _wal() - wal, size - self._bytes()
        return seconds

    def _bytes(self) -> int:
        return sum(_fetch(f"SELECT pg_total_relation_size('{each}')")[0][0] for each in self._parts())

    def _parts(self) -> list[str]:
        """Return the tables that hold rows."""
        of_schema = f"relnamespace = '{self._schema}'::regnamespace AND relkind = 'r'"
        return [str(each) for (each,) in _fetch(f"SELECT oid::regclass::text FROM pg_class WHERE {of_schema}")]


def _deletion(table: Table, service: Service, scans: int) -> None:
    """Delete an organization with many scans and all that hangs on them, while another one scans and reads."""
    from accounts.closing.services import close_organization
    from accounts.models import Organization
    from benchmarks.seed import hang_on, organization_with

    leaving, other = (organization_with(name, scans) for name in ("Leaving", "Other"))
    for each in (leaving, other):
        hang_on(each, scans)
    with slow(0) as (url, _), service.running("web"):
        body = json.dumps({"url": url, "type": "seo"}).encode()
        requests = {
            "GET scans": request_of("GET", "/v1/scans", other.key),
            "GET report": request_of("GET", f"/v1/report/{other.scan_id}", other.key),
            "POST scan": request_of("POST", "/v1/scan", other.key, body),
        }
        usual = {name: load(service.port, request, ROUND_S) for name, request in requests.items()}
        during = {name: [] for name in requests}
        close_organization(Organization.objects.get(id=leaving.organization_id))
        with elsewhere(_delete) as deletion:
            while not deletion.poll():
                for name, request in requests.items():
                    during[name].append(load(service.port, request, ROUND_S))
            runs, work_s = deletion.recv()
    assert not Organization.objects.filter(id=leaving.organization_id).exists()
    table.head(f"an organization with {scans:,} scans is deleted", "minutes", "work, s", "runs")
    # The scheduler starts a run each minute, the first two minutes after the closing.
    table.row("gone after", 2 + (runs - 1) + work_s % RUN_S / 60, work_s, runs, most=(GOAL_MINUTES,))
    table.head("others meanwhile", "5xx", "p50 ms", "p99 ms", "p50 before", "p99 before")
    for name, loads in during.items():
        errors = sum(status >= 500 for each in loads for status in each.statuses)
        p50_ms, p99_ms = statistics.median(each.p50_ms for each in loads), max(each.p99_ms for each in loads)
        table.row(name, errors, p50_ms, p99_ms, usual[name].p50_ms, usual[name].p99_ms, most=(0,))


def _delete(pipe: Connection) -> None:
    """Delete what was closed like the periodic task, without the idle time between runs."""
    import django

    django.setup()
    from django.utils import timezone

    from accounts.closing.deletion import GRACE, delete_closed

    began, runs, is_done = time.perf_counter(), 0, False
    while not is_done:
        runs += 1
        is_done = delete_closed(timezone.now() + GRACE + timedelta(seconds=1), RUN_S)
    pipe.send((runs, time.perf_counter() - began))


def _bytes(number: float) -> str:
    for unit in ("B", "KB", "MB", "GB"):
        if number < 1000:
            return f"{number:.0f} {unit}"
        number /= 1000
    return f"{number:.1f} TB"


def _month(number: int) -> str:
    return f"2026-{1 + number:02}-01"


def _wal() -> int:
    return int(_fetch("SELECT pg_current_wal_lsn() - '0/0'::pg_lsn")[0][0])


def _fetch(statement: str) -> list[tuple[int, ...]]:
    """Execute a statement outside a transaction, because VACUUM cannot run in one; return its rows."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(statement)
        return cursor.fetchall() if cursor.description else []
