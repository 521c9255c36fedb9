"""Celery broker transport for Redis.

It polls rarely and survives a lost connection while tasks run.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from kombu.transport import redis
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import RedisError


class QoS(redis.QoS):
    """kombu's count of unacknowledged messages, except those that Redis failed to acknowledge.

    kombu would count such a message for ever, and a worker with one process, whose limit is one message, would never
    read another. Redis delivers the message again later. A duplicate message only wakes the worker.
    """

    def ack(self, delivery_tag: str) -> None:
        with self._uncounted_on_error(delivery_tag):
            super().ack(delivery_tag)

    def reject(self, delivery_tag: str, requeue: bool = False) -> None:
        with self._uncounted_on_error(delivery_tag):
            super().reject(delivery_tag, requeue)

    @contextlib.contextmanager
    def _uncounted_on_error(self, delivery_tag: str) -> Iterator[None]:
        try:
            yield
        except (OSError, RedisError):
            self._quick_ack(delivery_tag)  # type: ignore[attr-defined]  # kombu's type stubs lack this method.
            raise


class Channel(redis.Channel):
    """kombu's Redis channel.

    It does not crash after its connection was closed.

    kombu needs a new connection of a closed channel to acknowledge a message or to put a message back into the queue.
    """

    QoS = QoS

    _polling_connection: Any = None  # The connection that waits for messages with BRPOP.
    _polling_client_id = 0  # Redis's client ID of the polling connection.

    def _brpop_start(self, timeout: float | None = None) -> None:
        if (connection := self.client.connection) is not self._polling_connection:
            self._polling_connection, self._polling_client_id = connection, self.client.client_id()
        super()._brpop_start(timeout)  # type: ignore[misc]

    def close(self) -> None:
        """Unblock BRPOP first, so that kombu need not wait for its timeout. kombu puts an arrived message back."""
        if self._in_poll and not self.closed:  # type: ignore[attr-defined]
            with contextlib.suppress(RedisError), self.conn_or_acquire() as client:
                client.client_unblock(self._polling_client_id)
        super().close()

    def _connparams(self, *args: Any, **kwargs: Any) -> Any:
        if self.connection.client is None:
            # kombu would raise an AttributeError, which ends the worker. A connection error makes kombu reconnect.
            raise RedisConnectionError("the connection to the queue was closed")
        return super()._connparams(*args, **kwargs)  # type: ignore[misc]  # kombu's type stubs lack this method.


class Transport(redis.Transport):
    """kombu transport for Redis with the `Channel` above.

    Celery's setting `broker_transport` names this class.
    """

    Channel = Channel
    brpop_timeout = 20  # Seconds. kombu uses 1 s to close quickly, but here `Channel.close` unblocks BRPOP.
