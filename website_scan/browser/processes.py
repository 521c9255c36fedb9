"""Processes of the browser: measure their memory and processor time, and kill them."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import psutil

KIB = 1024
STOP_S = 5.0
POLL_S = 0.01
PROC = Path("/proc")
MOST_BYTES = 64 * KIB
TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Usage:
    """Resources of the processes: memory now, and processor time since each of them began."""

    memory_bytes: int
    cpu_s: float
    waited_s: float  # time in which their main threads were ready to run, but had no processor


class Meter:
    """Meter of a process tree, cheap enough to run several times a second.

    It reads only known processes, and adds the children of their main threads: Chromium's zygotes fork all others
    there. The memory is the sum of each process' private and shared memory, plus the largest of their mapped files,
    which all have in common. That is close to the sum of their proportional set sizes (PSS), which cost a hundred times
    as much to read. On a system without these files in /proc, nothing is counted.
    """

    def __init__(self, roots: Iterable[psutil.Process]) -> None:
        self._alive = {each.pid for each in roots}
        self._cpu_s: dict[int, float] = {}
        self._waited_s: dict[int, float] = {}
        self.usage = Usage(0, 0.0, 0.0)  # of the last measurement
        self.most_bytes = 0  # maximum of all measurements

    def look(self) -> Usage:
        """Measure the usage. Call it from one thread at a time."""
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
    """Return the bytes of private, swapped and shared memory, and of mapped files (proc(5), /proc/pid/status)."""
    held = {"RssAnon": 0, "RssShmem": 0, "VmSwap": 0, "RssFile": 0}
    for line in _read(f"{pid}/status").splitlines():
        name, _, value = line.partition(":")
        if name in held:
            held[name] = int(value.split()[0]) * KIB
    files = held.pop("RssFile")
    return sum(held.values()), files


def _cpu_s(pid: int) -> float:
    # The process name may contain anything, also closing parentheses; the fields after it are numbers.
    fields = _read(f"{pid}/stat").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def _waited_s(pid: int) -> float:
    try:
        return int(_read(f"{pid}/schedstat").split()[1]) / 1e9
    except FileNotFoundError:
        return 0.0  # a kernel that does not count it


def _children(pid: int) -> set[int]:
    return set(map(int, _read(f"{pid}/task/{pid}/children").split()))


def _read(name: str) -> str:
    """Return the content of a small file in /proc. A hundred of them are read in a second, so without `Path.open`."""
    file = os.open(f"{PROC}/{name}", os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.read(file, MOST_BYTES).decode(errors="replace")
    finally:
        os.close(file)


def tree(processes: Iterable[psutil.Process]) -> list[psutil.Process]:
    """Return the processes that still run and all their descendants."""
    found: dict[int, psutil.Process] = {}
    for each in processes:
        with contextlib.suppress(psutil.Error):
            if each.is_running():
                found |= {one.pid: one for one in (each, *each.children(recursive=True))}
    return list(found.values())


def kill(processes: Iterable[psutil.Process]) -> None:
    """Kill the whole tree, and wait until all processes have ended."""
    found = tree(processes)
    pids = {each.pid for each in found}
    for each in found:
        with contextlib.suppress(psutil.Error, OSError):
            # Chromium leads a process group of its own, which also contains those of its processes that lost their
            # parent.
            group = os.getpgid(each.pid)
            if group in pids:
                os.killpg(group, signal.SIGKILL)
            each.kill()
    ends = time.monotonic() + STOP_S
    while any(map(_runs, found)) and time.monotonic() < ends:
        time.sleep(POLL_S)
    psutil.wait_procs(found, timeout=0)  # takes the statuses of our own children


def _runs(process: psutil.Process) -> bool:
    """Return False once a process has ended, though its parent may not have asked for its status yet.

    The parent of an orphan is the first process of the machine or container, and not every one of them ever asks.
    """
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False
