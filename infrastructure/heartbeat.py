"""Heartbeat of the scheduler: the last time that its most frequent task ran or had no work.

Kept in Redis, because its loss does no harm.
"""

from __future__ import annotations

from datetime import datetime

import redis
from django.core.cache import cache
from django.utils import timezone

from infrastructure.cache import outage

KEY = "operations:scheduled"


def beat() -> None:
    """Record that a periodic task runs now, or has no work. Doesn't raise when Redis fails: the task has other work."""
    try:
        cache.set(KEY, timezone.now().isoformat(), timeout=None)
    except redis.RedisError as error:
        outage.begin(error)


def last_beat() -> datetime | None:
    """Return the last record. None if there is none since Redis was emptied, or if Redis does not answer."""
    try:
        found: str | None = cache.get(KEY)
    except redis.RedisError as error:
        outage.begin(error)
        return None
    return datetime.fromisoformat(found) if found else None
