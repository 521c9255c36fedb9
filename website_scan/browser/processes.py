"""Measure and kill the processes of a browser.

Measures memory and processor time, and kills process trees.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Iterable
from pathlib import Path

import psutil
from msgspec import Struct

KIB = 1024
STOP_TIMEOUT_S = 5.0
POLL_INTERVAL_S = 0.01
PROC = Path("/proc")
MAX_PROC_FILE_BYTES = 64 * KIB
TICKS = os.sysconf("SC_CLK_TCK")


class Usage(Struct, frozen=True):
    """Memory and processor time of a process tree.

    The memory is the current one. The processor time is that used so far.
    """

    memory_bytes: int
    cpu_s: float
    waited_s: float  # Time for which main threads were ready to run but had no processor.


class ProcessMeter:
    """Measures memory and processor time of process trees.

    A measurement is cheap enough to run several times a second. `measure` reads the processes of the previous
    measurement, and adds children of their main threads, where Chromium's zygotes fork all other processes. The memory
    is the sum of each process' private and shared memory, plus the largest size of mapped files, which all processes
    share. The result is close to the sum of proportional set sizes (PSS), which take a hundred times as long to read.
    On systems without these files in /proc, all figures are 0.
    """

    def __init__(self, roots: Iterable[psutil.Process]) -> None:
        self._alive = {root.pid for root in roots}
        self._cpu_s: dict[int, float] = {}
        self._waited_s: dict[int, float] = {}
        self.usage = Usage(0, 0.0, 0.0)  # Result of the last measurement.
        self.peak_bytes = 0  # Maximum memory of all measurements.

    def measure(self) -> Usage:
        """Measure and return the current memory and processor time.

        Not thread-safe.
        """
        private = files = 0
        pending, self._alive = list(self._alive), set()
        while pending:
            pid = pending.pop()
            try:
                memory, mapped = _read_memory(pid)
                self._cpu_s[pid] = _cpu_s(pid)
                self._waited_s[pid] = _waited_s(pid)
                pending += _read_child_pids(pid) - self._alive - set(pending)
            except (OSError, ValueError, IndexError):
                continue  # The process has ended.
            self._alive.add(pid)
            private += memory
            files = max(files, mapped)
        self.usage = Usage(private + files, sum(self._cpu_s.values()), sum(self._waited_s.values()))
        self.peak_bytes = max(self.peak_bytes, self.usage.memory_bytes)
        return self.usage


def _read_memory(pid: int) -> tuple[int, int]:
    """Return the bytes of private memory, and those of mapped files.

    Swapped and shared memory count as private (proc(5), /proc/pid/status).
    """
    bytes_by_field = {"RssAnon": 0, "RssShmem": 0, "VmSwap": 0, "RssFile": 0}
    for line in _read_proc_file(f"{pid}/status").splitlines():
        name, _, value = line.partition(":")
        if name in bytes_by_field:
            bytes_by_field[name] = int(value.split()[0]) * KIB
    files = bytes_by_field.pop("RssFile")
    return sum(bytes_by_field.values()), files


def _cpu_s(pid: int) -> float:
    # Process names may contain parentheses, so the numbers follow the last one.
    fields = _read_proc_file(f"{pid}/stat").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def _waited_s(pid: int) -> float:
    try:
        return int(_read_proc_file(f"{pid}/schedstat").split()[1]) / 1e9
    except FileNotFoundError:
        return 0.0  # The kernel has no scheduler statistics.


def _read_child_pids(pid: int) -> set[int]:
    return set(map(int, _read_proc_file(f"{pid}/task/{pid}/children").split()))


def _read_proc_file(name: str) -> str:
    """Return the content of a small file in /proc.

    `Path.open` would be too slow for a hundred files a second.
    """
    file = os.open(f"{PROC}/{name}", os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.read(file, MAX_PROC_FILE_BYTES).decode(errors="replace")
    finally:
        os.close(file)


def list_trees(processes: Iterable[psutil.Process]) -> list[psutil.Process]:
    """Return the running processes and all their descendants."""
    descendants: dict[int, psutil.Process] = {}
    for process in processes:
        with contextlib.suppress(psutil.Error):
            if process.is_running():
                descendants |= {member.pid: member for member in (process, *process.children(recursive=True))}
    return list(descendants.values())


def kill_trees(processes: Iterable[psutil.Process]) -> None:
    """Kill processes with their descendants, and wait for their end."""
    tree = list_trees(processes)
    pids = {process.pid for process in tree}
    for process in tree:
        with contextlib.suppress(psutil.Error, OSError):
            # Chromium's process group also contains descendants without a parent.
            group = os.getpgid(process.pid)
            if group in pids:
                os.killpg(group, signal.SIGKILL)
            process.kill()
    ends = time.monotonic() + STOP_TIMEOUT_S
    while any(map(_is_running, tree)) and time.monotonic() < ends:
        time.sleep(POLL_INTERVAL_S)
    psutil.wait_procs(tree, timeout=0)  # Reap the children of this process, so that no zombies are left.


def _is_running(process: psutil.Process) -> bool:
    """Return False if the process has ended.

    Its parent may not have reaped it yet. The parent of an orphan is the init process of the machine or container, and
    some never reap their children.
    """
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False
