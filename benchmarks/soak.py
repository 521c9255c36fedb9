"""Command `make soak`, which runs hundreds of easy and difficult scans on one worker to detect resource leaks.

A real worker runs the scans from the queue. The resources of its idle process tree are compared after the warm-up, when
every process of the pool has run some scans, and at the end.
"""

from __future__ import annotations

import random
import time
from collections import Counter
from contextlib import ExitStack

import psutil
from django.utils import timezone
from msgspec import Struct
from msgspec.structs import astuple

from accounts.services import ensure_organization
from accounts.usage import month_of
from benchmarks.service import Service
from benchmarks.table import Table
from benchmarks.usage import MIB
from config.celery import app
from scans.models import Scan
from scans.visits.queue import enqueue, queue_of
from tests.targets.sample import sample_site
from tests.targets.zoo import ZOO
from website_scan.findings import ScanType

SCANS, CONCURRENCY, SEED = 500, 8, 1
SCAN_TIMEOUT_S = 15 * 60.0
PAUSE_AFTER_SCANS_S = 3.0  # Time for a finished scan's remaining threads and processes to end.
SWEEP_INTERVAL_S, POLL_INTERVAL_S = 15.0, 1.0
WARM_UP_SCANS = 6  # Number of warm-up scans for each process of the pool.
# Heavy pages are a minority, as on the real web.
SHARE_OF_HEAVY_PAGES, SHARE_OF_GOOD_SITES = 0.15, 0.3
MAX_MEMORY_FACTOR, MAX_MEMORY_INCREASE_MIB = 1.1, 20.0

Job = tuple[str, ScanType]  # A job is a URL with a scan type.


class Resources(Struct, frozen=True):
    """A process tree's resources at one point in time."""

    processes: int
    threads: int
    descriptors: int
    mib: float

    @classmethod
    def of_idle_worker(cls, worker: psutil.Process) -> Resources:
        """Return the resources that the worker and its processes use while no scan runs."""
        time.sleep(PAUSE_AFTER_SCANS_S)
        rows = []
        for process in [worker, *worker.children(recursive=True)]:
            with process.oneshot():
                rows.append((1, process.num_threads(), process.num_fds(), process.memory_info().rss / MIB))
        processes, threads, descriptors, mib = zip(*rows, strict=True)
        return cls(sum(processes), sum(threads), sum(descriptors), sum(mib))


def measure(table: Table, share: float, service: Service) -> None:
    with ExitStack() as cleanup:
        jobs, ca_file = _random_scans(cleanup, round(SCANS * share))
        worker = cleanup.enter_context(service.worker(CONCURRENCY, env={"SCAN_CA_BUNDLE": ca_file}))
        _run_soak_test(table, worker, jobs)


def _random_scans(cleanup: ExitStack, count: int) -> tuple[list[Job], str]:
    """Return `count` scans in random order, and the scanned sites' root certificate."""
    random_source = random.Random(SEED)
    good_site = cleanup.enter_context(sample_site())
    good = [(f"{good_site.url}/", scan_type) for scan_type in ScanType]
    quick: list[Job] = []
    heavy: list[Job] = []
    for zoo_site in ZOO:
        if not zoo_site.is_slow:
            site = cleanup.enter_context(zoo_site.start())
            zoo_jobs = [(zoo_site.url(site), scan_type) for scan_type in zoo_site.only]
            (heavy if zoo_site.is_heavy else quick).extend(zoo_jobs)
    jobs: list[Job] = []
    for group, share in (
        (heavy, SHARE_OF_HEAVY_PAGES),
        (good, SHARE_OF_GOOD_SITES),
        (quick, 1 - SHARE_OF_HEAVY_PAGES - SHARE_OF_GOOD_SITES),
    ):
        random_source.shuffle(group)
        jobs += [group[number % len(group)] for number in range(round(count * share))]
    random_source.shuffle(jobs)
    return jobs, str(good_site.ca_file)


def _run_soak_test(table: Table, worker: psutil.Process, jobs: list[Job]) -> None:
    pool = {process.pid for process in worker.children()}
    warm_up_jobs = min(WARM_UP_SCANS * CONCURRENCY, len(jobs) // 2)
    table.head(f"{len(jobs)} scans", *Resources.__struct_fields__)
    table.row("start", *astuple(Resources.of_idle_worker(worker)))
    ends = _run_scans(jobs[:warm_up_jobs])
    warm = Resources.of_idle_worker(worker)
    table.row("warmed up", *astuple(warm))
    ends += _run_scans(jobs[warm_up_jobs:])
    max_memory_mib = warm.mib * MAX_MEMORY_FACTOR + MAX_MEMORY_INCREASE_MIB * warm.processes
    # Each process has an open connection to the queue after its first message.
    limits = (warm.processes, warm.threads, warm.descriptors + warm.processes, max_memory_mib)
    table.row("end", *astuple(Resources.of_idle_worker(worker)), most=limits)
    table.head("ends of scans", "scans")
    for name, count in sorted(ends.items()):
        table.row(name, count)
    table.head("processes of the pool", "replaced")
    replaced = pool - {process.pid for process in worker.children()}
    table.row("all", len(replaced), most=(0,))


def _run_scans(jobs: list[Job]) -> Counter[str]:
    """Create scans, then sweep like the scheduler until all have ended.

    Return their number by status and error.
    """
    organization, period = ensure_organization(name="Soak"), month_of(timezone.now())
    rows = [
        Scan.objects.create(organization=organization, type=scan_type, url=url, period=period)
        for url, scan_type in jobs
    ]
    for row in rows:
        enqueue(row.id, queue_of(ScanType(row.type)))
    unfinished = Scan.objects.exclude(status__in=Scan.FINAL)
    start = time.monotonic()
    sweeps = 0
    while unfinished.exists():
        seconds = time.monotonic() - start
        assert seconds < SCAN_TIMEOUT_S, list(unfinished.values_list("type", "url", "status", "attempts")[:10])
        if seconds >= sweeps * SWEEP_INTERVAL_S:
            app.send_task("scans.tasks.sweep")
            sweeps += 1
        time.sleep(POLL_INTERVAL_S)
    ends = Scan.objects.filter(id__in=[row.id for row in rows]).values_list("status", "error_code")
    return Counter(f"{status} {code}".rstrip() for status, code in ends)
