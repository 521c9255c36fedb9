"""Cleanup at the end of a thread that a test has started."""

from __future__ import annotations

from django.core.cache import caches
from django.db import connection


def close_connections() -> None:
    """Close the connections of this thread to PostgreSQL and, through the cache, to Redis.

    Django has a cache object for each thread. Its sockets would stay open until the garbage collector finds them during
    another test, which would then fail.
    """
    connection.close()
    for cache in caches.all(initialized_only=True):
        for pool in cache._cache._pools.values():  # type: ignore[attr-defined]  # Django offers no other way.
            pool.disconnect()
