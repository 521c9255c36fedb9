"""Time limits for code that has no deadlines of its own: checks and parsers that process hostile pages."""

from __future__ import annotations

import ctypes
import math
import os
import queue
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

T = TypeVar("T")

MIN_WAIT_S = 0.005
# Python drops an exception that is raised while it finalizes an object, so the watchdog raises OutOfTime again until
# the block has ended. The number of times is limited: the limits of the process end code that drops it every time.
RAISE_AGAIN_S = 0.25
MAX_RAISES = 200


class OutOfTime(BaseException):
    """Time limit exceeded: raised anywhere in the running code. `except Exception` does not catch it."""


def limited(function: Callable[[], T], seconds: float, cpu_s: float = math.inf) -> T:
    """Return the result of `function`. Raises OutOfTime if `function` exceeds `seconds`, or `cpu_s` of processor time.

    The exception is raised between two steps of Python code, so the function should have no locks and change nothing
    that outlives it. A step outside of Python, such as one search with a pattern, is finished first. Where other
    threads cannot read a thread's processor time (macOS), only `seconds` counts.

    No exception is raised after this call has returned, nor in another thread that later gets the same ident: the
    watchdog can no longer raise for this block, and an exception that was set at the last moment has been raised here.
    """
    block = _Block.here(seconds, cpu_s)
    # Once `is_over` is set, at most two exceptions arrive: one that was set before, and one from a watchdog that had
    # checked `is_over` a moment earlier. So the third call of `close` cannot be interrupted.
    try:
        try:
            try:
                _watchdog.watch(block)
                return function()
            finally:
                block.close()
        except OutOfTime:
            block.close()
            raise
    except OutOfTime:
        block.close()
        raise


@dataclass(slots=True, eq=False)
class _Block:
    """Running call of `limited`: its thread, and the times on two clocks (seconds) at which OutOfTime is due."""

    thread_id: int
    ends: float
    clock: int | None
    ends_cpu: float
    is_over: bool = False
    raises: int = 0
    raised_at: float = -math.inf
    # Lock of the right to set an exception. The block's thread acquires it at the end and never releases it.
    gate: threading.RLock = field(default_factory=threading.RLock)

    @classmethod
    def here(cls, seconds: float, cpu_s: float) -> _Block:
        thread_id = threading.get_ident()
        read_clock = getattr(time, "pthread_getcpuclockid", None)
        clock: int | None = read_clock(thread_id) if read_clock and cpu_s < math.inf else None
        ends_cpu = time.clock_gettime(clock) + cpu_s if clock is not None else math.inf
        return cls(thread_id, time.monotonic() + seconds, clock, ends_cpu)

    def close(self) -> None:
        """Prevent further exceptions. An exception that was set but has not arrived is raised here."""
        self.is_over = True
        self.gate.acquire()
        # Raise a pending exception. If it were cancelled instead, Python 3.11 and 3.12 would check for it before every
        # step from then on: functions are slower then, and in 3.11 a traced function (debugger, coverage) never ends.
        _raise_pending()

    def remaining_s(self) -> float:
        """Return the seconds until OutOfTime may be due; infinite if it never will be."""
        if self.is_over or self.raises >= MAX_RAISES:
            return math.inf
        now = time.monotonic()
        remaining_s = self.ends - now
        if self.clock is not None:
            try:
                # A thread's processor time advances no faster than the clock.
                remaining_s = min(remaining_s, self.ends_cpu - time.clock_gettime(self.clock))
            except OSError:  # the thread has ended, and so has the block
                return math.inf
        return max(remaining_s, self.raised_at + RAISE_AGAIN_S - now)

    def raise_in_thread(self) -> None:
        """Raise OutOfTime in the block's thread, unless the block is over."""
        if self.gate.acquire(blocking=False):
            try:
                if not self.is_over:
                    self.raises += 1
                    self.raised_at = time.monotonic()
                    ident, kind = ctypes.c_ulong(self.thread_id), ctypes.py_object(OutOfTime)
                    ctypes.pythonapi.PyThreadState_SetAsyncExc(ident, kind)
            finally:
                self.gate.release()


class _Watchdog:
    """Thread that watches all running blocks of the process and raises OutOfTime in those whose time is up."""

    def __init__(self) -> None:
        # OutOfTime may interrupt a thread at any step of these methods, so each step is one call to C.
        self._blocks: deque[_Block] = deque()
        self._wakeups: queue.SimpleQueue[None] = queue.SimpleQueue()
        self._wakes_at = math.inf  # monotonic time at which the sleeping thread wakes; infinite while it checks blocks
        self._start = threading.Lock()
        self._thread: threading.Thread | None = None

    def watch(self, block: _Block) -> None:
        if not self._is_running:
            with self._start:
                if not self._is_running:
                    thread = threading.Thread(target=self._run, name="time limits", daemon=True)
                    thread.start()
                    self._thread = thread
        self._blocks.append(block)
        if time.monotonic() + block.remaining_s() < self._wakes_at:
            self._wakeups.put(None)

    @property
    def _is_running(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    def _run(self) -> None:
        while True:
            self._wakes_at = math.inf  # new blocks wake the thread from now on, because this check may miss them
            remaining_s = math.inf
            for _ in range(len(self._blocks)):
                block = self._blocks.popleft()
                if block.remaining_s() <= 0:
                    block.raise_in_thread()
                if (block_s := block.remaining_s()) < math.inf:
                    remaining_s = min(remaining_s, block_s)
                    self._blocks.append(block)
            if remaining_s < math.inf:
                self._wakes_at = time.monotonic() + max(MIN_WAIT_S, remaining_s)
            try:
                self._wakeups.get(timeout=max(MIN_WAIT_S, remaining_s) if remaining_s < math.inf else None)
            except queue.Empty:
                continue


def _raise_pending() -> None:
    """Do nothing. Python raises a pending exception when it calls Python code."""


def _start_anew() -> None:
    """Create a new watchdog in a child process, which inherits no threads."""
    global _watchdog
    _watchdog = _Watchdog()


_watchdog = _Watchdog()
os.register_at_fork(after_in_child=_start_anew)
