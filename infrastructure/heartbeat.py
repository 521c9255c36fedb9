"""The scheduler's sign of life: when its most frequent task ran last. In Redis, as losing it costs nothing."""

from __future__ import annotations

from datetime import datetime

import redis
from django.core.cache import cache
from django.utils import timezone

from infrastructure.cache import outage

KEY = "operations:scheduled"


def beat() -> None:
    """Note that a periodic task runs. Never fails: the task has more to do than this."""
    try:
        cache.set(KEY, timezone.now().isoformat(), timeout=None)
    except redis.RedisError as error:
        outage.begin(error)


def last_beat() -> datetime | None:
    """When a periodic task ran; None when none has since Redis was emptied, or Redis does not answer."""
    try:
        found: str | None = cache.get(KEY)
    except redis.RedisError as error:
        outage.begin(error)
        return None
    return datetime.fromisoformat(found) if found else None
