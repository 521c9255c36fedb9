"""How the cache keeps values in Redis: as JSON. And what this process knows of Redis."""

from __future__ import annotations

import json

from infrastructure.logging import Outage

outage = Outage("Redis")


class JsonSerializer:
    """Django's own is pickle, with which whoever can write to Redis runs code in web."""

    def dumps(self, value: object) -> int | str:
        """Numbers as they are, so that Redis can count with them."""
        return value if type(value) is int else json.dumps(value)

    def loads(self, data: bytes) -> object:
        """None for what is no JSON: it was never there."""
        try:
            return json.loads(data)
        except ValueError:
            return None
