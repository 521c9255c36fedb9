"""An end for code that takes too long and knows no deadline: checks are pure functions over hostile pages."""

from __future__ import annotations

import contextlib
import ctypes
import threading
from collections.abc import Iterator


class OutOfTime(BaseException):
    """Raised wherever the code happens to be; no `except Exception` on the way keeps it."""


@contextlib.contextmanager
def alarm(seconds: float) -> Iterator[None]:
    """Raise OutOfTime in this thread when the block takes longer.

    It comes between two steps of Python code, so the block should hold no locks and change nothing that
    outlives it. What has begun outside of Python, such as one search of a pattern, is finished first.
    """
    thread_id = threading.get_ident()
    lock = threading.Lock()
    is_over = False

    def ring() -> None:
        with lock:
            if not is_over:
                ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread_id), ctypes.py_object(OutOfTime))

    timer = threading.Timer(seconds, ring)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        # Whoever got the lock after the alarm rang meets the exception here, not somewhere behind.
        with lock:
            is_over = True
        timer.cancel()
