"""The browser's processes: what they take of the machine, and their end."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import psutil

KIB = 1024
STOP_S = 5.0
PROC = Path("/proc")
TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Usage:
    """What they hold at the moment, and what they got of the processor since each of them began."""

    memory_bytes: int
    cpu_s: float
    waited_s: float  # in which their main threads could have run, and had no processor


class Meter:
    """Looks at a tree of processes so cheaply that it may be done several times a second.

    Only processes that are known are looked at, and their main threads' children become known: Chromium's zygotes fork
    all others there. The memory is what each holds alone or shares by agreement, and the largest of their mapped files,
    which all have in common: near the sum of their proportional sets, which cost a hundred times as much to be told.
    Where the system has no such files, nothing is counted.
    """

    def __init__(self, roots: Iterable[psutil.Process]) -> None:
        self._alive = {each.pid for each in tree(roots)}
        self._cpu_s: dict[int, float] = {}
        self._waited_s: dict[int, float] = {}
        self.usage = Usage(0, 0.0, 0.0)  # of the last look
        self.most_bytes = 0  # of all looks

    def look(self) -> Usage:
        """From one thread at a time."""
        private = files = 0
        pending, self._alive = list(self._alive), set()
        while pending:
            pid = pending.pop()
            try:
                own, mapped = _memory(pid)
                self._cpu_s[pid] = _cpu_s(pid)
                self._waited_s[pid] = _waited_s(pid)
                pending += _children(pid) - self._alive - set(pending)
            except (OSError, ValueError, IndexError):
                continue  # it has ended
            self._alive.add(pid)
            private += own
            files = max(files, mapped)
        self.usage = Usage(private + files, sum(self._cpu_s.values()), sum(self._waited_s.values()))
        self.most_bytes = max(self.most_bytes, self.usage.memory_bytes)
        return self.usage


def _memory(pid: int) -> tuple[int, int]:
    """Bytes that are its own, swapped or shared, and bytes of mapped files (proc(5), /proc/pid/status)."""
    held = {"RssAnon": 0, "RssShmem": 0, "VmSwap": 0, "RssFile": 0}
    for line in (PROC / str(pid) / "status").read_text(errors="replace").splitlines():
        name, _, value = line.partition(":")
        if name in held:
            held[name] = int(value.split()[0]) * KIB
    files = held.pop("RssFile")
    return sum(held.values()), files


def _cpu_s(pid: int) -> float:
    # The name may hold anything, closing parentheses too; the fields behind it are numbers.
    fields = (PROC / str(pid) / "stat").read_text(errors="replace").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def _waited_s(pid: int) -> float:
    try:
        return int((PROC / str(pid) / "schedstat").read_text().split()[1]) / 1e9
    except FileNotFoundError:
        return 0.0  # a kernel that does not count it


def _children(pid: int) -> set[int]:
    return set(map(int, (PROC / str(pid) / "task" / str(pid) / "children").read_text().split()))


def tree(processes: Iterable[psutil.Process]) -> list[psutil.Process]:
    """The processes that still run and all that they started."""
    found: dict[int, psutil.Process] = {}
    for each in processes:
        with contextlib.suppress(psutil.Error):
            if each.is_running():
                found |= {one.pid: one for one in (each, *each.children(recursive=True))}
    return list(found.values())


def kill(processes: Iterable[psutil.Process]) -> None:
    """End all of the tree, and wait until they have ended."""
    found = tree(processes)
    pids = {each.pid for each in found}
    for each in found:
        with contextlib.suppress(psutil.Error, OSError):
            # Chromium leads a group of its own, which holds those of its processes that lost their parent, too.
            group = os.getpgid(each.pid)
            if group in pids:
                os.killpg(group, signal.SIGKILL)
            each.kill()
    # The driver is asyncio's child: whoever else waits for it takes its end away from there.
    psutil.wait_procs([each for each in found if _parent(each) != os.getpid()], timeout=STOP_S)


def _parent(process: psutil.Process) -> int | None:
    try:
        return process.ppid()
    except psutil.Error:
        return None
