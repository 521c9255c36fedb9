"""Supervisor that runs several programs, merges their output into one stream, and restarts those that end.

This module does not import Django. honcho's Printer formats the lines. honcho's Manager is not used, because it stops
all programs when one ends.
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
from pathlib import Path
from types import FrameType
from typing import IO, Any, Protocol

from honcho.colour import get_colours
from honcho.printer import Message, Printer
from msgspec import Struct

from operations.stack.forks import fork

TICK_S = 0.1
# Ticks are rarer while no program has started or written anything for CALM_AFTER_S.
CALM_TICK_S, CALM_AFTER_S = 0.5, 5.0
STOP_TIMEOUT_S = 7.0
KILL_TIMEOUT_S = 1.0
FIRST_DELAY_S = 1.0
LAST_DELAY_S = 30.0
STABLE_S = 60.0  # A program that has run for this time restarts after FIRST_DELAY_S again.
READ_BYTES = 65536
STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Program(Struct, frozen=True):
    """A supervised program.

    `env` is its whole environment. It starts only when `waits()` returns False.
    """

    name: str
    command: Sequence[str]
    env: Mapping[str, str]
    cwd: Path
    waits: Callable[[], bool] = lambda: False


class Process(Protocol):
    """Protocol for a running process, either a `subprocess.Popen` or an `operations.stack.forks.Fork`."""

    pid: int
    returncode: int | None
    stdout: IO[bytes] | None

    def poll(self) -> int | None: ...
    def wait(self, timeout: float | None = None) -> int: ...
    def send_signal(self, number: int, /) -> None: ...


def start_fork(program: Program) -> Process:
    """Start a Python program as a fork of this process, which has already imported the program's modules."""
    return fork(program.name, program.command, env=program.env, cwd=program.cwd)


class _ProgramState(Struct):
    program: Program
    colour: str
    process: Process | None = None
    output: IO[bytes] | None = None
    partial_line: bytes = b""
    started_at: float = 0.0
    start_at: float = 0.0  # Monotonic time of the next start, if `process` is None.
    delay_s: float = FIRST_DELAY_S


