"""Measure a process tree's CPU time and memory."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil

MIB = 1024 * 1024
SAMPLE_INTERVAL_S = 0.1


def process_tree(root: psutil.Process) -> Iterator[psutil.Process]:
    """Yield a process and its children, except for processes of benchmarks/sites.py.

    Children that have ended are included until their parents have noticed, because only then are their CPU times those
    of the parents.
    """
    yield root
    for child in root.children(recursive=True):
        with contextlib.suppress(psutil.NoSuchProcess, psutil.AccessDenied):
            if not _is_site(child):
                yield child


def _is_site(process: psutil.Process) -> bool:
    try:
        return "multiprocessing" in " ".join(process.cmdline())
    except psutil.ZombieProcess:
        return False


def cpu_s(root: psutil.Process) -> float:
    """Return the CPU seconds that a process and its children have used, including ended children."""
    total = 0.0
    for process in process_tree(root):
        with contextlib.suppress(psutil.Error):
            times = process.cpu_times()
            total += times.user + times.system + times.children_user + times.children_system
    return total


def memory_mib(root: psutil.Process) -> float:
    """Return the proportional set size (PSS) of a process tree in MiB. Shared memory counts once."""
    total = 0
    for process in process_tree(root):
        with contextlib.suppress(psutil.Error):
            total += process.memory_full_info().pss
    return total / MIB


def peak_mib(work: Callable[[], object]) -> float:
    """Return the maximum memory in MiB that this process and its children use while `work` runs."""
    root, has_ended = psutil.Process(), threading.Event()
    peak = [0.0]

    def watch() -> None:
        while not has_ended.wait(SAMPLE_INTERVAL_S):
            peak[0] = max(peak[0], memory_mib(root))

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        work()
    finally:
        has_ended.set()
        watcher.join()
    return peak[0]


def scheduled_ms(pid: int) -> float:
    """Return the milliseconds for which Linux has run the main thread of a process, exact to a microsecond.

    The processor times that psutil reads have ticks of 10 ms, which is longer than most queries.
    """
    return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 1e6
