"""Supervisor: runs several programs, merges their output in one stream, and restarts programs that end.

Imports no Django. honcho's Printer draws the lines; its Manager is not used, because it stops
everything when one program ends.
"""

from __future__ import annotations

import contextlib
import datetime
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import IO, Any, Protocol

from honcho.colour import get_colours
from honcho.printer import Message, Printer

from operations.stack.forks import fork

TICK_S = 0.1
# While nothing has happened for a while.
CALM_TICK_S, CALM_AFTER_S = 0.5, 5.0
STOP_TIMEOUT_S = 7.0
KILL_TIMEOUT_S = 1.0
FIRST_DELAY_S = 1.0
LAST_DELAY_S = 30.0
STABLE_S = 60.0  # a program that ran this long restarts after FIRST_DELAY_S again
READ_BYTES = 65536
STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@dataclass(frozen=True)
class Program:
    """Program to run. `env` is the whole environment. While `waits()` returns True, the program does not start."""

    name: str
    command: Sequence[str]
    env: Mapping[str, str]
    cwd: Path
    waits: Callable[[], bool] = lambda: False


class Process(Protocol):
    """Running program: what `subprocess.Popen` and `operations.stack.forks.Fork` have in common."""

    pid: int
    returncode: int | None
    stdout: IO[bytes] | None

    def poll(self) -> int | None: ...
    def wait(self, timeout: float | None = None) -> int: ...
    def send_signal(self, number: int, /) -> None: ...


def forked(program: Program) -> Process:
    """Start a Python program as a fork of this process, which has imported its modules."""
    return fork(program.name, program.command, env=program.env, cwd=program.cwd)


@dataclass
class _Running:
    program: Program
    colour: str
    process: Process | None = None
    output: IO[bytes] | None = None
    partial_line: bytes = b""
    started_at: float = 0.0
    start_at: float = 0.0  # monotonic; when `process` is None
    delay_s: float = field(default=FIRST_DELAY_S)


class Supervisor:
    """Supervisor of programs. `run()` returns after a stop signal (or `stop()`), once all its processes have ended.

    A program that ends, with any status, restarts after 1, 2, 4 … 30 s (backoff). `on_tick` is called about ten times
    a second, and twice a second while nothing happens. SIGTERM goes to a program's first process; the rest of its
    process group is killed after `STOP_TIMEOUT_S`.
    """

    def __init__(
        self,
        programs: Sequence[Program],
        output: IO[str],
        *,
        start: Callable[[Program], Process] = forked,
        on_tick: Callable[[], None] = lambda: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._printer = Printer(output, width=max(len(program.name) for program in programs))
        self._running = [_Running(program, colour) for program, colour in zip(programs, get_colours(), strict=False)]
        self._start_program = start
        self._on_tick = on_tick
        self._clock = clock
        self._selector = selectors.DefaultSelector()
        self._stopping = False
        self._stirred_at = 0.0  # monotonic time of the last start or output of a program

    def stop(self) -> None:
        """Make `run` stop all programs and return."""
        self._stopping = True

    def run(self) -> None:
        with self._selector, _handled(STOP_SIGNALS, lambda *_: self.stop()):
            try:
                while not self._stopping:
                    self._start_due()
                    is_calm = self._clock() - self._stirred_at > CALM_AFTER_S
                    self._relay(CALM_TICK_S if is_calm else TICK_S)
                    self._on_tick()
            finally:
                self._stop_all()

    def say(self, text: str) -> None:
        """Print a line of the supervisor's own."""
        self._write(text, "", None)

    def _start_due(self) -> None:
        for each in self._running:
            if each.process is not None and each.process.poll() is not None:
                self._reap(each)
            if each.process is None and self._clock() >= each.start_at and not each.program.waits():
                self._start(each)

    def _start(self, each: _Running) -> None:
        each.process = self._start_program(each.program)
        each.started_at = self._stirred_at = self._clock()
        each.output = each.process.stdout
        if each.output is not None:
            os.set_blocking(each.output.fileno(), False)
            self._selector.register(each.output, selectors.EVENT_READ, each)

    def _reap(self, each: _Running) -> None:
        """Report an unexpected end, kill the rest of the program's process group, and schedule its restart."""
        if each.process is None:
            return
        _signal_group(each.process, signal.SIGKILL)
        self._close(each)
        if self._clock() - each.started_at >= STABLE_S:
            each.delay_s = FIRST_DELAY_S
        self.say(f"{_ending(each)}; it starts again in {each.delay_s:g} s")
        each.process = None
        each.start_at = self._clock() + each.delay_s
        each.delay_s = min(each.delay_s * 2, LAST_DELAY_S)

    def _relay(self, timeout_s: float) -> None:
        for key, _ in self._selector.select(timeout_s):
            self._stirred_at = self._clock()
            self._read(key.data)

    def _read(self, each: _Running) -> bool:
        """Print the output that has arrived; return False if there is none left to read."""
        if each.output is None:
            return False
        try:
            chunk = os.read(each.output.fileno(), READ_BYTES)
        except BlockingIOError:
            return False
        if not chunk:
            self._selector.unregister(each.output)
            each.output.close()
            each.output = None
            return False
        *lines, each.partial_line = (each.partial_line + chunk).split(b"\n")
        for line in lines:
            self._write(line.decode("utf-8", "replace"), each.program.name, each.colour)
        return True

    def _close(self, each: _Running) -> None:
        while self._read(each):
            pass
        if each.output is not None:
            self._selector.unregister(each.output)
            each.output.close()
            each.output = None
        if each.partial_line:
            text = each.partial_line.decode("utf-8", "replace")
            self._write(text, each.program.name, each.colour)
            each.partial_line = b""

    def _write(self, text: str, name: str, colour: str | None) -> None:
        now = datetime.datetime.now().astimezone()
        try:
            self._printer.write(Message("line", text, now, name, colour))
        except OSError:  # no reader any more: the terminal is closed, or `| head` has ended
            self._stopping = True

    def _stop_all(self) -> None:
        alive = [(each, each.process) for each in self._running if each.process is not None]
        for _, process in alive:
            process.send_signal(signal.SIGTERM)
        deadline = time.monotonic() + STOP_TIMEOUT_S
        while alive and time.monotonic() < deadline:
            self._relay(TICK_S)
            ended = [(each, process) for each, process in alive if process.poll() is not None]
            for each, process in ended:
                # At once: the process's number is free now, and may lead the group of another program later.
                _signal_group(process, signal.SIGKILL)
                self._close(each)
                alive.remove((each, process))
        for each, process in alive:
            self.say(f"{each.program.name} does not stop, it is killed")
            _signal_group(process, signal.SIGKILL)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(KILL_TIMEOUT_S)
            self._close(each)


def _ending(each: _Running) -> str:
    status = None if each.process is None else each.process.returncode
    if status is not None and status < 0:
        return f"{each.program.name} was ended by {signal.Signals(-status).name}"
    return f"{each.program.name} ended with status {status}"


def _signal_group(process: Process, number: signal.Signals) -> None:
    """Send a signal to the whole process group that `spawn` created, even after its first process has ended."""
    with contextlib.suppress(ProcessLookupError, PermissionError):  # macOS: EPERM for zombies
        os.killpg(process.pid, number)


@contextlib.contextmanager
def _handled(numbers: Sequence[signal.Signals], handler: Callable[[int, FrameType | None], Any]) -> Iterator[None]:
    before = {number: signal.signal(number, handler) for number in numbers}
    try:
        yield
    finally:
        for number, old in before.items():
            signal.signal(number, old)
