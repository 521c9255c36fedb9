"""`make soak`: hundreds of scans of the zoo and of good pages through one worker, to find resource leaks.

A real Celery worker on the embedded stack takes the scans from the queue. Every second, threads, descriptors,
child processes and resident memory of its whole process tree are read from /proc. The idle values are compared:
after the warm-up, when every process of the pool has run some scans, and at the end.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import astuple, dataclass, fields
from pathlib import Path

import psutil

from benchmarks.installation import BASE_DIR, install, servers
from scanner.findings import ScanType
from tests.targets.sample import sample_site
from tests.targets.zoo import ZOO

MIB = 1024 * 1024
SAMPLE_EVERY_S = 1.0
REST_S = 3.0  # time for the remaining threads and processes of finished scans to end
PATIENCE_S = 15 * 60.0
START_S = 60.0
SWEEP_EVERY_S = 15.0
LOG_CHARACTERS = 6_000
WARM_UP_SCANS = 6  # for each process of the pool
# Heavy pages are a minority, as on the web.
HEAVY_SHARE = 0.15
GOOD_SHARE = 0.3
MEMORY_FACTOR, MEMORY_EXTRA_BYTES = 1.1, 20 * MIB


@dataclass(frozen=True)
class Sample:
    """Resources of a process tree at one moment."""

    processes: int
    threads: int
    descriptors: int
    memory_bytes: int

    def __str__(self) -> str:
        return (
            f"{self.processes:9} processes {self.threads:6} threads {self.descriptors:6} descriptors "
            f"{self.memory_bytes / MIB:8.0f} MiB"
        )


@dataclass(frozen=True)
class Job:
    """Scan to create."""

    url: str
    type: str


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the figures; return 1 if a resource grew or a scan did not end."""
    parser = argparse.ArgumentParser(prog="make soak", description="Scans the zoo and watches the worker.")
    parser.add_argument("--scans", type=int, default=500)
    parser.add_argument("--concurrency", type=int, default=8)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    with ExitStack() as cleanup:
        folder, stack = cleanup.enter_context(servers(durable=False))
        jobs, ca_file = _jobs(cleanup, options.scans, random.Random(options.seed))
        install(
            folder,
            stack,
            SCAN_ALLOWED_NETWORKS="127.0.0.0/8",
            SCAN_CA_BUNDLE=ca_file,
            # Enough for quick pages, too short for slow ones.
            SCAN_TIME_LIMIT="20",
            SCAN_BROWSER="off",  # `benchmarks.faults` measures scans with a browser
        )
        with worker(folder, options.concurrency) as process:
            status = _soak(process, jobs, options.concurrency)
        if status:
            print((folder / "worker.log").read_text(errors="replace")[-LOG_CHARACTERS:])
        return status


def _jobs(cleanup: ExitStack, count: int, dice: random.Random) -> tuple[list[Job], str]:
    """Return `count` scans in random order, and the root certificate of their sites."""
    good_site = cleanup.enter_context(sample_site())
    good = [Job(f"{good_site.url}/", str(scan_type)) for scan_type in ScanType]
    quick: list[Job] = []
    heavy: list[Job] = []
    for animal in ZOO:
        if not animal.is_slow:
            site = cleanup.enter_context(animal.start())
            of_animal = [Job(animal.url(site), str(scan_type)) for scan_type in animal.only]
            (heavy if animal.is_heavy else quick).extend(of_animal)
    jobs = []
    for kind, share in ((heavy, HEAVY_SHARE), (good, GOOD_SHARE), (quick, 1 - HEAVY_SHARE - GOOD_SHARE)):
        dice.shuffle(kind)
        jobs += [kind[number % len(kind)] for number in range(round(count * share))]
    dice.shuffle(jobs)
    return jobs, str(good_site.ca_file)


