"""Celery beat scheduler that copes with a clock set back, and logs an outage of Redis in one line."""

from __future__ import annotations

import logging
from typing import Any

from celery.beat import PersistentScheduler, SchedulingError
from kombu.exceptions import OperationalError
from redis import RedisError

from infrastructure.cache import outage

logger = logging.getLogger(__name__)


class SteadyScheduler(PersistentScheduler):
    """Scheduler for the schedule of `config.celery`."""

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
        """Send a due task. If Redis does not accept it, it is sent at its next time."""
        try:
            self.apply_async(entry, producer=producer, advance=False)
        except SchedulingError as error:
            if isinstance(error.__context__, OperationalError | RedisError | OSError):
                outage.begin(error)
            else:
                logger.exception("task %s could not be sent", entry.name)
        else:
            outage.end()
