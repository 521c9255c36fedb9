"""Processor time and memory of a process tree."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator

import psutil

MIB = 1024 * 1024
SAMPLE_EVERY_S = 0.1


def tree(root: psutil.Process) -> Iterator[psutil.Process]:
    """Yield a process and its running children, except the processes of benchmarks/sites.py."""
    yield root
    for child in root.children(recursive=True):
        with contextlib.suppress(psutil.Error):
            if "multiprocessing" not in " ".join(child.cmdline()):
                yield child


def cpu_s(root: psutil.Process) -> float:
    """Return the processor seconds of a process and its children, both running and ended."""
    total = 0.0
    for process in tree(root):
        with contextlib.suppress(psutil.Error):
            times = process.cpu_times()
            total += times.user + times.system + times.children_user + times.children_system
    return total


def memory_mib(root: psutil.Process) -> float:
    """Return the proportional set size (PSS) of a process tree in MiB. Shared memory counts once."""
    total = 0
    for process in tree(root):
        with contextlib.suppress(psutil.Error):
            total += process.memory_full_info().pss
    return total / MIB


def peak_mib(work: Callable[[], object]) -> float:
    """Return the maximum memory of this process and its children in MiB while `work` runs."""
    root, has_ended = psutil.Process(), threading.Event()
    peak = [0.0]

    def watch() -> None:
        while not has_ended.wait(SAMPLE_EVERY_S):
            peak[0] = max(peak[0], memory_mib(root))

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        work()
    finally:
        has_ended.set()
        watcher.join()
    return peak[0]
