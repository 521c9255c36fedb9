"""Celery broker transport for Redis that survives the loss of Redis while tasks run."""

from __future__ import annotations

from typing import Any

from kombu.transport import redis
from redis.exceptions import ConnectionError as RedisConnectionError


class Channel(redis.Channel):
    """kombu's Redis channel, without the crash when its connection was closed.

    kombu asks the channel for a new connection even then, to acknowledge a message or to put one back.
    """

    def _connparams(self, *args: Any, **kwargs: Any) -> Any:
        if self.connection.client is None:
            # kombu would raise an AttributeError, which ends the worker. It handles connection errors.
            raise RedisConnectionError("the connection to the queue was given up")
        return super()._connparams(*args, **kwargs)  # type: ignore[misc]  # kombu's types leave it out


class Transport(redis.Transport):
    """kombu transport with this `Channel`, named by the setting `broker_transport`."""

    Channel = Channel
