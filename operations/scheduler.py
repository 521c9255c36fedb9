"""Celery beat scheduler that asks whether a task has work, copes with a clock set back, and logs an outage in one line.

It sends an `infrastructure.periodic.PeriodicTask` only if rows wait for it, so an idle service leaves queue and workers
alone.
"""

from __future__ import annotations

import logging
import time
from typing import Any

from celery.beat import PersistentScheduler, SchedulingError
from django.db import Error as DatabaseFailure
from django.db import connection
from kombu.exceptions import OperationalError
from redis import RedisError

from infrastructure.cache import outage
from infrastructure.periodic import PeriodicTask
from infrastructure.postgresql.silence import log_failure

logger = logging.getLogger(__name__)

# A task without work is sent this often nevertheless, for what its function may overlook.
LONGEST_PAUSE_S = 600.0


class SteadyScheduler(PersistentScheduler):
    """Scheduler for the schedule of `config.celery`."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._began_at = time.monotonic()
        self._sent_at: dict[str, float] = {}  # by name of the entry
        super().__init__(*args, **kwargs)

    def tick(self, *args: Any, **kwargs: Any) -> float:
        """Send due tasks; return the seconds until the next tick.

        A last run in the future is set to now, because the clock was set back since.
        """
        now = self.app.now()
        ahead = [entry for entry in self.schedule.values() if entry.last_run_at and entry.last_run_at > now]
        if ahead:
            logger.warning("the clock was put back; the schedule begins anew")
            for entry in ahead:
                entry.last_run_at = now
            self._heap = None  # its order follows the old clock
        seconds: float = super().tick(*args, **kwargs)
        return seconds

    def apply_entry(self, entry: Any, producer: Any = None) -> None:
        """Send a due task that has work. If Redis does not accept it, it is sent at its next time."""
        if not self._has_work(entry):
            return
        self._sent_at[entry.name] = time.monotonic()
        try:
            self.apply_async(entry, producer=producer, advance=False)
        except SchedulingError as error:
            if isinstance(error.__context__, OperationalError | RedisError | OSError):
                outage.begin(error)
            else:
                logger.exception("task %s could not be sent", entry.name)
        else:
            outage.end()

    def _has_work(self, entry: Any) -> bool:
        """Return False if the task would find nothing to do. While PostgreSQL does not answer, nobody knows."""
        task = self.app.tasks.get(entry.task)
        silent_s = time.monotonic() - self._sent_at.get(entry.name, self._began_at)
        if not isinstance(task, PeriodicTask) or silent_s >= LONGEST_PAUSE_S:
            return True
        try:
            return task.has_work()
        except DatabaseFailure as error:
            log_failure(error)
            connection.close()
            return True
