"""JSON serializer of Django's Redis cache, and the `Outage` that logs when Redis does not answer."""

from __future__ import annotations

import json

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
