"""Limits of the processes in which code of plug-ins runs.

They protect against mistakes. They are no sandbox for malicious code: it runs as the user of the scanner, and can read
what this user can read.
"""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import sys
from typing import Any

from website_scan.plugins.errors import PlainError

MIB = 1024 * 1024
# The limit includes the interpreter and its libraries, which map about 100 MiB.
MEMORY_BYTES = 768 * MIB
MAX_OPEN_FILES = 64
PR_SET_PDEATHSIG = 1  # <linux/prctl.h>
WRITING_FLAGS = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
CHANGES = "plug-ins may not change files"
PROGRAMS = "plug-ins may not start or end other programs"
CONNECTIONS = "plug-ins may not open connections; only probes may use the network, with Network"
# What plug-ins may not do, by the names of audit events (https://docs.python.org/3/library/audit_events.html).
REFUSALS = {
    **dict.fromkeys(("os.chmod", "os.chown", "os.link", "os.mkdir", "os.remove", "os.rename", "os.rmdir"), CHANGES),
    **dict.fromkeys(("os.symlink", "os.truncate"), CHANGES),
    **dict.fromkeys(("os.exec", "os.fork", "os.forkpty", "os.kill", "os.killpg", "os.posix_spawn"), PROGRAMS),
    **dict.fromkeys(("os.spawn", "os.system", "pty.spawn", "subprocess.Popen"), PROGRAMS),
    **dict.fromkeys(("socket.__new__", "socket.getaddrinfo", "socket.gethostbyname", "syslog.syslog"), CONNECTIONS),
}


class Forbidden(PlainError, PermissionError):
    """Raised in a plug-in for an operation that it may not use."""


def limit_host() -> None:
    """Limit memory and files of this process and its children, and end it with its parent."""
    end_with_parent()
    _limit("RLIMIT_CORE", 0)
    _limit("RLIMIT_FSIZE", 0)
    _limit("RLIMIT_NOFILE", MAX_OPEN_FILES)
    # macOS also counts shared memory, and refuses the limit.
    if sys.platform != "darwin":
        _limit("RLIMIT_AS", MEMORY_BYTES)


def limit_child(cpu_s: int) -> None:
    """Limit the processor time of this process, and the threads and processes that it may start to none.

    The kernel does not limit those of the user root.
    """
    end_with_parent()
    _limit("RLIMIT_CPU", cpu_s)
    _limit("RLIMIT_NPROC", 0)


def _limit(name: str, value: int) -> None:
    with contextlib.suppress(AttributeError, ValueError, OSError):
        resource.setrlimit(getattr(resource, name), (value, value))


def end_with_parent() -> None:
    """Let the kernel kill this process when its parent ends. Only Linux can do it."""
    if sys.platform == "linux":
        import ctypes  # macOS does not need it.

        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


class Audit:
    """Audit hook that refuses network connections, other programs and changes of files.

    It refuses nothing while it is paused: this process itself starts a child for each check.
    """

    def __init__(self) -> None:
        self.is_paused = False

    def install(self) -> None:
        sys.addaudithook(self._refuse)

    def _refuse(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self.is_paused:
            return
        refusal = REFUSALS.get(event)
        if event == "open" and _is_writing(arguments):
            refusal = CHANGES
        if refusal:
            raise Forbidden(refusal)


def _is_writing(arguments: tuple[Any, ...]) -> bool:
    _, mode, flags = arguments
    return isinstance(flags, int) and bool(flags & WRITING_FLAGS) if mode is None else not set("wax+").isdisjoint(mode)
