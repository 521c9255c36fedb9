"""Helpers that wait for a condition or search running processes."""

from __future__ import annotations

import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil

from operations.stack.processes import spawn
from operations.stack.supervisor import Program

POLL_INTERVAL_S = 0.02
WORKERS = ("worker", "browser", "webhooks")


def wait_until(condition: Callable[[], bool], timeout_s: float, poll_s: float = POLL_INTERVAL_S) -> None:
    """Wait until `condition` returns True.

    Fails the test after `timeout_s`.
    """
    deadline = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < deadline, f"not within {timeout_s} s"
        time.sleep(poll_s)


def running_with(text: str) -> dict[int, str]:
    """Return the processes that contain `text`, by process ID.

    The text is in the command line or the environment. Values are command lines.

    Environments are searched only on Linux. Zombies have neither command line nor environment.
    """
    processes = _from_proc() if Path("/proc/self/environ").exists() else _from_ps()
    return {pid: command for pid, command, searched in processes if text in searched}


def programs_with(text: str, *names: str) -> list[int]:
    """Return the IDs of `running_with(text)` with one of these names.

    Works only on Linux.
    """
    pids = []
    for pid in running_with(text):
        try:
            if psutil.Process(pid).name() in names:
                pids.append(pid)
        except psutil.NoSuchProcess:
            continue
    return pids


def _from_proc() -> Iterator[tuple[int, str, str]]:
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        try:
            command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            environment = (folder / "environ").read_bytes().decode(errors="replace")
        except OSError:  # The process has ended, or belongs to another user.
            continue
        yield int(folder.name), command, f"{command}\0{environment}"


def _from_ps() -> Iterator[tuple[int, str, str]]:
    listing = subprocess.run(
        ["ps", "-ww", "-e", "-o", "pid=,stat=,command="], capture_output=True, text=True, check=True
    )
    for line in listing.stdout.splitlines():
        pid, state, *command = line.split(maxsplit=2)
        if command and not state.startswith("Z"):
            yield int(pid), command[0], command[0]


def spawned(program: Program) -> subprocess.Popen[bytes]:
    """Start a supervisor's program in a separate process.

    `python -c` programs cannot run as forks.
    """
    return spawn(
        program.command,
        death_signal=signal.SIGTERM,
        env=program.env,
        cwd=program.cwd,
        stdout=subprocess.PIPE,
    )
