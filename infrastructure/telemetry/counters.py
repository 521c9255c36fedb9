"""What processes count: each adds up in memory, and every few seconds all of them in one hash in Redis.

So whoever answers for /metrics tells of all processes on all hosts, and none of them serves a port of its own. What a
killed process had not handed over yet, some seconds' worth, is not counted, and when Redis is emptied, counting begins
anew, which Prometheus takes for a restart. What must not be lost is counted from rows (ADR 30).
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

KEY = "telemetry:counters"
HAND_OVER_EVERY_S = 5.0
SEPARATOR = "\x1f"  # stands in no label
MICRO = 1_000_000

# A series: the metric's name, then the values of its labels; of a histogram also the bucket, or "sum".
Series = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Counter:
    """A number that grows: of things or, with `is_seconds`, of seconds, which are kept as whole microseconds."""

    name: str
    help: str
    labels: tuple[str, ...] = ()
    is_seconds: bool = False


@dataclass(frozen=True)
class Histogram:
    """How many observations there were up to each of the `bounds`, in seconds, and their sum."""

    name: str
    help: str
    labels: tuple[str, ...]
    bounds: tuple[float, ...]

    @functools.cached_property
    def names(self) -> tuple[str, ...]:
        """Those of the buckets: their upper bounds."""
        return (*map(str, self.bounds), "+Inf")

    def bucket(self, seconds: float) -> str:
        """The name of the bucket that this is in; the bound itself belongs to it."""
        return self.names[bisect.bisect_left(self.bounds, seconds)]


class Counters:
    """Those of this process. Thread-safe, and empty in a process that was forked from another."""

    def __init__(self) -> None:
        self._client = redis.Redis.from_url(settings.REDIS_URL, **settings.REDIS_TIMEOUTS)
        self.begin_anew()

    def begin_anew(self) -> None:
        """In a child: what its parent has counted, the parent hands over."""
        self._lock = threading.Lock()
        self._handing_over = threading.Lock()
        self._pending: defaultdict[Series, int] = defaultdict(int)
        self._thread: threading.Thread | None = None

    def add(self, amounts: Sequence[tuple[Series, int]]) -> None:
        """Count these."""
        with self._lock:
            for series, amount in amounts:
                self._pending[series] += amount
            if self._thread is None:
                self._thread = threading.Thread(target=self._hand_over_for_ever, name="telemetry", daemon=True)
                self._thread.start()

    def hand_over(self) -> None:
        """Add to what is in Redis. Where it does not answer, this goes with the next time; others tell of that."""
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
        """Of all processes, this one's to the moment. Raises redis.RedisError."""
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
    """What `Counters.add` takes for it."""
    return (counter.name, *labels), round(by * MICRO) if counter.is_seconds else int(by)


def observed(histogram: Histogram, seconds: float, *labels: str) -> tuple[tuple[Series, int], tuple[Series, int]]:
    """What `Counters.add` takes for it."""
    return (
        ((histogram.name, *labels, histogram.bucket(seconds)), 1),
        ((histogram.name, *labels, "sum"), round(seconds * MICRO)),
    )
