"""Time limits for Python functions that process hostile pages.

Checks and parsers are such functions.
"""

from __future__ import annotations

import ctypes
import math
import os
import queue
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import TypeVar

from msgspec import Struct, field

T = TypeVar("T")

MIN_WAIT_S = 0.005
# Python drops an exception raised in a finalizer, so OutOfTime is raised again, at most MAX_RAISES times.
RAISE_INTERVAL_S = 0.25
MAX_RAISES = 200


class OutOfTime(BaseException):
    """Raised in code that exceeds its time limit, at any step.

    It is not caught by `except Exception`.
    """


def limited(function: Callable[[], T], seconds: float, cpu_s: float = math.inf) -> T:
    """Call `function`.

    Raises OutOfTime if the call exceeds `seconds`, or `cpu_s` of processor time.

    The exception is raised between two steps of Python code, so the function should have no locks and change nothing
    that outlives it. A step outside of Python, such as one search with a pattern, is finished first. Where other
    threads cannot read a thread's processor time (macOS), only `seconds` counts.

    No exception is raised after this call has returned, nor in another thread that later gets the same ident: the
    watchdog can no longer raise for this block, and an exception that was set at the last moment has been raised here.
    """
    block = _LimitedCall.for_current_thread(seconds, cpu_s)
    # After `has_ended` is set, at most two more exceptions arrive: one that was already set, and one from a watchdog
    # that had just checked `has_ended`. So the third call of `close` cannot be interrupted.
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


class _LimitedCall(Struct, eq=False):
    """Running call of `limited`.

    `deadline` is on the monotonic clock, `cpu_deadline` on the thread's processor clock, both in seconds.
    """

    thread_id: int
    deadline: float
    clock: int | None
    cpu_deadline: float
    has_ended: bool = False
    raises: int = 0
    raised_at: float = -math.inf
    # At the end of the block, its thread acquires the lock and never releases it.
    gate: threading.RLock = field(default_factory=threading.RLock)

    @classmethod
    def for_current_thread(cls, seconds: float, cpu_s: float) -> _LimitedCall:
        thread_id = threading.get_ident()
        read_clock = getattr(time, "pthread_getcpuclockid", None)
        clock: int | None = read_clock(thread_id) if read_clock and cpu_s < math.inf else None
        cpu_deadline = time.clock_gettime(clock) + cpu_s if clock is not None else math.inf
        return cls(thread_id, time.monotonic() + seconds, clock, cpu_deadline)

    def close(self) -> None:
        """Prevent further exceptions, and raise a pending one."""
        self.has_ended = True
        self.gate.acquire()
        # Raise a pending exception. After cancelling it, Python 3.11 and 3.12 would check for exceptions before every
        # step, which slows functions down, and in 3.11 a traced function (debugger, coverage) would never end.
        _raise_pending()

    def remaining_s(self) -> float:
        """Return the seconds until OutOfTime may be raised.

        Infinite if the block has ended.
        """
        if self.has_ended or self.raises >= MAX_RAISES:
            return math.inf
        now = time.monotonic()
        remaining_s = self.deadline - now
        if self.clock is not None:
            try:
                # The processor time of a thread advances no faster than the clock.
                remaining_s = min(remaining_s, self.cpu_deadline - time.clock_gettime(self.clock))
            except OSError:
                # The thread has ended, and the block with it.
                return math.inf
        return max(remaining_s, self.raised_at + RAISE_INTERVAL_S - now)

    def raise_in_thread(self) -> None:
        """Raise OutOfTime in the thread of a block that has not ended."""
        if self.gate.acquire(blocking=False):
            try:
                if not self.has_ended:
                    self.raises += 1
                    self.raised_at = time.monotonic()
                    ident, kind = ctypes.c_ulong(self.thread_id), ctypes.py_object(OutOfTime)
                    ctypes.pythonapi.PyThreadState_SetAsyncExc(ident, kind)
            finally:
                self.gate.release()


class _Watchdog:
    """Thread that raises OutOfTime in all blocks whose time is up.

    It watches the whole process.
    """

    def __init__(self) -> None:
        # OutOfTime may interrupt a thread at any step, so a step of these methods is one call to C.
        self._blocks: deque[_LimitedCall] = deque()
        self._wakeups: queue.SimpleQueue[None] = queue.SimpleQueue()
        # Time at which the sleeping thread wakes up, or infinity while it checks blocks.
        self._wakes_at = math.inf
        self._start = threading.Lock()
        self._thread: threading.Thread | None = None

    def watch(self, block: _LimitedCall) -> None:
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
            # New blocks must wake the thread from here on, because the following loop may miss them.
            self._wakes_at = math.inf
            remaining_s = math.inf
            for _ in range(len(self._blocks)):
                block = self._blocks.popleft()
                if block.remaining_s() <= 0:
                    block.raise_in_thread()
                if (block_remaining_s := block.remaining_s()) < math.inf:
                    remaining_s = min(remaining_s, block_remaining_s)
                    self._blocks.append(block)
            if remaining_s < math.inf:
                self._wakes_at = time.monotonic() + max(MIN_WAIT_S, remaining_s)
            try:
                self._wakeups.get(timeout=max(MIN_WAIT_S, remaining_s) if remaining_s < math.inf else None)
            except queue.Empty:
                continue


def _raise_pending() -> None:
    """Let Python raise a pending exception."""


def _replace_watchdog() -> None:
    """Create a new watchdog in a forked process, which inherits no threads."""
    global _watchdog
    _watchdog = _Watchdog()


_watchdog = _Watchdog()
os.register_at_fork(after_in_child=_replace_watchdog)
