"""An end for code that takes too long and knows no deadline: checks and parsers run over hostile pages."""

from __future__ import annotations

import contextlib
import ctypes
import math
import threading
import time
from collections.abc import Iterator

LEAST_WAIT_S = 0.001


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
    lock = threading.Lock()
    over = threading.Event()
    is_over = False

    def watch() -> None:
        left_s = min(seconds, cpu_s)
        # One thread gets no more of the processor than time goes by.
        while not over.wait(max(LEAST_WAIT_S, left_s)):
            with lock:
                if is_over:
                    return
                left_s = min(ends - time.monotonic(), ends_cpu - time.clock_gettime(clock))
                if left_s <= 0:
                    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread_id), ctypes.py_object(OutOfTime))
                    return

    watcher = threading.Thread(target=watch, name="alarm", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        # Whoever got the lock after the alarm rang meets the exception here, not somewhere behind.
        with lock:
            is_over = True
        over.set()
