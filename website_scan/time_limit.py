"""Time limits for code without deadlines of its own: checks and parsers that process hostile pages."""

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

LEAST_WAIT_S = 0.005
# Python drops an exception raised while it finalizes an object, so the watchdog raises again until the block has ended.
# The number of times is limited: code that drops it every time is ended by the limits of the process.
AGAIN_S = 0.25
MOST_RINGS = 200


class OutOfTime(BaseException):
    """Raised at any point of the running code. It is no `Exception`, so `except Exception` does not catch it."""


def limited(function: Callable[[], T], seconds: float, cpu_s: float = math.inf) -> T:
    """Return the result of `function`. Raises OutOfTime if it takes longer, or if this thread uses more processor time.

    The exception comes between two steps of Python code, so the function should hold no locks and change nothing that
    outlives it. A step outside of Python, such as one search with a pattern, is finished first. Where other threads
    cannot read a thread's processor time (macOS), only `seconds` counts.

    Nothing is raised after this call, nor in another thread that later gets the same ident: when it returns, the
    watchdog can no longer ring for it, and an exception that was set at the last moment has been raised here.
    """
    block = _Block.here(seconds, cpu_s)
    # Once `is_over` is set, at most two rings arrive: one that was set before, and one from a watchdog that had checked
    # a moment earlier. So the third attempt to close cannot be interrupted.
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
    """A running call of `limited`: its thread, and when to ring there (both clocks in seconds)."""

    thread_id: int
    ends: float
    clock: int | None
    ends_cpu: float
    is_over: bool = False
    rings: int = 0
    rung_at: float = -math.inf
    # The holder decides whether a ring may be set. The block's thread takes it for good, repeatedly if interrupted.
    gate: threading.RLock = field(default_factory=threading.RLock)

    @classmethod
    def here(cls, seconds: float, cpu_s: float) -> _Block:
        thread_id = threading.get_ident()
        read_clock = getattr(time, "pthread_getcpuclockid", None)
        clock: int | None = read_clock(thread_id) if read_clock and cpu_s < math.inf else None
        ends_cpu = time.clock_gettime(clock) + cpu_s if clock is not None else math.inf
        return cls(thread_id, time.monotonic() + seconds, clock, ends_cpu)

    def close(self) -> None:
        """Prevent further rings. An exception that has not arrived yet is raised here."""
        self.is_over = True
        self.gate.acquire()
        # If it were taken back instead, Python 3.11 and 3.12 would look for it before every step from then on:
        # functions are slower then, and in 3.11 one that is traced (by a debugger, for coverage) never ends.
        _step()

    def left_s(self) -> float:
        """Return the seconds until the next ring may be due; infinite if none will be."""
        if self.is_over or self.rings >= MOST_RINGS:
            return math.inf
        now = time.monotonic()
        left_s = self.ends - now
        if self.clock is not None:
            try:
                # A thread's processor time advances no faster than the clock.
                left_s = min(left_s, self.ends_cpu - time.clock_gettime(self.clock))
            except OSError:  # the thread has ended meanwhile, and so has the block
                return math.inf
        return max(left_s, self.rung_at + AGAIN_S - now)

    def ring(self) -> None:
        """Raise OutOfTime in the block's thread, unless the block is over."""
        if self.gate.acquire(blocking=False):
            try:
                if not self.is_over:
                    self.rings += 1
                    self.rung_at = time.monotonic()
                    ident, kind = ctypes.c_ulong(self.thread_id), ctypes.py_object(OutOfTime)
                    ctypes.pythonapi.PyThreadState_SetAsyncExc(ident, kind)
            finally:
                self.gate.release()


class _Watchdog:
    """The one thread of a process that watches all running blocks and rings for those whose time is up."""

    def __init__(self) -> None:
        # A ring may interrupt a thread at any step of these methods, so each step is one call to C.
        self._blocks: deque[_Block] = deque()
        self._pokes: queue.SimpleQueue[None] = queue.SimpleQueue()
        self._wakes_at = math.inf  # on the monotonic clock, while it sleeps; infinite while it looks
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
        if time.monotonic() + block.left_s() < self._wakes_at:
            self._pokes.put(None)

    @property
    def _is_running(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    def _run(self) -> None:
        while True:
            self._wakes_at = math.inf  # new blocks poke from now on, because this look may miss them
            left_s = math.inf
            for _ in range(len(self._blocks)):
                block = self._blocks.popleft()
                if block.left_s() <= 0:
                    block.ring()
                if (block_s := block.left_s()) < math.inf:
                    left_s = min(left_s, block_s)
                    self._blocks.append(block)
            if left_s < math.inf:
                self._wakes_at = time.monotonic() + max(LEAST_WAIT_S, left_s)
            try:
                self._pokes.get(timeout=max(LEAST_WAIT_S, left_s) if left_s < math.inf else None)
            except queue.Empty:
                continue


def _step() -> None:
    """Do nothing. A call of Python code is where a waiting exception is raised."""


def _start_anew() -> None:
    """Create a new watchdog in a child process, which has none of its parent's threads."""
    global _watchdog
    _watchdog = _Watchdog()


_watchdog = _Watchdog()
os.register_at_fork(after_in_child=_start_anew)
