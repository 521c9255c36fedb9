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

from benchmarks.load import Load, load, request_of
from benchmarks.service import Service, installed
from benchmarks.sites import slow
from benchmarks.table import Table
from benchmarks.usage import cpu_s, elsewhere
from tests.targets.sample import sample_site

if TYPE_CHECKING:
    from accounts.authentication import Caller
    from tests.targets.server import Site
    from website_scan.result import ScanResult

SCANS, CLIENTS, RENEWALS, POLLS = 800, 4, 6, 4
# Permitted load of a server, which leaves a reserve for VACUUM and other work; and the worst hour beside the mean.
LOADED, PEAK = 0.5, 4.0
MONTH_S = 30 * 86_400
VOLUMES = (1_000_000, 10_000_000, 100_000_000)
# Processor seconds: a quarter of four separate scans with a browser (`make bench ARGS=scans`). Seconds: assumed.
WORKER_CPU_S, SCAN_S = 1.1, 8.0
TABLES = {
    "scans": ("scans_scan",),
    "reports": ("reports_report",),
    "deliveries": ("webhooks_delivery", "webhooks_event", "webhooks_attempt"),
    "activity log": ("accounts_activityevent",),
}
MONTHS_KEPT = {"scans": 12, "reports": 1, "deliveries": 1, "activity log": 12}
MONTHS, A_MONTH, LOOKUPS = 6, 30_000, 2_000
COPIED = ("reports_report", "scans_scan")
OF_A_MONTH = (
    """
    INSERT INTO {schema}.scans_scan (
        id, organization_id, type, url, status, score, grade, created_at, started_at, completed_at,
        period, percent, phase, checks_done, checks_total, skipped_checks, error_code, error_message,
        enqueued_at, attempts
    )
    SELECT 'scan_' || substr(md5('{month}-' || n), 1, 22), n % 1000,
        (ARRAY['security', 'performance', 'accessibility', 'seo'])[1 + n % 4],
        'https://' || n % 5000 || '.example.com/page/' || n % 100, 'completed', n % 101, 'B',
        moment, moment, moment, '{start}', 100, 'done', 60, 60, '[]', '', '', moment, 1
    FROM (
        SELECT n, '{start}'::timestamptz + n * interval '27 days' / {a_month} AS moment
        FROM generate_series(1, {a_month}) AS n
    ) AS numbered
    """,
    # A fifth of the size of real ones: only the ratio of both layouts matters.
    """
    INSERT INTO {schema}.reports_report
        (id, scan_id, organization_id, body, export, facts, created_at, expires_at)
    SELECT 'rpt_' || substr(id, 6), id, organization_id, repeat(md5(id), 60), repeat(md5(id), 120), '{{}}',
        created_at, created_at + interval '30 days'
    FROM {schema}.scans_scan WHERE created_at >= '{start}' AND created_at < '{end}'
    """,
)
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
        _of_a_scan(table, service, site, max(200, round(SCANS * share)))
        _partitions(table, max(100, round(A_MONTH * share)))
        _deletion(table, service, max(1_000, round(LEAVING * share)))


def _of_a_scan(table: Table, service: Service, site: Site, number: int) -> None:
    from benchmarks.seed import results_of
    from website_scan.findings import ScanType

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
    from scans.policy import scan_policy
    from tests.targets.server import Answer
    from tests.world import key_caller, member_of
    from webhooks.requests import WebhookRequest
    from webhooks.services import register_webhook
    from website_scan.net.targets import parse_target

    Tier.objects.update(scans_per_month=PLENTY, concurrent_scans=PLENTY, webhooks=PLENTY)
    caller = key_caller(member_of("Growth").organization.id)
    site.routes["/hook"] = Answer("ok")
    events = ["scan.completed", "scan.partial", "scan.failed"]
    target = parse_target(site.url_as("localhost") + "/hook", scan_policy())
    register_webhook(caller=caller, request=WebhookRequest(target, events))
    return caller


def _run(caller: Caller, url: str, results: tuple[ScanResult, ...], number: int) -> None:
    """Run scans from their creation until their reports are read."""
    from django.db import connection

    from reports.models import Report
    from scans.models import Scan
    from scans.policy import scan_policy
    from scans.requests import ScanRequest
    from scans.services import create_scan
    from scans.visits import claims
    from scans.visits.queue import Worker
    from website_scan.net.targets import parse_target
    from website_scan.result import Progress

    def one(result: ScanResult) -> None:
        created = create_scan(caller=caller, request=ScanRequest(parse_target(url, scan_policy()), result.type))
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
    """Compare scans and reports of some months in the present tables and in monthly partitions."""
    table.head(f"{MONTHS} months of {a_month:,} scans with reports", "as they are", "by month", "ratio")
    kept = [_Kept("as_they_are", a_month), _Kept("by_month", a_month)]
    figures: dict[str, Callable[[_Kept], float]] = {
        "rows written a second": _Kept.fill,
        "MB of indexes": lambda each: each.size_mb("indexes"),
        "a scan found by its ID, microseconds": _Kept.lookup_us,
        "the newest 20 of an organization, microseconds": _Kept.newest_us,
        "the oldest month deleted, seconds": _Kept.forget,
        "MB of write-ahead log of that": lambda each: each.forgotten_wal_mb,
        "MB given back": lambda each: each.given_back_mb,
    }
    for name, figure in figures.items():
        plain, parts = (figure(each) for each in kept)
        table.row(name, plain, parts, parts / plain if plain else "")


