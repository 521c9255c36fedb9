"""JSON serializer for Django's Redis cache.

Also checks whether Redis accepts writes.
"""

from __future__ import annotations

import json

from django.core.cache import cache
from redis.exceptions import RedisError

from infrastructure.logging import Outage

outage = Outage("Redis")


class JsonSerializer:
    """JSON serializer for cache values.

    With pickle, Django's default, data in Redis could run code here.
    """

    def dumps(self, value: object) -> int | str:
        """Return the value as JSON. Integers are returned unchanged, so that Redis can increment them."""
        return value if type(value) is int else json.dumps(value)

    def loads(self, data: bytes) -> object:
        """Return the parsed value.

        Data that is not JSON returns None, like a missing key.
        """
        try:
            return json.loads(data)
        except ValueError:
            return None


def redis_answers() -> bool:
    """Return True if Redis accepts a write.

    A read proves less, because it works even when Redis's memory is full.
    """
    try:
        cache.set("readiness", 1)
    except RedisError as error:
        outage.begin(error)
        return False
    outage.end()
    return True
