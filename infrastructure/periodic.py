"""Periodic tasks and the scheduler's heartbeat.

The scheduler sends a task only if it has work.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

import redis
from celery import Task
from django.core.cache import cache
from django.utils import timezone

from infrastructure.cache import outage

# Cache key of the time when the most frequent task last ran or had no work. Redis is enough, because losing the key is
# harmless.
HEARTBEAT = "operations:scheduled"


class PeriodicTask(Task[..., None]):
    """Celery task that can tell if it has work: `@shared_task(base=PeriodicTask, has_work=staticmethod(…))`.

    `has_work` returns False only if the task would have nothing to do. Its condition is simpler than the task's own.
    """

    abstract = True
    has_work: Callable[[], bool]


def beat() -> None:
    """Record in Redis that a periodic task runs now or has no work.

    Logs Redis errors instead of raising them.
    """
    try:
        cache.set(HEARTBEAT, timezone.now().isoformat(), timeout=None)
    except redis.RedisError as error:
        outage.begin(error)


def last_beat() -> datetime | None:
    """Return when the scheduler last recorded a heartbeat.

    None if Redis was emptied or does not answer.
    """
    try:
        timestamp: str | None = cache.get(HEARTBEAT)
    except redis.RedisError as error:
        outage.begin(error)
        return None
    return datetime.fromisoformat(timestamp) if timestamp else None
