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

    Each thread keeps a connection: the client's pool, its measurements and its retries cost more than the command.
    """

    def __init__(self, server: str, params: dict[str, Any]) -> None:
        super().__init__(params)
        self._pool = redis.ConnectionPool.from_url(server, **settings.REDIS_TIMEOUTS)
        self._thread = threading.local()

    def add(self, key: str, value: Any, timeout: Any = None, version: int | None = None) -> bool:
        """Count one; True when it was the first, which then expires after `timeout` seconds. Raises RedisError."""
        self._thread.count = count = self._command("INCR", key)
        if count == 1:
            self._command("EXPIRE", key, timeout)
        return count == 1

    def incr(self, key: str, delta: int = 1, version: int | None = None) -> int:
        """What the `add` just before came to."""
        count: int = self._thread.count
        return count

    def _command(self, *words: str | int) -> int:
        try:
            return self._ask(*words)
        except redis.ConnectionError:
            return self._ask(*words)  # the server has restarted since the last command

    def _ask(self, *words: str | int) -> int:
        connection = getattr(self._thread, "connection", None)
        if connection is None:
            connection = self._thread.connection = self._pool.make_connection()
        connection.send_command(*words, check_health=False)
        answer: int = connection.read_response()
        return answer
