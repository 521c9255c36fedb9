"""Control group of Linux that counts the processor time of a command and of all processes that it starts.

Times that a parent reads for its ended children are incomplete. Chromium's sandbox is a PID namespace, and when its
first process ends, the kernel discards the times of the others (Linux, `zap_pid_ns_processes`). A renderer is often one
of them, with half of the time of a scan.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct

MOUNTS = Path("/proc/self/mounts")
ENTER = 'echo $$ > "$0" && exec "$@"'  # Run by a shell: $0 is the group's file `cgroup.procs`.
POLL_INTERVAL_S, KILL_TIMEOUT_S = 0.05, 10.0


class ControlGroupRefused(Exception):
    """Raised if this process cannot have a control group of its own."""


class ControlGroup(Struct, frozen=True):
    """A control group, with the processor time of all commands that have run in it."""

    folder: Path

    def command(self, command: Sequence[str]) -> tuple[str, ...]:
        """Return the command line that runs `command` in this group."""
        return ("sh", "-c", ENTER, str(self.folder / "cgroup.procs"), *command)

    def wait_for_end(self, timeout_s: float) -> None:
        """Wait until all processes of the group have ended, and kill those that still run after `timeout_s` seconds.

        Raises TimeoutError if they cannot be killed.
        """
        if self._ends_within(timeout_s):
            return
        (self.folder / "cgroup.kill").write_text("1")
        if not self._ends_within(KILL_TIMEOUT_S):
            raise TimeoutError("the processes of a control group do not end")

    def _ends_within(self, timeout_s: float) -> bool:
        deadline = time.monotonic() + timeout_s
        while "populated 1" in (self.folder / "cgroup.events").read_text():
            if time.monotonic() > deadline:
                return False
            time.sleep(POLL_INTERVAL_S)
        return True

    def cpu_s(self) -> float:
        """Return the processor seconds of all processes that the group has had."""
        lines = (self.folder / "cpu.stat").read_text().splitlines()
        return next(int(value) for name, value in map(str.split, lines) if name == "usage_usec") / 1e6


@contextmanager
def control_group() -> Iterator[ControlGroup]:
    """Yield a new control group, and kill its processes and remove it afterwards.

    Raises ControlGroupRefused without Linux, root or a writable file system of the type cgroup2.
    """
    try:
        lines = MOUNTS.read_text().splitlines()
        root = next(Path(mount[1]) for mount in map(str.split, lines) if mount[2] == "cgroup2")
        group = ControlGroup(Path(tempfile.mkdtemp(prefix="website-scan-", dir=root)))
    except (OSError, StopIteration) as error:
        reason = "the processor time of a command is counted on Linux only, as root, and with a writable cgroup2"
        raise ControlGroupRefused(reason) from error
    try:
        yield group
    finally:
        group.wait_for_end(0)
        group.folder.rmdir()
