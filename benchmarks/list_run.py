"""Benchmark a run of a list of 20,000 domains. The worker is killed before the end, and another one ends the run.

The domains have signed and unsigned zones, name servers and sites (`benchmarks/registry.py`), and are judged in the
light way of lists, by the categories `names` and `mail`. Figures are means of a site: processor time by program, bytes
between scanner, name servers and sites, and the growth of each table.
"""

from __future__ import annotations

import contextlib
import time
from collections import Counter
from pathlib import Path

import psutil
import requests
from django.db import connection
from django.db.models import Count
from msgspec import Struct

from accounts.models import Tier
from benchmarks.registry import RESOLVER, Domain, run_registry
from benchmarks.service import Service
from benchmarks.table import Table
from benchmarks.usage import cpu_s, memory_mib, process_tree
from infrastructure.redis_client import client as redis
from scans.models import Scan
from sites.models import ListResult, ListRun, SiteList
from tests.factories import member_of
from tests.operations.stack.processes import wait_until

SITES, MIN_SITES = 20_000, 200
SLOTS = 24
CATEGORIES = ["names", "mail"]
IMPORT_LINES = 10_000
KILLED_AT = 0.4  # Share of judged sites at which the worker is killed.
POLL_INTERVAL_S = 2.0
REQUEST_TIMEOUT_S = 120.0
MIN_SITES_PER_S = 1.0
NETWORK_DEVICES = Path("/proc/net/dev")  # Unlike /sys/class/net, it has those of this namespace.
# Tables that grow by fewer bytes for a site are not listed.
MIN_SHOWN_BYTES = 50


class Totals(Struct, frozen=True):
    """Totals since the servers started: CPU seconds by program, bytes on the network, and bytes of the database."""

    cpu_s: dict[str, float]
    network_bytes: int
    wal_bytes: int
    table_bytes: dict[str, int]

    @classmethod
    def current(cls, service: Service, programs: dict[str, psutil.Process], killed_cpu_s: float = 0) -> Totals:
        info = redis.info()
        seconds = {name: cpu_s(process) for name, process in (programs | service.servers(info)).items()}
        seconds["worker"] = seconds.get("worker", 0) + killed_cpu_s
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_current_wal_lsn() - '0/0'::pg_lsn")
            (wal_bytes,) = cursor.fetchone()
            cursor.execute(
                "SELECT relname, pg_total_relation_size(oid) FROM pg_class"
                " WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace"
            )
            table_bytes = dict(cursor.fetchall())
        # PostgreSQL is reached by a Unix socket, and Redis is not part of the internet.
        redis_bytes = info["total_net_input_bytes"] + info["total_net_output_bytes"]
        return cls(seconds, _loopback_bytes() - redis_bytes, int(wal_bytes), table_bytes)


def _loopback_bytes() -> int:
    """Return the number of bytes that have passed the loopback device of this namespace, with all headers."""
    (line,) = [line for line in NETWORK_DEVICES.read_text().splitlines() if line.strip().startswith("lo:")]
    return int(line.partition(":")[2].split()[0])


def measure(table: Table, share: float, service: Service) -> None:
    sites = max(MIN_SITES, round(SITES * share))
    Tier.objects.update(
        list_entries=10 * SITES, lists=10, concurrent_scans=SLOTS, scans_per_month=10 * SITES, requests_per_minute=10**6
    )
    with run_registry() as (ca_file, trust_anchors):
        environment = {
            "SCAN_CA_BUNDLE": str(ca_file),
            "SCAN_NAME_SERVERS": RESOLVER,
            "BENCHMARK_TRUST_ANCHORS": ";".join(trust_anchors),
        }
        with service.running("web", "scheduler", env=environment) as (web, scheduler):
            _measure_run(table, service, {"web": web, "scheduler": scheduler}, environment, sites)


