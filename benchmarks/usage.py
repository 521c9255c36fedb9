"""Processor time and memory of a process and its children."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator

import psutil

MIB = 1024 * 1024
SAMPLE_EVERY_S = 0.1


def tree(root: psutil.Process) -> Iterator[psutil.Process]:
    """Yield a process and its running children, without those of benchmarks/sites.py."""
    yield root
    for each in root.children(recursive=True):
        with contextlib.suppress(psutil.Error):
            if "multiprocessing" not in " ".join(each.cmdline()):
                yield each


def cpu_s(root: psutil.Process) -> float:
    """Return the processor seconds of a process and its running and ended children."""
    total = 0.0
    for each in tree(root):
        with contextlib.suppress(psutil.Error):
            times = each.cpu_times()
            total += times.user + times.system + times.children_user + times.children_system
    return total


def memory_mib(root: psutil.Process) -> float:
    """Return the proportional set size (PSS) of a process and its children: shared memory counts once."""
    total = 0
    for each in tree(root):
        with contextlib.suppress(psutil.Error):
            total += each.memory_full_info().pss
    return total / MIB


def peak_mib(work: Callable[[], object]) -> float:
    """Return the most memory of this process and its children while `work` runs."""
    root, over = psutil.Process(), threading.Event()
    most = [0.0]

    def watch() -> None:
        while not over.wait(SAMPLE_EVERY_S):
            most[0] = max(most[0], memory_mib(root))

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        work()
    finally:
        over.set()
        watcher.join()
    return most[0]
