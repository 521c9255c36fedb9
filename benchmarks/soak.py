"""Command `make soak`: hundreds of scans of difficult and of good sites through one worker, to find resource leaks.

A real worker runs the scans from the queue. The resources of its idle process tree are compared after the warm-up, when
every process of the pool has run some scans, and at the end.
"""

from __future__ import annotations

import random
import time
from collections import Counter
from contextlib import ExitStack
from dataclasses import astuple, dataclass, fields

import psutil
from django.utils import timezone

from accounts.services import ensure_organization
from accounts.usage import month_of
from benchmarks.service import Service
from benchmarks.table import Table
from benchmarks.usage import MIB
from config.celery import app
from scans.models import Scan
from scans.visits.queue import enqueue
from tests.targets.sample import sample_site
from tests.targets.zoo import ZOO
from website_scan.findings import ScanType

SCANS, CONCURRENCY, SEED = 500, 8, 1
LIMIT_S = 15 * 60.0
REST_S = 3.0  # Time in which the remaining threads and processes of finished scans end.
SWEEP_EVERY_S, POLL_S = 15.0, 1.0
WARM_UP_SCANS = 6  # For each process of the pool.
# Heavy pages are a minority, as on the real web.
HEAVY_SHARE, GOOD_SHARE = 0.15, 0.3
MEMORY_FACTOR, MEMORY_EXTRA_MIB = 1.1, 20.0

Job = tuple[str, ScanType]  # URL and type


@dataclass(frozen=True)
class Resources:
    """Resources of a process tree at one point in time."""

    processes: int
    threads: int
    descriptors: int
    mib: float

    @classmethod
    def of_idle(cls, worker: psutil.Process) -> Resources:
        """Return the resources of the worker and its processes while no scan runs."""
        time.sleep(REST_S)
        rows = []
        for process in [worker, *worker.children(recursive=True)]:
            with process.oneshot():
                rows.append((1, process.num_threads(), process.num_fds(), process.memory_info().rss / MIB))
        processes, threads, descriptors, mib = zip(*rows, strict=True)
        return cls(sum(processes), sum(threads), sum(descriptors), sum(mib))


def measure(table: Table, share: float, service: Service) -> None:
    with ExitStack() as cleanup:
        jobs, ca_file = _jobs(cleanup, round(SCANS * share))
        worker = cleanup.enter_context(service.worker(CONCURRENCY, env={"SCAN_CA_BUNDLE": ca_file}))
        _soak(table, worker, jobs)


def _jobs(cleanup: ExitStack, count: int) -> tuple[list[Job], str]:
    """Return `count` scans in random order, and the root certificate of the scanned sites."""
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
    for group, share in ((heavy, HEAVY_SHARE), (good, GOOD_SHARE), (quick, 1 - HEAVY_SHARE - GOOD_SHARE)):
        random_source.shuffle(group)
        jobs += [group[number % len(group)] for number in range(round(count * share))]
    random_source.shuffle(jobs)
    return jobs, str(good_site.ca_file)


def _soak(table: Table, worker: psutil.Process, jobs: list[Job]) -> None:
    pool = {process.pid for process in worker.children()}
    warm_up = min(WARM_UP_SCANS * CONCURRENCY, len(jobs) // 2)
    table.head(f"{len(jobs)} scans", *(field.name for field in fields(Resources)))
    table.row("start", *astuple(Resources.of_idle(worker)))
    ends = _scan(jobs[:warm_up])
    warm = Resources.of_idle(worker)
    table.row("warmed up", *astuple(warm))
    ends += _scan(jobs[warm_up:])
    max_mib = warm.mib * MEMORY_FACTOR + MEMORY_EXTRA_MIB * warm.processes
    # Each process keeps a connection to the queue open after its first message.
    limits = (warm.processes, warm.threads, warm.descriptors + warm.processes, max_mib)
    table.row("end", *astuple(Resources.of_idle(worker)), most=limits)
    table.head("ends of scans", "")
    for name, count in sorted(ends.items()):
        table.row(name, count)
    replaced = pool - {process.pid for process in worker.children()}
    table.row("processes of the pool that were replaced", len(replaced), most=(0,))


def _scan(jobs: list[Job]) -> Counter[str]:
    """Create scans and sweep until all have ended, as the scheduler does. Returns the numbers by status and error."""
    organization, period = ensure_organization(name="Soak"), month_of(timezone.now())
    rows = [
        Scan.objects.create(organization=organization, type=scan_type, url=url, period=period)
        for url, scan_type in jobs
    ]
    for row in rows:
        enqueue(row.id, ScanType(row.type))
    unfinished = Scan.objects.exclude(status__in=Scan.FINAL)
    start = time.monotonic()
    sweeps = 0
    while unfinished.exists():
        seconds = time.monotonic() - start
        assert seconds < LIMIT_S, list(unfinished.values_list("type", "url", "status", "attempts")[:10])
        if seconds >= sweeps * SWEEP_EVERY_S:
            app.send_task("scans.tasks.sweep")
            sweeps += 1
        time.sleep(POLL_S)
    ends = Scan.objects.filter(id__in=[row.id for row in rows]).values_list("status", "error_code")
    return Counter(f"{status} {code}".rstrip() for status, code in ends)
