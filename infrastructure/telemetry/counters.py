"""Counters and histograms: each process adds up in memory and flushes every few seconds to one hash in Redis.

So any web process can answer /metrics for all processes on all hosts, and no other opens a port. A killed process
loses the counts of some seconds. When Redis is emptied, counting starts at 0, which Prometheus takes for a restart.
Numbers that must not be lost are counted from rows (ADR 15).
"""

from __future__ import annotations

import atexit
import bisect
import functools
import os
import threading
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import redis
from django.conf import settings

PREFIX = "website_scan_"  # of the names of all metrics
KEY = "telemetry:counters"
HAND_OVER_EVERY_S = 5.0
SEPARATOR = "\x1f"  # occurs in no label
MICRO = 1_000_000

# A series: the metric's name, then the values of its labels; for a histogram also the bucket's name, or "sum".
Series = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Counter:
    """Definition of a counter: of events or, with `is_seconds`, of seconds, which are stored as whole microseconds."""

    name: str
    help: str
    labels: tuple[str, ...] = ()
    is_seconds: bool = False


@dataclass(frozen=True)
class Histogram:
    """Definition of a histogram: the number of observations per bucket, and their sum. `bounds` are in seconds."""

    name: str
    help: str
    labels: tuple[str, ...]
    bounds: tuple[float, ...]

    @functools.cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the buckets: their upper bounds as text, then `+Inf`."""
        return (*map(str, self.bounds), "+Inf")

    def bucket(self, seconds: float) -> str:
        """Return the name of the bucket for this value. A bucket includes its upper bound."""
        return self.names[bisect.bisect_left(self.bounds, seconds)]


class Counters:
    """Counts of this process that are not yet in Redis. Thread-safe, and empty after a fork."""

    def __init__(self) -> None:
        self._client = redis.Redis.from_url(settings.REDIS_URL, **settings.REDIS_TIMEOUTS)
        self.begin_anew()

    def begin_anew(self) -> None:
        """Reset the counts. In a forked child, because its parent flushes what it has counted itself."""
        self._lock = threading.Lock()
        self._handing_over = threading.Lock()
        self._pending: defaultdict[Series, int] = defaultdict(int)
        self._thread: threading.Thread | None = None

    def add(self, amounts: Sequence[tuple[Series, int]]) -> None:
        """Add amounts to series, and start the flushing thread if it does not run yet."""
        with self._lock:
            for series, amount in amounts:
                self._pending[series] += amount
            if self._thread is None:
                self._thread = threading.Thread(target=self._hand_over_for_ever, name="telemetry", daemon=True)
                self._thread.start()

    def hand_over(self) -> None:
        """Flush the counts to Redis. If Redis fails, they stay for the next flush; other modules log the outage."""
        with self._handing_over:
            with self._lock:
                pending, self._pending = self._pending, defaultdict(int)
            if not pending:
                return
            try:
                with self._client.pipeline(transaction=True) as pipeline:
                    for series, amount in pending.items():
                        pipeline.hincrby(KEY, SEPARATOR.join(series), amount)
                    pipeline.execute()
            except redis.RedisError:
                with self._lock:
                    for series, amount in pending.items():
                        self._pending[series] += amount

    def totals(self) -> Mapping[Series, int]:
        """Return the totals of all processes, after a flush of this one. Raises redis.RedisError."""
        self.hand_over()
        found: dict[bytes, bytes] = self._client.hgetall(KEY)  # type: ignore[assignment]  # no awaitable
        return {tuple(field.decode().split(SEPARATOR)): int(value) for field, value in found.items()}

    def _hand_over_for_ever(self) -> None:
        pause = threading.Event()
        while not pause.wait(HAND_OVER_EVERY_S):
            self.hand_over()


counters = Counters()
os.register_at_fork(after_in_child=counters.begin_anew)
atexit.register(counters.hand_over)


def count(counter: Counter, *labels: str, by: float = 1) -> None:
    """Add to a counter."""
    counters.add([counted(counter, *labels, by=by)])


def observe(histogram: Histogram, seconds: float, *labels: str) -> None:
    """Add an observation to a histogram."""
    counters.add([*observed(histogram, seconds, *labels)])


def counted(counter: Counter, *labels: str, by: float = 1) -> tuple[Series, int]:
    """Return an increment of a counter for `Counters.add`."""
    return (counter.name, *labels), round(by * MICRO) if counter.is_seconds else int(by)


def observed(histogram: Histogram, seconds: float, *labels: str) -> tuple[tuple[Series, int], tuple[Series, int]]:
    """Return the increments of an observation for `Counters.add`: of its bucket and of the sum."""
    return (
        ((histogram.name, *labels, histogram.bucket(seconds)), 1),
        ((histogram.name, *labels, "sum"), round(seconds * MICRO)),
    )
