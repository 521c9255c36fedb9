"""The cache that django-ratelimit counts in: one round trip to Redis a request, instead of two."""

from __future__ import annotations

import threading
from typing import Any

import redis
from django.conf import settings
from django.core.cache.backends.base import BaseCache


class RequestCounter(BaseCache):
    """Counts, and nothing else.

    django-ratelimit calls `add(key, 1)` and, when the key was there already, `incr(key)`. Here `add` increments at
    once and `incr` gives what came of it: the two always follow each other within one thread.
    """

    def __init__(self, server: str, params: dict[str, Any]) -> None:
        super().__init__(params)
        self._redis = redis.Redis.from_url(server, **settings.REDIS_TIMEOUTS)
        self._last = threading.local()

    def add(self, key: str, value: Any, timeout: Any = None, version: int | None = None) -> bool:
        """Count one; True when it was the first, which then expires after `timeout` seconds."""
        self._last.count = count = self._redis.incr(key)
        if count == 1:
            self._redis.expire(key, timeout)
        return count == 1

    def incr(self, key: str, delta: int = 1, version: int | None = None) -> int:
        """What the `add` just before came to."""
        count: int = self._last.count
        return count
