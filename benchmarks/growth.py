"""Capacity of one PostgreSQL server: cost and disk space of a scan, and the effect of partitions by month.

Scans pass through all states in the database (created, claimed, renewed six times, finished with a report, delivered
to one receiver, polled and read), but without requests to a site: their results come from one real scan of each type.
The figures are extrapolated to more scans than this machine could run. Then rows of some months are stored once without
and once with partitions, and one month is deleted.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from ipaddress import ip_network
from typing import TYPE_CHECKING

import psutil

from benchmarks.installation import install, servers
from tests.targets.sample import sample_site

if TYPE_CHECKING:
    from accounts.authentication import Caller
    from scanner.result import ScanResult
    from tests.targets.server import Site

SCANS = 800
CLIENTS = 4
RENEWALS = 6
POLLS = 4
MONTHS, A_MONTH = 6, 30_000
LOOKUPS = 2_000
# Permitted load of a server, which leaves a reserve for VACUUM and other work.
LOADED = 0.5
PEAK = 4.0  # the worst hour beside the mean of a month
MONTH_S = 30 * 86_400
VOLUMES = (1_000_000, 10_000_000, 100_000_000)
SCANS_KEPT_MONTHS = 12
WORKER_CPU_S, SCAN_S = 1.2, 8.0  # a scan's mean over the four types with a browser: `make bench ARGS="scans browser"`
TABLES = {
    "scans": ("scans_scan",),
    "reports": ("reports_report",),
    "deliveries": ("webhooks_delivery", "webhooks_event", "webhooks_attempt"),
}


@dataclass(frozen=True)
class Cost:
    """PostgreSQL's cost of one scan: processor seconds, bytes of write-ahead log, bytes on disk by kind of row."""

    cpu_s: float
    wal: float
    kept: dict[str, tuple[float, float]]  # tables including TOAST, and their indexes


def main() -> int:
    """Print the tables; there is no goal: the figures help operators to plan capacity."""
    with ExitStack() as cleanup:
        folder, stack = cleanup.enter_context(servers())
        site = cleanup.enter_context(sample_site())
        networks, ca_bundle = "127.0.0.0/8", str(site.ca_file)
        install(
            folder, stack, SCAN_ALLOWED_NETWORKS=networks, SCAN_CA_BUNDLE=ca_bundle, SCAN_BROWSER="off", ACCESS_LOG="0"
        )
        postmaster = psutil.Process(int((folder / "postgres" / "postmaster.pid").read_text().split()[0]))
        cost = _cost(site, postmaster)
        _tell(cost)
        _partitions()
    return 0


def _cost(site: Site, postmaster: psutil.Process) -> Cost:
    caller = _caller(site)
    results = _results(site)
    url = site.url_as("localhost") + "/"
    _run(caller, url, results, 100)  # warm-up: connections are open and statements prepared
    before = _sizes(), _wal(), _cpu_s(postmaster)
    began = time.monotonic()
    _run(caller, url, results, SCANS)
    _deliver()
    seconds = time.monotonic() - began
    _fetch("CHECKPOINT")
    after = _sizes(), _wal(), _cpu_s(postmaster)
    print(f"{SCANS} scans, {CLIENTS} at once: {SCANS / seconds:.0f} a second by this machine, clients included")
    kept = {
        name: tuple((new - old) / SCANS for old, new in zip(before[0][name], after[0][name], strict=True))
        for name in TABLES
    }
    return Cost((after[2] - before[2]) / SCANS, (after[1] - before[1]) / SCANS, kept)  # type: ignore[arg-type]  # pairs


def _caller(site: Site) -> Caller:
    from django.db import connection

    from accounts.authentication import Caller
    from accounts.keys.services import create_api_key
    from accounts.models import Tier
    from accounts.services import ensure_organization
    from accounts.usage import TierLimits
    from tests.targets.server import Answer
    from webhooks.services import register_webhook

    plenty = 100_000_000
    Tier.objects.update(scans_per_month=plenty, concurrent_scans=plenty, requests_per_minute=plenty, webhooks=3)
    organization = ensure_organization(name="Growth")
    key, _ = create_api_key(organization=organization, name="bench")
    site.routes["/hook"] = Answer("ok")
    caller = Caller(key.id, organization.id, TierLimits(plenty, plenty, "free", 10, 30), plenty, 3)
    register_webhook(
        caller=caller,
        body={"url": site.url_as("localhost") + "/hook", "events": ["scan.completed", "scan.partial", "scan.failed"]},
    )
    connection.close()
    return caller


def _results(site: Site) -> list[ScanResult]:
    from scanner.findings import ScanType
    from scanner.net.client import Network
    from scanner.net.policy import Policy
    from scanner.net.targets import parse_target
    from scanner.result import Budget
    from scanner.run import scan

    policy = Policy(allowed_networks=(ip_network("127.0.0.0/8"),), ca_bundle=site.ca_file)
    target = parse_target(site.url_as("localhost") + "/", policy)
    with Network(policy) as network:
        return list(scan(target, list(ScanType), network, Budget()))