@contextmanager
def worker(folder: Path, concurrency: int, name: str = "worker", host: str = "") -> Iterator[psutil.Process]:
    """Run a worker as `manage.py up` does, with its log in the folder; `host` is its simulated host name."""
    from operations.stack.management.commands.up import programs

    program = next(each for each in programs(folder, 0, dict(os.environ)) if each.name == name)
    command = list(program.command)
    command[command.index("--concurrency") + 1] = str(concurrency)
    command += ["--hostname", f"{name}@{host}"] if host else []
    env = dict(os.environ) | {"PYTHONWARNINGS": "ignore:You're running the worker with superuser privileges"}
    env["PYTHONFAULTHANDLER"] = "1"  # a crash writes its traceback to the log
    with (folder / f"worker{host}.log").open("wb") as log:
        process = subprocess.Popen(command, cwd=BASE_DIR, env=env, stdout=log, stderr=log)
    try:
        yield psutil.Process(process.pid)
    finally:
        process.terminate()
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _soak(worker: psutil.Process, jobs: list[Job], concurrency: int) -> int:
    from accounts.services import ensure_organization

    organization = ensure_organization(name="Soak")
    began = time.monotonic()
    ends_at = began + PATIENCE_S
    warm_up = min(max(len(jobs) // 5, WARM_UP_SCANS * concurrency), len(jobs) // 2)
    samples: list[Sample] = []
    _wait_for_children(worker)
    pool = {each.pid for each in worker.children()}
    start = _sample(worker)
    all_ended = scan_all(organization.id, jobs[:warm_up], worker, samples, ends_at)
    warm = _rest(worker, samples)
    all_ended &= scan_all(organization.id, jobs[warm_up:], worker, samples, ends_at)
    end = _rest(worker, samples)
    peak = Sample(*(max(getattr(each, field.name) for each in samples) for field in fields(Sample)))
    print(f"{len(jobs)} scans in {time.monotonic() - began:.0f} s: {ends()}")
    for name, sample in (("start", start), ("warmed up", warm), ("end", end), ("peak", peak)):
        print(f"{name:12}{sample}")
    faults = _growth(warm, end) + ([] if all_ended else ["some scans did not come to an end"])
    if crashed := pool - {each.pid for each in worker.children()}:
        faults.append(f"{len(crashed)} processes of the pool had to be replaced")
    print("\n".join(faults) or "Nothing grew, and every scan came to an end.")
    return int(bool(faults))


def _growth(before: Sample, after: Sample) -> list[str]:
    allowed_bytes = before.memory_bytes * MEMORY_FACTOR + MEMORY_EXTRA_BYTES * after.processes
    # A process keeps the connection of its first message to the queue open.
    extra = {"descriptors": after.processes}
    faults = [
        f"{field.name} grew from {was} to {now}"
        for field, was, now in zip(fields(Sample)[:3], astuple(before)[:3], astuple(after)[:3], strict=True)
        if now > was + extra.get(field.name, 0)
    ]
    if after.memory_bytes > allowed_bytes:
        faults.append(f"memory grew above {allowed_bytes / MIB:.0f} MiB")
    return faults


def _wait_for_children(worker: psutil.Process) -> None:
    """Wait until the pool is complete, that is, until its number of children stays the same."""
    deadline = time.monotonic() + START_S
    before = -1
    while (children := len(worker.children())) == 0 or children != before:
        assert time.monotonic() < deadline, "the worker does not start"
        before = children
        time.sleep(SAMPLE_EVERY_S)


def scan_all(
    organization_id: int, jobs: list[Job], worker: psutil.Process, samples: list[Sample], ends_at: float
) -> bool:
    """Create the scans and sample until all have ended; return False if time was up or the worker ended first."""
    from django.db.models import Q
    from django.utils import timezone

    from accounts.usage import month_of
    from config.celery import app
    from scans.models import Scan
    from scans.services import enqueue

    ordered = [
        Scan.objects.create(
            organization_id=organization_id, type=job.type, url=job.url, period=month_of(timezone.now())
        )
        for job in jobs
    ]
    for row in ordered:
        enqueue(row.id, ScanType(row.type))
    waiting = Scan.objects.filter(Q(status=Scan.Status.QUEUED) | Q(status=Scan.Status.SCANNING))
    next_sweep = time.monotonic() + SWEEP_EVERY_S
    while waiting.exists():
        if time.monotonic() >= next_sweep:  # like the scheduler
            app.send_task("scans.tasks.sweep")
            next_sweep += SWEEP_EVERY_S
        if time.monotonic() > ends_at or not worker.is_running() or worker.status() == psutil.STATUS_ZOMBIE:
            for row in waiting[:10]:
                print(f"not ended: {row.type} of {row.url}, {row.status}, attempt {row.attempts}")
            return False
        samples.append(_sample(worker))
        time.sleep(SAMPLE_EVERY_S)
    return True


def _rest(worker: psutil.Process, samples: list[Sample]) -> Sample:
    """Sample the worker's resources when nothing runs."""
    time.sleep(REST_S)
    samples.append(_sample(worker))
    return samples[-1]


def _sample(worker: psutil.Process) -> Sample:
    processes = threads = descriptors = memory_bytes = 0
    for process in [worker, *worker.children(recursive=True)]:
        try:
            with process.oneshot():
                held = (process.num_threads(), process.num_fds(), process.memory_info().rss)
        except psutil.Error:
            continue  # it has just ended
        processes += 1
        threads += held[0]
        descriptors += held[1]
        memory_bytes += held[2]
    return Sample(processes, threads, descriptors, memory_bytes)


def ends() -> str:
    from django.db.models import Count

    from scans.models import Scan

    counted = Scan.objects.values_list("status", "error_code").annotate(n=Count("id")).order_by("status", "error_code")
    return ", ".join(f"{n} {status}{f' ({code})' if code else ''}" for status, code, n in counted)


if __name__ == "__main__":
    sys.exit(main())
