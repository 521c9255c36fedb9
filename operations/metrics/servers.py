"""Metrics for Redis, the workers and the scheduler, including whether servers answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from django.utils import timezone
from prometheus_client.metrics_core import Metric

from infrastructure.periodic import last_beat
from infrastructure.telemetry.counters import PREFIX
from operations.health.state import queues_of_workers
from operations.metrics.families import Gauge, gauge

QUEUE_MESSAGES = Gauge(
    f"{PREFIX}queue_messages",
    "Messages in a queue; they only wake workers; the database has the waiting visits.",
    ("queue",),
)
QUEUE_WORKERS = Gauge(f"{PREFIX}queue_workers", "Workers that serve a queue and respond.", ("queue",))
SCHEDULER_SILENCE = Gauge(
    f"{PREFIX}scheduler_silence_seconds", "Time since the scheduler's most frequent task ran or had nothing to do."
)
UP = Gauge(
    f"{PREFIX}up",
    "Whether `postgresql` and `redis` respond; metrics that depend on a server that is down are missing.",
    ("server",),
)
INFO = Gauge(f"{PREFIX}info", "Always 1; the version of the process that responded.", ("version",))

SERVER_METRICS = (QUEUE_MESSAGES, QUEUE_WORKERS, SCHEDULER_SILENCE, UP, INFO)


def redis_metrics(messages: Mapping[str, int]) -> Iterator[Metric]:
    """Yield metrics for queues, workers and the scheduler.

    `messages` has the number of messages per queue.
    """
    counts = {(name,): count for name, count in messages.items()}
    yield gauge(QUEUE_MESSAGES, counts)
    queues_by_worker = queues_of_workers()
    if queues_by_worker is not None:
        workers = {(name,): sum(name in queues for queues in queues_by_worker.values()) for name in messages}
        yield gauge(QUEUE_WORKERS, workers)
    beat = last_beat()
    silence_s = {} if beat is None else {(): max(0.0, (timezone.now() - beat).total_seconds())}
    yield gauge(SCHEDULER_SILENCE, silence_s)