def _run(caller: Caller, url: str, results: list[ScanResult], number: int) -> None:
    from django.db import connection

    def some(share: int) -> None:
        for each in range(share, number, CLIENTS):
            _one(caller, url, results[each % len(results)])
        connection.close()

    with ThreadPoolExecutor(CLIENTS) as pool:
        list(pool.map(some, range(CLIENTS)))


def _one(caller: Caller, url: str, result: ScanResult) -> None:
    """Run one scan from its creation until its report is read."""
    from dataclasses import replace

    from reports.models import Report
    from scanner.result import Progress
    from scans.models import Scan
    from scans.services import create_scan
    from scans.visits import claims
    from scans.visits.queue import Worker

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


def _deliver() -> None:
    from webhooks.delivery.dispatch import Dispatcher
    from webhooks.models import Delivery

    dispatcher = Dispatcher()
    while Delivery.objects.filter(status="pending", attempts_made=0).exists():
        dispatcher.deliver_due(time_limit_s=30)


def _sizes() -> dict[str, tuple[int, int]]:
    sizes = {}
    for name, tables in TABLES.items():
        pairs = [_fetch(f"SELECT pg_table_size('{table}'), pg_indexes_size('{table}')")[0] for table in tables]
        sizes[name] = (sum(rows for rows, _ in pairs), sum(indexes for _, indexes in pairs))
    return sizes


def _wal() -> int:
    return int(_fetch("SELECT pg_current_wal_lsn() - '0/0'::pg_lsn")[0][0])


def _cpu_s(postmaster: psutil.Process) -> float:
    """Return the processor seconds of the server and its running and ended child processes."""
    used = 0.0
    for each in [postmaster, *postmaster.children(recursive=True)]:
        times = each.cpu_times()
        used += times.user + times.system
    ended = postmaster.cpu_times()
    return used + float(ended.children_user + ended.children_system)


def _tell(cost: Cost) -> None:
    print(
        f"PostgreSQL, one scan: {cost.cpu_s * 1000:.1f} ms of processor, {cost.wal / 1024:.0f} KiB of write-ahead log;"
        f" one core carries {LOADED / cost.cpu_s:.0f} a second at {LOADED:.0%} load"
    )
    for name, (rows, indexes) in cost.kept.items():
        print(f"  {name}: {rows:,.0f} bytes and {indexes:,.0f} of indexes for each scan")
    print(f"{'scans a month':>16}{'a second':>10}{'worst hour':>12}{'PG cores':>10}{'log a day':>11}", end="")
    print("".join(f"{name:>12}" for name in TABLES), f"{'places':>8}{'worker cores':>14}")
    months = {"scans": SCANS_KEPT_MONTHS, "reports": 1, "deliveries": 1}
    for volume in VOLUMES:
        rate = volume / MONTH_S
        sizes = {name: sum(cost.kept[name]) * volume * months[name] for name in TABLES}
        print(
            f"{volume:>16,}{rate:>10.2f}{rate * PEAK:>12.1f}{rate * PEAK * cost.cpu_s / LOADED:>10.2f}"
            f"{_bytes(cost.wal * volume / 30):>11}" + "".join(f"{_bytes(each):>12}" for each in sizes.values()),
            f"{rate * PEAK * SCAN_S:>8.0f}{rate * PEAK * WORKER_CPU_S / LOADED:>14.1f}",
        )
    sys.stdout.flush()


def _bytes(number: float) -> str:
    for unit in ("B", "KB", "MB", "GB"):
        if number < 1000:
            return f"{number:.0f} {unit}"
        number /= 1000
    return f"{number:.1f} TB"


def _partitions() -> None:
    """Compare scans and reports of some months in the present tables and in monthly partitions."""
    print(f"\n{MONTHS} months of {A_MONTH:,} scans with reports{'':8}{'as they are':>14}{'by month':>12}")
    plain, parts = _Kept(partitioned=False), _Kept(partitioned=True)
    figures: dict[str, Callable[[_Kept], str]] = {
        "rows written a second": lambda kept: f"{kept.fill():,.0f}",
        "indexes": lambda kept: _bytes(kept.index_bytes()),
        "a scan found by its ID, microseconds": lambda kept: f"{kept.lookup_us():.0f}",
        "the newest 20 of an organization, microseconds": lambda kept: f"{kept.newest_us():.0f}",
        "the oldest month gone, seconds": lambda kept: f"{kept.forget():.2f}",
        "write-ahead log of that": lambda kept: _bytes(kept.forgotten_wal),
        "disk given back": lambda kept: _bytes(kept.given_back),
    }
    for what, figure in figures.items():
        print(f"{what:56}{figure(plain):>12}{figure(parts):>12}", flush=True)


