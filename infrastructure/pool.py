"""Pool of a Celery worker that has as many processes as it needs (`--autoscale MOST,FEWEST`).

It starts with the fewest. If these are none, it keeps one from its first task on: that one may have a warm browser.
"""

from __future__ import annotations

import os
import signal
import sys
from typing import Any

from celery import current_task
from celery.signals import worker_process_init
from celery.worker import autoscale, state


class Autoscaler(autoscale.Autoscaler):
    """Autoscaler that grows at once, and keeps the processes that were busy at the same time in the last half minute.

    Celery's own would never shrink the pool of a worker that gets any task in this time, as ours do.
    """

    _busiest = 0

    def _maybe_scale(self, req: Any = None) -> bool:
        self._busiest = max(self._busiest, self.qty)
        missing = min(self.qty, self.max_concurrency) - self.processes
        if missing > 0:
            self._grow(missing)  # type: ignore[attr-defined]  # Celery's types leave it out
            return True
        if req is not None:
            return False
        # Called by the timer.
        surplus = self.processes - max(self._busiest, self.min_concurrency, 1)
        self._busiest = self.qty
        # The pool does not know which process gets a task until that process has accepted it.
        if surplus <= 0 or len(state.reserved_requests) > len(state.active_requests):
            return False
        self._shrink(surplus)  # type: ignore[attr-defined]
        return True


@worker_process_init.connect
def end_in_order(**_: object) -> None:
    """Have this process of a pool end in order on SIGTERM if it has no task: so the pool shrinks."""

    def end(number: int, _: object) -> None:
        if not current_task:
            sys.exit(0)
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    signal.signal(signal.SIGTERM, end)
