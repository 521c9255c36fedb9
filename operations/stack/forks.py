"""Run Python programs as forks of this process.

They share its imported modules and memory.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import os
import runpy
import signal
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, NoReturn

from operations.stack.processes import ENDING

PR_SET_PDEATHSIG, PR_SET_NAME = 1, 15  # Options of the system call prctl(2).
POLL_S = 0.01
FIRST_FILE, LAST_FILE = 3, 1 << 16  # Range of file descriptors after the standard streams.


class Fork:
    """Child process that runs a Python command.

    It offers some of `subprocess.Popen`'s interface.

    `stdout` is a stream of the process's output and errors. `returncode` is the negative number of a signal that ended
    the process.
    """

    def __init__(self, pid: int, stdout: IO[bytes]) -> None:
        self.pid = pid
        self.stdout: IO[bytes] | None = stdout
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """Return the exit status, or None while the process runs."""
        if self.returncode is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.returncode = os.waitstatus_to_exitcode(status)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait until the process has ended, and return the exit status.

        Raises subprocess.TimeoutExpired.
        """
        deadline = None if timeout is None else time.monotonic() + timeout
        while (status := self.poll()) is None:
            if deadline is not None and time.monotonic() >= deadline:
                raise subprocess.TimeoutExpired(str(self.pid), timeout or 0.0)
            time.sleep(POLL_S)
        return status

    def send_signal(self, number: int) -> None:
        """Send a signal to the process, unless it has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def read(self) -> bytes:
        """Return everything the process printed, once it has closed its output."""
        if self.stdout is None:
            return b""
        with self.stdout as output:
            return output.read()


def fork(name: str, command: Sequence[str], *, env: Mapping[str, str], cwd: str | Path) -> Fork:
    """Start a Python command (`python -m module …` or `python file …`) in its own session.

    The child's environment is `env`. It shares no open file with this process. On Linux, `name` is the child's name in
    lists of processes, and the kernel sends SIGTERM to the child when the calling THREAD ends, so this function must be
    called from the main thread.
    """
    read, write = os.pipe()
    parent = os.getpid()
    for stream in (sys.stdout, sys.stderr):
        stream.flush()  # The output is flushed first, because the child would write the buffered output a second time.
    signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)  # The child unblocks these signals when it has its own handlers.
    try:
        pid = os.fork()
        if pid == 0:
            _become(name, command, env, cwd, parent, write)
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)
        os.close(write)
    return Fork(pid, os.fdopen(read, "rb"))


def _become(
    name: str, command: Sequence[str], env: Mapping[str, str], cwd: str | Path, parent: int, output: int
) -> NoReturn:
    """Run the program in this newly forked process, and exit with the program's status."""
    status = 1
    try:
        _detach(name, parent, output)
        os.environ.clear()
        os.environ.update(env)
        os.chdir(cwd)
        _execute(command)
        status = 0
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
        if isinstance(end.code, str):
            sys.stderr.write(f"{end.code}\n")
    except KeyboardInterrupt:
        status = 128 + signal.SIGINT
    except BaseException:  # noqa: BLE001 -- Python itself prints any exception at the end of a program.
        traceback.print_exc()
    finally:
        # Exit as Python does at the end of a program, but without running the parent's code further up the call stack.
        with contextlib.suppress(BaseException):
            threading._shutdown()  # type: ignore[attr-defined]  # noqa: SLF001 -- multiprocessing calls it in forks, too.
            atexit._run_exitfuncs()  # noqa: SLF001 -- multiprocessing calls it in forks, too.
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(status)


def _detach(name: str, parent: int, output: int) -> None:
    os.setsid()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    if sys.platform == "linux":
        library = ctypes.CDLL(None)
        library.prctl(PR_SET_NAME, name.encode(), 0, 0, 0)
        library.prctl(PR_SET_PDEATHSIG, int(signal.SIGTERM), 0, 0, 0)
        if os.getppid() != parent:
            sys.exit("the parent has ended")
    devnull = os.open(os.devnull, os.O_RDONLY)
    for target, source in enumerate((devnull, output, output)):
        os.dup2(source, target)
    os.closerange(FIRST_FILE, LAST_FILE)
    # Line-buffered, because the supervisor merges the lines of several programs.
    sys.stdin = open(0, closefd=False)  # noqa: SIM115
    sys.stdout = open(1, "w", buffering=1, errors="backslashreplace", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", buffering=1, errors="backslashreplace", closefd=False)  # noqa: SIM115
    signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)


def _execute(command: Sequence[str]) -> None:
    """Execute a `python -m module …` or `python file …` program in this process."""
    _, first, *rest = command
    if first == "-m":
        sys.argv = rest
        runpy.run_module(rest[0], run_name="__main__", alter_sys=True)
    else:
        sys.argv = [first, *rest]
        runpy.run_path(first, run_name="__main__")
