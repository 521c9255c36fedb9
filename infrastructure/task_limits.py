"""Time limits of a part of a Celery task, shorter than the limits of the task.

Celery knows the limits of a task by its name only. One task executes visits with different limits, and which visit it
executes is decided only after its start.
"""

from __future__ import annotations

import faulthandler
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from billiard.pool import SIG_SOFT_TIMEOUT, soft_timeout_sighandler


@contextmanager
def task_limits(soft_s: float, hard_s: float) -> Iterator[None]:
    """Raise `SoftTimeLimitExceeded` in the task after `soft_s` seconds, and end its process after `hard_s` seconds.

    Only processes of a worker's pool have limits. The process ends even if its threads hang in C code, and the
    tracebacks of all threads are logged. Another worker executes the visit after its lease has expired.
    """
    if signal.getsignal(SIG_SOFT_TIMEOUT) is not soft_timeout_sighandler:
        yield
        return
    lock = threading.Lock()
    has_ended = False

    def interrupt() -> None:
        with lock:
            if not has_ended:
                os.kill(os.getpid(), SIG_SOFT_TIMEOUT)

    timer = threading.Timer(soft_s, interrupt)
    timer.daemon = True
    timer.start()
    faulthandler.dump_traceback_later(hard_s, exit=True)
    try:
        yield
    finally:
        with lock:
            has_ended = True
        faulthandler.cancel_dump_traceback_later()
        timer.cancel()
