"""A Celery worker's process pool, which grows and shrinks with the number of tasks (`--autoscale MAX,MIN`).

The pool starts with MIN processes. With a MIN of 0, one process stays after the first task, because its browser may be
running.
"""

from __future__ import annotations

import os
import signal
import sys
from typing import Any

from celery import current_task
from celery.signals import worker_process_init
from celery.worker import autoscale, state

# The timer shrinks the pool in this interval, so that the memory of a burst is free 10 to 20 seconds after its end. A
# new process costs a fork and its first connection to PostgreSQL, so pools do not follow every short pause.
SHRINK_INTERVAL_S = 10.0


class Autoscaler(autoscale.Autoscaler):
    """Autoscaler that grows the pool immediately, and shrinks it to the last ten seconds' peak of busy processes.

    Celery's autoscaler never shrinks the pool of a worker that gets a task every half minute, as workers here do.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **{"keepalive": SHRINK_INTERVAL_S} | options)

    _peak = 0  # Highest number of simultaneous tasks since the timer last called `_maybe_scale`.

    def _maybe_scale(self, req: Any = None) -> bool:
        self._peak = max(self._peak, self.qty)
        missing = min(self.qty, self.max_concurrency) - self.processes
        if missing > 0:
            self._grow(missing)  # type: ignore[attr-defined]  # Celery's type stubs lack this method.
            return True
        if req is not None:
            return False
        # Without a request, the caller is the timer.
        surplus = self.processes - max(self._peak, self.min_concurrency, 1)
        self._peak = self.qty
        # Do not shrink while a task is on its way. The pool does not know yet which process will accept it.
        if surplus <= 0 or len(state.reserved_requests) > len(state.active_requests):
            return False
        self._shrink(surplus)  # type: ignore[attr-defined]
        return True


@worker_process_init.connect
def exit_cleanly_when_idle(**_: object) -> None:
    """Let an idle pool process exit cleanly on SIGTERM. Celery sends SIGTERM to shrink the pool."""

    def handle(signal_number: int, _: object) -> None:
        if not current_task:
            sys.exit(0)
        signal.signal(signal_number, signal.SIG_DFL)
        os.kill(os.getpid(), signal_number)

    signal.signal(signal.SIGTERM, handle)