class _Kept:
    """Copies of both tables in a schema of their own; those in the one called `by_month` are partitioned."""

    def __init__(self, schema: str, a_month: int) -> None:
        self._schema, self._a_month = schema, a_month
        self._is_partitioned = schema == "by_month"
        self.forgotten_wal_mb = self.given_back_mb = 0.0
        _fetch(f"CREATE SCHEMA {schema}")
        by = " PARTITION BY RANGE (created_at)" if self._is_partitioned else ""
        for name in COPIED:
            copy = f"{schema}.{name}"
            _fetch(f"CREATE TABLE {copy} (LIKE public.{name} INCLUDING DEFAULTS INCLUDING GENERATED){by}")
            for month in range(MONTHS) if self._is_partitioned else ():
                _fetch(
                    f"CREATE TABLE {copy}_{month} PARTITION OF {copy}"
                    f" FOR VALUES FROM ('{_month(month)}') TO ('{_month(month + 1)}')"
                )
            of_table = f"schemaname = 'public' AND tablename = '{name}'"
            for (statement,) in _fetch(f"SELECT indexdef FROM pg_indexes WHERE {of_table}"):
                # A unique index of a partitioned table must contain the partition key.
                made = str(statement).replace("CREATE UNIQUE INDEX", "CREATE INDEX")
                _fetch(made.replace(f"public.{name}", copy))

    def fill(self) -> float:
        began = time.monotonic()
        for month in range(MONTHS):
            names = {"schema": self._schema, "month": month, "a_month": self._a_month}
            names |= {"start": _month(month), "end": _month(month + 1)}
            for statement in OF_A_MONTH:
                _fetch(statement.format(**names))
        seconds = time.monotonic() - began
        for name in COPIED:
            _fetch(f"VACUUM ANALYZE {self._schema}.{name}")
        return 2 * MONTHS * self._a_month / seconds

    def lookup_us(self) -> float:
        query = f"SELECT status FROM {self._schema}.scans_scan WHERE id = 'scan_' || substr(md5(%s), 1, 22)"
        return _mean_us(query, lambda n: f"{n % MONTHS}-{1 + n * 37 % self._a_month}")

    def newest_us(self) -> float:
        of_one = f"SELECT id FROM {self._schema}.scans_scan WHERE organization_id = %s"
        return _mean_us(f"{of_one} ORDER BY created_at DESC, id DESC LIMIT 20", lambda n: n % 1000)

    def forget(self) -> float:
        """Delete the oldest month in batches like the nightly task, or drop its partitions; return the seconds."""
        _fetch("CHECKPOINT")
        size_mb, wal, began = self.size_mb("total_relation"), _wal(), time.monotonic()
        for name in COPIED:
            copy = f"{self._schema}.{name}"
            if self._is_partitioned:
                _fetch(f"DROP TABLE {copy}_0")
                continue
            batch = (
                f"WITH old AS (SELECT ctid FROM {copy} WHERE created_at < '{_month(1)}' LIMIT 5000),"
                f" gone AS (DELETE FROM {copy} WHERE ctid = ANY(ARRAY(SELECT ctid FROM old)) RETURNING 1)"
                " SELECT count(*) FROM gone"
            )
            while _fetch(batch)[0][0]:
                pass
            _fetch(f"VACUUM {copy}")
        seconds = time.monotonic() - began
        self.forgotten_wal_mb = (_wal() - wal) / 1e6
        self.given_back_mb = size_mb - self.size_mb("total_relation")
        return seconds

    def size_mb(self, kind: str) -> float:
        of_schema = f"relnamespace = '{self._schema}'::regnamespace AND relkind = 'r'"
        return int(_fetch(f"SELECT sum(pg_{kind}_size(oid)) FROM pg_class WHERE {of_schema}")[0][0]) / 1e6


def _mean_us(query: str, argument: Callable[[int], object]) -> float:
    from django.db import connection

    with connection.cursor() as cursor:
        began = time.perf_counter()
        for number in range(LOOKUPS):
            cursor.execute(query, [argument(number)])
            cursor.fetchall()
        return (time.perf_counter() - began) / LOOKUPS * 1e6


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
        for request in requests.values():  # each process loads modules with its first requests
            load(service.port, request, ROUND_S)
        usual = {name: load(service.port, request, ROUND_S) for name, request in requests.items()}
        during: dict[str, list[Load]] = {name: [] for name in requests}
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
    table.head("others meanwhile", "rounds of 5xx", "p50 ms", "p99 ms", "p50 before", "p99 before")
    for name, loads in during.items():
        errors = sum(any(status >= 500 for status in each.statuses) for each in loads)
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
