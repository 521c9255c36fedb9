"""Periodic tasks, which the scheduler sends only if there are rows for them, and the scheduler's heartbeat."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

import redis
from celery import Task
from django.core.cache import cache
from django.utils import timezone

from infrastructure.cache import outage

# Time at which the most frequent task ran last, or had no work. In Redis, because its loss does no harm.
HEARTBEAT = "operations:scheduled"


class PeriodicTask(Task[..., None]):
    """Task with a function that asks PostgreSQL: `@shared_task(base=PeriodicTask, has_work=staticmethod(…))`.

    `has_work` returns False only if the task would find nothing to do. Its condition is coarse, never that of the task.
    """

    abstract = True
    has_work: Callable[[], bool]


def beat() -> None:
    """Record that a periodic task runs now, or has no work. Doesn't raise when Redis fails: the task has other work."""
    try:
        cache.set(HEARTBEAT, timezone.now().isoformat(), timeout=None)
    except redis.RedisError as error:
        outage.begin(error)


def last_beat() -> datetime | None:
    """Return the last record. None if there is none since Redis was emptied, or if Redis does not answer."""
    try:
        found: str | None = cache.get(HEARTBEAT)
    except redis.RedisError as error:
        outage.begin(error)
        return None
    return datetime.fromisoformat(found) if found else None