def _measure_run(
    table: Table, service: Service, programs: dict[str, psutil.Process], environment: dict[str, str], sites: int
) -> None:
    with requests.Session() as client:
        client.headers["Authorization"] = f"Bearer {member_of('Registry').plaintext}"
        address, import_s = _import_list(client, f"http://127.0.0.1:{service.port}", sites)
        before, start = Totals.current(service, programs), time.monotonic()
        client.post(f"{address}/runs", timeout=REQUEST_TIMEOUT_S).raise_for_status()
        run = ListRun.objects.get()

        def judged() -> int:
            return ListResult.objects.filter(run=run).exclude(status__in=ListResult.UNFINISHED).count()

        deadline_s = 600 + sites / MIN_SITES_PER_S
        with service.worker(SLOTS, env=environment) as worker:
            wait_until(lambda: judged() >= KILLED_AT * sites, deadline_s, POLL_INTERVAL_S)
            killed_cpu_s = cpu_s(worker)
            _kill(worker)
        killed_at, killed_s = judged(), time.monotonic() - start
        with service.worker(SLOTS, env=environment) as worker:
            wait_until(lambda: not ListRun.objects.filter(ended_at=None).exists(), deadline_s, POLL_INTERVAL_S)
            seconds = time.monotonic() - start
            after = Totals.current(service, programs | {"worker": worker}, killed_cpu_s)
            memory = memory_mib(worker)
    table.head(f"a run of {sites:,} sites", "a second", "seconds")
    table.row("import", sites / import_s, import_s)
    table.row("run", sites / seconds, seconds, least=(MIN_SITES_PER_S,))
    table.row("until the kill", killed_at / killed_s, killed_s)
    _print_results(table, run, sites, killed_at)
    _print_cost(table, before, after, sites)
    table.head("memory of the worker", "MiB")
    table.row(f"{SLOTS} slots", memory)


def _import_list(client: requests.Session, base: str, sites: int) -> tuple[str, float]:
    """Create a list of domains. Return its address in the API, and the seconds of the import."""
    body = {"name": "Zone", "types": ["security"], "categories": CATEGORIES, "window_hours": 0}
    response = client.post(f"{base}/v1/lists", json=body, timeout=REQUEST_TIMEOUT_S)
    response.raise_for_status()
    address = f"{base}/v1/lists/{response.json()['id']}"
    start = time.monotonic()
    for first in range(0, sites, IMPORT_LINES):
        lines = "\n".join(Domain(number).url for number in range(first, min(first + IMPORT_LINES, sites)))
        client.post(
            f"{address}/entries", data=lines, headers={"Content-Type": "text/plain"}, timeout=REQUEST_TIMEOUT_S
        ).raise_for_status()
    return address, time.monotonic() - start


def _kill(worker: psutil.Process) -> None:
    """Kill a worker with all its processes at once, as if its host failed."""
    for process in list(process_tree(worker)):
        with contextlib.suppress(psutil.NoSuchProcess):
            process.kill()
    worker.wait()


def _print_results(table: Table, run: ListRun, sites: int, killed_at: int) -> None:
    run.refresh_from_db()
    scans = Scan.objects.all()
    attempts = Counter(scans.values_list("attempts", flat=True))
    counted = SiteList.objects.get().entries.annotate(times=Count("results")).filter(times=1).count()
    table.head("results of a run", "scans")
    table.row("judged", run.done)
    table.row("not judged, because the name or the server does not exist", run.failed)
    table.row("sites with exactly one result", counted, least=(sites,))
    table.row("scans that began once", attempts[1])
    table.row("scans that began again after the kill", sum(attempts[number] for number in attempts if number > 1))
    table.row("sites that had a result before the kill", killed_at)


def _print_cost(table: Table, before: Totals, after: Totals, sites: int) -> None:
    table.head("a site of a run", "CPU ms")
    seconds = {name: after.cpu_s[name] - before.cpu_s.get(name, 0) for name in after.cpu_s}
    table.row("all programs", sum(seconds.values()) / sites * 1000)
    for name, used_s in seconds.items():
        table.row(f"  {name}", used_s / sites * 1000)
    table.head("bytes of a site of a run", "kB each")
    table.row("between scanner, name servers and sites", (after.network_bytes - before.network_bytes) / sites / 1000)
    table.row("write-ahead log", (after.wal_bytes - before.wal_bytes) / sites / 1000)
    growth = {name: (size - before.table_bytes.get(name, 0)) / sites for name, size in after.table_bytes.items()}
    table.row("all tables with indexes", sum(growth.values()) / 1000)
    for name, size in sorted(growth.items(), key=lambda item: -item[1]):
        if size >= MIN_SHOWN_BYTES:
            table.row(f"  {name}", size / 1000)