class Supervisor:
    """Program supervisor.

    After a stop signal or `stop()`, `run()` returns when all processes have ended.

    A program that ends, with any status, restarts after 1, 2, 4 … 30 s (backoff). `on_tick` is called about ten times
    a second, and twice a second while nothing happens. To stop a program, SIGTERM is sent to its first process. The
    rest of the process group is killed after `STOP_TIMEOUT_S`.
    """

    def __init__(
        self,
        programs: Sequence[Program],
        output: IO[str],
        *,
        start: Callable[[Program], Process] = start_fork,
        on_tick: Callable[[], None] = lambda: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._printer = Printer(output, width=max(len(program.name) for program in programs))
        self._states = [
            _ProgramState(program, colour) for program, colour in zip(programs, get_colours(), strict=False)
        ]
        self._start_program = start
        self._on_tick = on_tick
        self._clock = clock
        self._selector = selectors.DefaultSelector()
        self._stopping = False
        self._active_at = 0.0  # Monotonic time of the last start or output of a program.

    def stop(self) -> None:
        """Make `run` stop all programs and return."""
        self._stopping = True

    def run(self) -> None:
        with self._selector, _signal_handlers(STOP_SIGNALS, lambda *_: self.stop()):
            try:
                while not self._stopping:
                    self._start_due()
                    is_calm = self._clock() - self._active_at > CALM_AFTER_S
                    self._relay(CALM_TICK_S if is_calm else TICK_S)
                    self._on_tick()
            finally:
                self._stop_all()

    def print_message(self, text: str) -> None:
        """Print one of the supervisor's own messages."""
        self._write(text, "", None)

    def _start_due(self) -> None:
        for state in self._states:
            if state.process is not None and state.process.poll() is not None:
                self._reap(state)
            if state.process is None and self._clock() >= state.start_at and not state.program.waits():
                self._start(state)

    def _start(self, state: _ProgramState) -> None:
        state.process = self._start_program(state.program)
        state.started_at = self._active_at = self._clock()
        state.output = state.process.stdout
        if state.output is not None:
            os.set_blocking(state.output.fileno(), False)
            self._selector.register(state.output, selectors.EVENT_READ, state)

    def _reap(self, state: _ProgramState) -> None:
        """Report that a program has ended, kill the rest of its process group, and schedule a restart."""
        if state.process is None:
            return
        _signal_group(state.process, signal.SIGKILL)
        self._close(state)
        if self._clock() - state.started_at >= STABLE_S:
            state.delay_s = FIRST_DELAY_S
        self.print_message(f"{_describe_end(state)}; it starts again in {state.delay_s:g} s")
        state.process = None
        state.start_at = self._clock() + state.delay_s
        state.delay_s = min(state.delay_s * 2, LAST_DELAY_S)

    def _relay(self, timeout_s: float) -> None:
        for key, _ in self._selector.select(timeout_s):
            self._active_at = self._clock()
            self._read(key.data)

    def _read(self, state: _ProgramState) -> bool:
        """Print the output that has arrived from a program.

        Return False if there is nothing to read.
        """
        if state.output is None:
            return False
        try:
            chunk = os.read(state.output.fileno(), READ_BYTES)
        except BlockingIOError:
            return False
        if not chunk:
            self._selector.unregister(state.output)
            state.output.close()
            state.output = None
            return False
        *lines, state.partial_line = (state.partial_line + chunk).split(b"\n")
        for line in lines:
            self._write(line.decode("utf-8", "replace"), state.program.name, state.colour)
        return True

    def _close(self, state: _ProgramState) -> None:
        while self._read(state):
            pass
        if state.output is not None:
            self._selector.unregister(state.output)
            state.output.close()
            state.output = None
        if state.partial_line:
            text = state.partial_line.decode("utf-8", "replace")
            self._write(text, state.program.name, state.colour)
            state.partial_line = b""

    def _write(self, text: str, name: str, colour: str | None) -> None:
        now = datetime.datetime.now().astimezone()
        try:
            self._printer.write(Message("line", text, now, name, colour))
        except OSError:  # Nobody reads the output any more: the terminal is closed, or a pipe's reader has ended.
            self._stopping = True

    def _stop_all(self) -> None:
        alive = [(state, state.process) for state in self._states if state.process is not None]
        for _, process in alive:
            process.send_signal(signal.SIGTERM)
        deadline = time.monotonic() + STOP_TIMEOUT_S
        while alive and time.monotonic() < deadline:
            self._relay(TICK_S)
            ended = [(state, process) for state, process in alive if process.poll() is not None]
            for state, process in ended:
                # The process group is killed immediately, because another program may get the same process ID later.
                _signal_group(process, signal.SIGKILL)
                self._close(state)
                alive.remove((state, process))
        for state, process in alive:
            self.print_message(f"{state.program.name} does not stop, it is killed")
            _signal_group(process, signal.SIGKILL)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(KILL_TIMEOUT_S)
            self._close(state)


def _describe_end(state: _ProgramState) -> str:
    status = None if state.process is None else state.process.returncode
    if status is not None and status < 0:
        return f"{state.program.name} was ended by {signal.Signals(-status).name}"
    return f"{state.program.name} ended with status {status}"


def _signal_group(process: Process, number: signal.Signals) -> None:
    """Send a signal to all processes in a program's group, even after the first one has ended."""
    with contextlib.suppress(ProcessLookupError, PermissionError):  # macOS raises EPERM for zombies.
        os.killpg(process.pid, number)


@contextlib.contextmanager
def _signal_handlers(
    numbers: Sequence[signal.Signals], handler: Callable[[int, FrameType | None], Any]
) -> Iterator[None]:
    old_handlers = {number: signal.signal(number, handler) for number in numbers}
    try:
        yield
    finally:
        for number, old_handler in old_handlers.items():
            signal.signal(number, old_handler)
