"""Celery's way to Redis, which survives that Redis goes away while tasks run."""

from __future__ import annotations

from typing import Any

from kombu.transport import redis
from redis.exceptions import ConnectionError as RedisConnectionError


class Channel(redis.Channel):
    """kombu's, which is asked for new connections also after its own was given up: to acknowledge, to put back."""

    def _connparams(self, *args: Any, **kwargs: Any) -> Any:
        if self.connection.client is None:
            # kombu would fail with an AttributeError, which ends a worker; it expects errors of connections.
            raise RedisConnectionError("the connection to the queue was given up")
        return super()._connparams(*args, **kwargs)  # type: ignore[misc]  # kombu's types leave it out


class Transport(redis.Transport):
    """What `broker_transport` names."""

    Channel = Channel
