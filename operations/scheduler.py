"""Celery's scheduler on a clock that may be put back, in an outage of Redis that is one line."""

from __future__ import annotations

import logging
from typing import Any

from celery.beat import PersistentScheduler, SchedulingError
from kombu.exceptions import OperationalError
from redis import RedisError

from infrastructure.cache import outage

logger = logging.getLogger(__name__)


class SteadyScheduler(PersistentScheduler):
    """The schedule of `config.celery`."""

    def tick(self, *args: Any, **kwargs: Any) -> float:
        """Seconds until the next tick. A task that ran in the future ran now: its clock was put back since."""
        now = self.app.now()
        ahead = [entry for entry in self.schedule.values() if entry.last_run_at and entry.last_run_at > now]
        if ahead:
            logger.warning("the clock was put back; the schedule begins anew")
            for entry in ahead:
                entry.last_run_at = now
            self._heap = None  # is in the order of the old clock
        seconds: float = super().tick(*args, **kwargs)
        return seconds

    def apply_entry(self, entry: Any, producer: Any = None) -> None:
        """Send a task that is due. One that Redis does not take comes up again with the next."""
        try:
            self.apply_async(entry, producer=producer, advance=False)
        except SchedulingError as error:
            if isinstance(error.__context__, OperationalError | RedisError | OSError):
                outage.begin(error)
            else:
                logger.exception("task %s could not be sent", entry.name)
        else:
            outage.end()
