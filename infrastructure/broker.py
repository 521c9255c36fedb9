"""Celery broker transport for Redis that asks rarely, and survives the loss of Redis while tasks run."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from kombu.transport import redis
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import RedisError


class QoS(redis.QoS):
    """kombu's count of the messages that a worker holds, which also loses those that Redis does not let it acknowledge.

    kombu would count such a message for ever. A worker with one process holds one message at most, and never read
    another. Redis keeps the message and sends it again later; a duplicate only wakes.
    """

    def ack(self, delivery_tag: str) -> None:
        with self._counted_off(delivery_tag):
            super().ack(delivery_tag)

    def reject(self, delivery_tag: str, requeue: bool = False) -> None:
        with self._counted_off(delivery_tag):
            super().reject(delivery_tag, requeue)

    @contextlib.contextmanager
    def _counted_off(self, delivery_tag: str) -> Iterator[None]:
        try:
            yield
        except (OSError, RedisError):
            self._quick_ack(delivery_tag)  # type: ignore[attr-defined]  # kombu's types leave it out
            raise


class Channel(redis.Channel):
    """kombu's Redis channel, without the crash when its connection was closed.

    kombu asks the channel for a new connection even then, to acknowledge a message or to put one back.
    """

    QoS = QoS

    _asking: Any = None  # the connection that waits for messages
    _asking_id = 0  # its ID in Redis

    def _brpop_start(self, timeout: float | None = None) -> None:
        if (connection := self.client.connection) is not self._asking:
            self._asking, self._asking_id = connection, self.client.client_id()
        super()._brpop_start(timeout)  # type: ignore[misc]

    def close(self) -> None:
        """End the wait for a message before kombu waits for its end. A message that has arrived is put back."""
        if self._in_poll and not self.closed:  # type: ignore[attr-defined]
            with contextlib.suppress(RedisError), self.conn_or_acquire() as client:
                client.client_unblock(self._asking_id)
        super().close()

    def _connparams(self, *args: Any, **kwargs: Any) -> Any:
        if self.connection.client is None:
            # kombu would raise an AttributeError, which ends the worker. It handles connection errors.
            raise RedisConnectionError("the connection to the queue was given up")
        return super()._connparams(*args, **kwargs)  # type: ignore[misc]  # kombu's types leave it out


class Transport(redis.Transport):
    """kombu transport with this `Channel`, named by the setting `broker_transport`."""

    Channel = Channel
    brpop_timeout = 10  # seconds; kombu's own of 1 s is for the close, which `Channel.close` hastens
