"""JSON serializer of Django's Redis cache, and whether Redis answers."""

from __future__ import annotations

import json

from django.core.cache import cache
from redis.exceptions import RedisError

from infrastructure.logging import Outage

outage = Outage("Redis")


class JsonSerializer:
    """Serializes cache values as JSON. With Django's default, pickle, who can write to Redis can run code in web."""

    def dumps(self, value: object) -> int | str:
        """Return the value as JSON; integers stay integers, so that Redis can increment them."""
        return value if type(value) is int else json.dumps(value)

    def loads(self, data: bytes) -> object:
        """Parse the value. Returns None if it is not JSON, as for a key that is not in the cache."""
        try:
            return json.loads(data)
        except ValueError:
            return None


def redis_answers() -> bool:
    """Return True if Redis accepts a write. A read is not enough: Redis still answers reads when its memory is full."""
    try:
        cache.set("readiness", 1)
    except RedisError as error:
        outage.begin(error)
        return False
    outage.end()
    return True
