"""`make soak`: hundreds of scans of the zoo and of good pages through one worker, to find resource leaks.

A real worker takes the scans from the queue. The idle values of its whole process tree are compared: after the warm-up,
when every process of the pool has run some scans, and at the end.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections import Counter
from contextlib import ExitStack
from dataclasses import astuple, dataclass, fields

import psutil

from benchmarks.service import installed
from benchmarks.table import Table
from benchmarks.usage import MIB
from tests.operations.stack.processes import wait_until
from tests.targets.sample import sample_site
from tests.targets.zoo import ZOO
from website_scan.findings import ScanType

START_S, PATIENCE_S = 60.0, 15 * 60.0
REST_S = 3.0  # time for the remaining threads and processes of finished scans to end
SWEEP_EVERY_S = 15.0
WARM_UP_SCANS = 6  # for each process of the pool
# Heavy pages are a minority, as on the web.
HEAVY_SHARE, GOOD_SHARE = 0.15, 0.3
MEMORY_FACTOR, MEMORY_EXTRA_MIB = 1.1, 20.0

Job = tuple[str, str]  # URL and type


@dataclass(frozen=True)
class Held:
    """Resources of a process tree at one moment."""

    processes: int
    threads: int
    descriptors: int
    mib: float


def main() -> int:
    """Print the figures; return 1 if a resource grew or a scan did not end."""
    parser = argparse.ArgumentParser(prog="make soak", description="Scans the zoo and watches the worker.")
    parser.add_argument("--scans", type=int, default=500)
    parser.add_argument("--concurrency", type=int, default=8)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    table = Table()
    with ExitStack() as cleanup:
        jobs, ca_file = _jobs(cleanup, options.scans, random.Random(options.seed))
        # Browsers are off, and the time limit is enough for quick pages and too short for slow ones.
        service = cleanup.enter_context(installed(SCAN_CA_BUNDLE=ca_file, SCAN_TIME_LIMIT="20", SCAN_BROWSER="off"))
        with service.running("worker", autoscale=f"{options.concurrency},{options.concurrency}") as (worker,):
            _soak(table, worker, jobs, options.concurrency)
    return int(table.missed)


def _jobs(cleanup: ExitStack, count: int, dice: random.Random) -> tuple[list[Job], str]:
    """Return `count` scans in random order, and the root certificate of their sites."""
    good_site = cleanup.enter_context(sample_site())
    good = [(f"{good_site.url}/", str(scan_type)) for scan_type in ScanType]
    quick: list[Job] = []
    heavy: list[Job] = []
    for animal in ZOO:
        if not animal.is_slow:
            site = cleanup.enter_context(animal.start())
            of_animal = [(animal.url(site), str(scan_type)) for scan_type in animal.only]
            (heavy if animal.is_heavy else quick).extend(of_animal)
    jobs = []
    for kind, share in ((heavy, HEAVY_SHARE), (good, GOOD_SHARE), (quick, 1 - HEAVY_SHARE - GOOD_SHARE)):
        dice.shuffle(kind)
        jobs += [kind[number % len(kind)] for number in range(round(count * share))]
    dice.shuffle(jobs)
    return jobs, str(good_site.ca_file)


def _soak(table: Table, worker: psutil.Process, jobs: list[Job], concurrency: int) -> None:
    wait_until(lambda: len(worker.children()) >= concurrency, START_S)
    pool = {each.pid for each in worker.children()}
    warm_up = min(WARM_UP_SCANS * concurrency, len(jobs) // 2)
    table.head(f"{len(jobs)} scans", *(each.name for each in fields(Held)))
    table.row("start", *astuple(_held(worker)))
    ended = _scan(jobs[:warm_up])
    warm = _held(worker)
    table.row("warmed up", *astuple(warm))
    ended += _scan(jobs[warm_up:])
    # A process keeps the connection of its first message to the queue open.
    most = (warm.processes, warm.threads, warm.descriptors + warm.processes)
    end = _held(worker)
    table.row("end", *astuple(end), most=(*most, warm.mib * MEMORY_FACTOR + MEMORY_EXTRA_MIB * warm.processes))
    table.head("ends of scans", "")
    for name, count in sorted(ended.items()):
        table.row(name, count)
    table.row(
        "processes of the pool that were replaced", len(pool - {each.pid for each in worker.children()}), most=(0,)
    )


def _scan(jobs: list[Job]) -> Counter[str]:
    """Create scans and sweep like the scheduler until all have ended; return their number by end."""
    from django.utils import timezone

    from accounts.services import ensure_organization
    from accounts.usage import month_of
    from config.celery import app
    from scans.models import Scan
    from scans.visits.queue import enqueue

    organization, period = ensure_organization(name="Soak"), month_of(timezone.now())
    rows = [Scan.objects.create(organization=organization, type=kind, url=url, period=period) for url, kind in jobs]
    for row in rows:
        enqueue(row.id, ScanType(row.type))
    waiting = Scan.objects.exclude(status__in=Scan.FINAL)
    deadline = time.monotonic() + PATIENCE_S
    while waiting.exists():
        assert time.monotonic() < deadline, list(waiting.values_list("type", "url", "status", "attempts")[:10])
        app.send_task("scans.tasks.sweep")
        wake = time.monotonic() + SWEEP_EVERY_S
        while time.monotonic() <= wake and waiting.exists():
            time.sleep(1)
    ends = Scan.objects.filter(id__in=[row.id for row in rows]).values_list("status", "error_code")
    return Counter(f"{status} {code}".rstrip() for status, code in ends)


def _held(worker: psutil.Process) -> Held:
    """Return the resources of the worker when nothing runs."""
    time.sleep(REST_S)
    held = []
    for process in [worker, *worker.children(recursive=True)]:
        with process.oneshot():
            held.append((1, process.num_threads(), process.num_fds(), process.memory_info().rss / MIB))
    return Held(*(sum(column) for column in zip(*held, strict=True)))


if __name__ == "__main__":
    sys.exit(main())
