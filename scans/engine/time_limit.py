"""An end for code that takes too long and knows no deadline: checks and parsers run over hostile pages."""

from __future__ import annotations

import contextlib
import ctypes
import math
import threading
import time
from collections.abc import Iterator

LEAST_WAIT_S = 0.001
# Python drops what is raised while it finalizes an object, so the alarm rings until its block has ended. Not for ever:
# code that drops it every time is ended by the process' own limits.
AGAIN_S = 0.25
MOST_RINGS = 200


class OutOfTime(BaseException):
    """Raised wherever the code happens to be; no `except Exception` on the way keeps it."""


@contextlib.contextmanager
def alarm(seconds: float, cpu_s: float = math.inf) -> Iterator[None]:
    """Raise OutOfTime in this thread when the block takes longer, or more of the processor by this thread.

    It comes between two steps of Python code, so the block should hold no locks and change nothing that
    outlives it. What has begun outside of Python, such as one search of a pattern, is finished first.
    """
    thread_id = threading.get_ident()
    clock = time.pthread_getcpuclockid(thread_id)
    ends, ends_cpu = time.monotonic() + seconds, time.clock_gettime(clock) + cpu_s
    # Of C alone, as what is raised in this thread may come between any two steps of Python.
    gate = threading.Lock()
    gate.acquire()

    def watch() -> None:
        left_s = min(seconds, cpu_s)
        for _ in range(MOST_RINGS):
            # One thread gets no more of the processor than time goes by.
            while left_s > 0:
                if gate.acquire(timeout=min(max(LEAST_WAIT_S, left_s), threading.TIMEOUT_MAX)):
                    return
                left_s = min(ends - time.monotonic(), ends_cpu - time.clock_gettime(clock))
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread_id), ctypes.py_object(OutOfTime))
            if gate.acquire(timeout=AGAIN_S):
                return

    watcher = threading.Thread(target=watch, name="alarm", daemon=True)
    late: OutOfTime | None = None
    try:
        watcher.start()
        yield
    finally:
        # When the watcher has ended, nothing more is raised: what rang meanwhile is met here, not somewhere behind.
        while watcher.is_alive():
            try:
                if gate.locked():
                    gate.release()
                watcher.join()
            except OutOfTime as error:
                late = error
        if late is not None:
            raise late
