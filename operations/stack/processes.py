"""Start child processes that end with their parent.

Servers can run under other accounts.

This module does not import Django.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import FrameType
from typing import IO, ClassVar

from msgspec import Struct

LAUNCHER = Path(__file__).with_name("launcher.py")


class Account(Struct, frozen=True):
    """A child process's user and group IDs."""

    uid: int
    gid: int


MYSELF = Account(os.geteuid(), os.getegid())
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class EmbeddedError(Exception):
    """Raised when a server cannot be started.

    The message is a single line, which is printed on the terminal.
    """


class Server(ABC):
    """A server program that this process starts and stops.

    It runs at most once at a time.
    """

    name: ClassVar[str]
    variable: ClassVar[str]  # Name of the environment variable for the server's URL.
    # Signals for an orderly stop and for an immediate stop.
    stop_signals: ClassVar[tuple[signal.Signals, signal.Signals]]
    url: str  # The URL may change until the server is ready.

    def __init__(self, log: Path) -> None:
        self.log = log
        self.process: subprocess.Popen[bytes] | None = None

    @abstractmethod
    def start(self) -> None:
        """Start the process, without waiting until the server is ready.

        Raises EmbeddedError.
        """

    @abstractmethod
    def is_ready(self) -> bool:
        """Return True if the server answers."""

    @abstractmethod
    def last_error(self) -> str:
        """Return the server's last message about a failed start."""

    def retry(self) -> bool:
        """Try again after a failed start, for example on another port.

        Return False if that would not help.
        """
        return False

    def open_log(self) -> IO[bytes]:
        """Open the log for appending, and make it private.

        Older versions created logs that every user could read.
        """
        self.log.touch(mode=0o600)
        self.log.chmod(0o600)
        return self.log.open("ab")

    def has_died(self) -> bool:
        return self.process is not None and self.process.poll() is not None

    def send(self, number: signal.Signals) -> None:
        if self.process is not None:
            self.process.send_signal(number)  # The signal has no effect on an ended process.


def spawn(
    command: Sequence[str | Path],
    *,
    death_signal: signal.Signals,
    account: Account = MYSELF,
    env: Mapping[str, str] | None = None,
    cwd: str | Path = "/",
    stdin: int | IO[bytes] = subprocess.DEVNULL,
    stdout: int | IO[bytes] = subprocess.DEVNULL,
) -> subprocess.Popen[bytes]:
    """Start `command` in its own session, so that Ctrl-C does not reach it.

    Its first item is an absolute path.

    stderr is merged with `stdout`. On Linux the kernel sends `death_signal` to the process when the calling THREAD
    ends, so this function must be called from the main thread. The process exits with status 126 if it cannot switch
    to the account. Raises OSError, and exceptions of signal handlers, after which no process is left running.
    """
    launch: list[str | Path] = [sys.executable, "-I", "-S", LAUNCHER, str(os.getpid())]
    launch += [str(int(death_signal)), str(account.uid), str(account.gid)]
    process: subprocess.Popen[bytes] | None = None
    try:
        # If a signal handler raised an exception inside Popen, the new process would be left running unnoticed.
        with deferred_signals(ENDING):
            process = subprocess.Popen(
                [os.fspath(part) for part in (*launch, *command)],
                stdin=stdin,
                stdout=stdout,
                stderr=subprocess.STDOUT,
                env=env,
                cwd=cwd,
                start_new_session=True,
            )
    except BaseException:
        if process is not None:
            process.kill()
            process.wait()
        raise
    return process


@contextlib.contextmanager
def deferred_signals(numbers: Iterable[signal.Signals]) -> Iterator[None]:
    """Defer Python's handlers for these signals until the block has ended."""
    received: list[tuple[int, FrameType | None]] = []
    all_handlers = {number: signal.getsignal(number) for number in numbers}
    handlers = {number: handler for number, handler in all_handlers.items() if callable(handler)}
    for number in handlers:
        signal.signal(number, lambda *arguments: received.append(arguments))
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
    for received_number, frame in received:
        handlers[signal.Signals(received_number)](received_number, frame)


def wait_all(processes: Iterable[subprocess.Popen[bytes]], timeout_s: float) -> bool:
    """Wait until all processes have ended.

    Return False if a process still runs after `timeout_s`.
    """
    deadline = time.monotonic() + timeout_s
    for process in processes:
        try:
            process.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            return False
    return True


def last_line(log: Path, containing: Sequence[str] = ("",)) -> str:
    """Return a log's last line with one of these words, and the log's path, for an error message."""
    with log.open("rb") as file:
        file.seek(max(0, log.stat().st_size - 8192))
        lines = file.read().decode("utf-8", "replace").splitlines()
    matching = [line for line in lines if any(word in line for word in containing)]
    return f"{matching[-1].strip()} (see {log})" if matching else f"see {log}"
