"""Broker transport: acknowledgement of messages while Redis does not answer."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.conf import settings
from kombu import Connection
from kombu.message import Message
from redis.exceptions import TimeoutError as RedisTimeoutError

from infrastructure.broker import Transport

QUEUE = "broker-test"


@pytest.fixture
def received() -> Iterator[Message]:
    """Message received by a worker whose limit is one message."""
    with Connection(settings.REDIS_URL, transport="infrastructure.broker:Transport") as connection:
        queue = connection.SimpleQueue(QUEUE)
        queue.clear()
        queue.put("wake")
        channel: Any = queue.consumer.channel
        channel.basic_qos(0, 1, False)
        message = queue.get(timeout=10)
        assert not channel.qos.can_consume()
        yield message
        channel.client.delete(QUEUE, channel.unacked_key, channel.unacked_index_key)


@pytest.mark.parametrize(
    "end",
    [
        lambda message: message.ack_log_error(logging.getLogger("test"), Transport.connection_errors),
        lambda message: message.reject_log_error(logging.getLogger("test"), Transport.connection_errors),
    ],
    ids=["acknowledged", "rejected"],
)
def test_worker_reads_next_message_after_redis_timeout_on_acknowledgement(
    received: Message, end: Callable[[Message], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    channel: Any = received.channel

    def silent(*_: object, **__: object) -> None:
        raise RedisTimeoutError("Timeout reading from socket")

    with monkeypatch.context() as outage:
        outage.setattr(channel.qos, "_remove_from_indices", silent)
        end(received)
    assert channel.qos.can_consume()
    # Redis still has the unacknowledged message, and delivers it to a worker again later.
    assert channel.client.hexists(channel.unacked_key, received.delivery_tag)
