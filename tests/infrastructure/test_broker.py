"""Tests that the broker acknowledges messages during a Redis outage."""

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
def received_message() -> Iterator[Message]:
    """Message received by a worker with a prefetch limit of one."""
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
def test_worker_continues_after_a_redis_timeout(
    received_message: Message, end: Callable[[Message], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    channel: Any = received_message.channel

    def silent(*_: object, **__: object) -> None:
        raise RedisTimeoutError("Timeout reading from socket")

    with monkeypatch.context() as outage:
        outage.setattr(channel.qos, "_remove_from_indices", silent)
        end(received_message)
    assert channel.qos.can_consume()
    # Redis delivers an unacknowledged message again later.
    assert channel.client.hexists(channel.unacked_key, received_message.delivery_tag)
