"""JSON serializer of Django's Redis cache, and a check whether Redis accepts writes."""

from __future__ import annotations

import json

from django.core.cache import cache
from redis.exceptions import RedisError

from infrastructure.logging import Outage

outage = Outage("Redis")


class JsonSerializer:
    """Serializer of cache values as JSON. Django's default is pickle, with which writers to Redis can run code here."""

    def dumps(self, value: object) -> int | str:
        """Return the value as JSON. Integers are returned unchanged, so that Redis can increment them."""
        return value if type(value) is int else json.dumps(value)

    def loads(self, data: bytes) -> object:
        """Return the parsed value, or None (as for a missing key) if it is not JSON."""
        try:
            return json.loads(data)
        except ValueError:
            return None


def redis_answers() -> bool:
    """Return True if Redis accepts a write. A read proves less: Redis answers reads even when its memory is full."""
    try:
        cache.set("readiness", 1)
    except RedisError as error:
        outage.begin(error)
        return False
    outage.end()
    return True
