"""Child processes that end with their parent, and the users that servers run as. Imports no Django."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import IO, ClassVar

LAUNCHER = Path(__file__).with_name("launcher.py")


@dataclass(frozen=True, slots=True)
class Account:
    """User and group IDs of a child process."""

    uid: int
    gid: int


MYSELF = Account(os.geteuid(), os.getegid())
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class EmbeddedError(Exception):
    """Failure to start a server; the message is one line for the person at the terminal."""


class Server(ABC):
    """Server that this process starts and stops; at most one process at a time."""

    name: ClassVar[str]
    variable: ClassVar[str]  # the environment variable that takes its URL
    stop_signals: ClassVar[tuple[signal.Signals, signal.Signals]]  # orderly; at once
    url: str  # final once the server is ready

    def __init__(self, log: Path) -> None:
        self.log = log
        self.process: subprocess.Popen[bytes] | None = None

    @abstractmethod
    def start(self) -> None:
        """Start the process; it need not be ready. Raises EmbeddedError."""

    @abstractmethod
    def is_ready(self) -> bool:
        """Return True if the server answers."""

    @abstractmethod
    def complaint(self) -> str:
        """Return the server's last message about a failed start."""

    def retry(self) -> bool:
        """Try to start once more in another way; return False if there is none."""
        return False

    def open_log(self) -> IO[bytes]:
        """Open the log for appending; make it private, because an older version may have left it readable by all."""
        self.log.touch(mode=0o600)
        self.log.chmod(0o600)
        return self.log.open("ab")

    def has_died(self) -> bool:
        return self.process is not None and self.process.poll() is not None

    def send(self, number: signal.Signals) -> None:
        if self.process is not None:
            self.process.send_signal(number)  # does nothing to a process that has ended


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
    """Start `command` (an absolute path first) in a session of its own, so that Ctrl-C misses it.

    Its stderr joins `stdout`. On Linux the kernel sends it `death_signal` when the calling THREAD
    ends, so call this from the main thread. Ends with status 126 if it cannot switch to the account.
    Raises OSError, and what this process's handlers of signals raise, after which nothing is left running.
    """
    launch: list[str | Path] = [sys.executable, "-I", "-S", LAUNCHER, str(os.getpid())]
    launch += [str(int(death_signal)), str(account.uid), str(account.gid)]
    process: subprocess.Popen[bytes] | None = None
    try:
        with held(ENDING):  # else one that raises here would leave a process that nobody knows
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
def held(numbers: Iterable[signal.Signals]) -> Iterator[None]:
    """Call this process's handlers of these signals afterwards instead of within."""
    came: list[tuple[int, FrameType | None]] = []
    handlers = {number: signal.getsignal(number) for number in numbers}
    ours = {number: handler for number, handler in handlers.items() if callable(handler)}
    for number in ours:
        signal.signal(number, lambda *signalled: came.append(signalled))
    try:
        yield
    finally:
        for number, handler in ours.items():
            signal.signal(number, handler)
    for received, frame in came:
        ours[signal.Signals(received)](received, frame)


def wait_all(processes: Iterable[subprocess.Popen[bytes]], timeout_s: float) -> bool:
    """Wait until all processes have ended; return False if one still runs after `timeout_s`."""
    deadline = time.monotonic() + timeout_s
    for process in processes:
        try:
            process.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            return False
    return True


def last_line(log: Path, containing: Sequence[str] = ("",)) -> str:
    """Return the last line of a log that contains one of these words, for a message about a failure."""
    with log.open("rb") as file:
        file.seek(max(0, log.stat().st_size - 8192))
        lines = file.read().decode("utf-8", "replace").splitlines()
    matching = [line for line in lines if any(word in line for word in containing)]
    return f"{matching[-1].strip()} (see {log})" if matching else f"see {log}"