class _Kept:
    """Copies of the two tables in a separate schema."""

    def __init__(self, *, partitioned: bool) -> None:
        self._schema = "by_month" if partitioned else "as_they_are"
        self._partitioned = partitioned
        self.forgotten_wal = self.given_back = 0
        _fetch(f"CREATE SCHEMA {self._schema}")
        for table, moment in (("scans_scan", "created_at"), ("reports_report", "created_at")):
            copy = f"{self._schema}.{table}"
            by = f" PARTITION BY RANGE ({moment})" if partitioned else ""
            _fetch(f"CREATE TABLE {copy} (LIKE public.{table} INCLUDING DEFAULTS INCLUDING GENERATED){by}")
            for month in range(MONTHS) if partitioned else ():
                _fetch(
                    f"CREATE TABLE {copy}_{month} PARTITION OF {copy}"
                    f" FOR VALUES FROM ('{_month(month)}') TO ('{_month(month + 1)}')"
                )
            for (statement,) in _fetch(
                f"SELECT indexdef FROM pg_indexes WHERE schemaname = 'public' AND tablename = '{table}'"
            ):
                # A unique index of a partitioned table must contain the partition key.
                made = statement.replace("CREATE UNIQUE INDEX", "CREATE INDEX").replace(f"public.{table}", copy)
                _fetch(made)

    def fill(self) -> float:
        began = time.monotonic()
        for month in range(MONTHS):
            start = _month(month)
            _fetch(
                f"""
                INSERT INTO {self._schema}.scans_scan (
                    id, organization_id, type, url, status, score, grade, created_at, started_at, completed_at,
                    period, percent, phase, checks_done, checks_total, skipped_checks, error_code, error_message,
                    enqueued_at, attempts
                )
                SELECT 'scan_' || substr(md5('{month}-' || n), 1, 22), n % 1000,
                    (ARRAY['security', 'performance', 'accessibility', 'seo'])[1 + n % 4],
                    'https://' || n % 5000 || '.example.com/page/' || n % 100, 'completed', n % 101, 'B',
                    moment, moment, moment, '{start}', 100, 'done', 60, 60, '[]', '', '', moment, 1
                FROM (
                    SELECT n, '{start}'::timestamptz + n * interval '27 days' / {A_MONTH} AS moment
                    FROM generate_series(1, {A_MONTH}) AS n
                ) AS numbered
                """
            )
            # As many reports as scans, a fifth of the size of real ones: only the ratio of both layouts matters.
            _fetch(
                f"""
                INSERT INTO {self._schema}.reports_report
                    (id, scan_id, organization_id, body, export, facts, created_at, expires_at)
                SELECT 'rpt_' || substr(id, 6), id, organization_id, repeat(md5(id), 60), repeat(md5(id), 120), '{{}}',
                    created_at, created_at + interval '30 days'
                FROM {self._schema}.scans_scan WHERE created_at >= '{start}' AND created_at < '{_month(month + 1)}'
                """
            )
        seconds = time.monotonic() - began
        for table in ("scans_scan", "reports_report"):
            _fetch(f"VACUUM ANALYZE {self._schema}.{table}")
        return 2 * MONTHS * A_MONTH / seconds

    def index_bytes(self) -> int:
        return int(
            _fetch(
                "SELECT sum(pg_relation_size(indexrelid)) FROM pg_stat_all_indexes"
                f" WHERE schemaname = '{self._schema}' AND (relname LIKE 'scans%' OR relname LIKE 'reports%')"
            )[0][0]
        )

    def lookup_us(self) -> float:
        return self._mean_us(
            f"SELECT status FROM {self._schema}.scans_scan WHERE id = 'scan_' || substr(md5(%s), 1, 22)",
            lambda n: f"{n % MONTHS}-{1 + n * 37 % A_MONTH}",
        )

    def newest_us(self) -> float:
        return self._mean_us(
            f"SELECT id FROM {self._schema}.scans_scan WHERE organization_id = %s"
            " ORDER BY created_at DESC, id DESC LIMIT 20",
            lambda n: n % 1000,
        )

    def forget(self) -> float:
        """Delete the oldest month in batches like the nightly task, or drop its partition; return the seconds."""
        size, wal, began = self._bytes(), _wal(), time.monotonic()
        for table in ("reports_report", "scans_scan"):
            copy = f"{self._schema}.{table}"
            if self._partitioned:
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
        self.forgotten_wal, self.given_back = _wal() - wal, size - self._bytes()
        return seconds

    def _bytes(self) -> int:
        return int(
            _fetch(
                "SELECT sum(pg_total_relation_size(oid)) FROM pg_class"
                f" WHERE relnamespace = '{self._schema}'::regnamespace AND relkind = 'r'"
            )[0][0]
        )

    def _mean_us(self, statement: str, argument: Callable[[int], object]) -> float:
        from django.db import connection

        with connection.cursor() as cursor:
            began = time.perf_counter()
            for number in range(LOOKUPS):
                cursor.execute(statement, [argument(number)])
                cursor.fetchall()
            return (time.perf_counter() - began) / LOOKUPS * 1e6


def _month(number: int) -> str:
    return f"2026-{1 + number:02}-01"


def _fetch(statement: str) -> list[tuple[int, ...]]:
    """Execute a statement outside a transaction, because VACUUM cannot run in one; return its rows."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(statement)
        return cursor.fetchall() if cursor.description else []
