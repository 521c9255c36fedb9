"""Clean up threads that tests have started."""

from __future__ import annotations

from django.core.cache import caches
from django.db import connection


def close_connections() -> None:
    """Close this thread's connections to PostgreSQL and to the Redis cache.

    Django has a cache object for each thread. Its sockets would stay open until the garbage collector finds them during
    another test, which would then fail.
    """
    connection.close()
    for cache in caches.all(initialized_only=True):
        for pool in cache._cache._pools.values():  # type: ignore[attr-defined]  # Django offers no other way.
            pool.disconnect()
