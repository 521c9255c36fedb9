"""Counters and histograms.

Processes count in memory and add their counts to a Redis hash every few seconds.

So any web process can answer /metrics for all processes on all hosts, and no other process opens a port. A killed
process loses the counts of a few seconds. When Redis is emptied, counting starts at 0, which Prometheus treats as a
restart. Numbers that must not be lost are computed from database rows (ADR 15).
"""

from __future__ import annotations

import atexit
import bisect
import functools
import os
import threading
from collections import defaultdict
from collections.abc import Mapping, Sequence

import redis
from django.conf import settings
from msgspec import Struct

PREFIX = "website_scan_"  # All metrics have names with this prefix.
KEY = "telemetry:counters"
FLUSH_EVERY_S = 5.0
SEPARATOR = "\x1f"  # Labels never contain this character.
MICRO = 1_000_000

# A series is the metric's name followed by its label values. For a histogram, the bucket's name or "sum" comes last.
Series = tuple[str, ...]


class Counter(Struct, frozen=True):
    """Counter of events or, if `is_seconds`, of seconds.

    Seconds are stored as whole microseconds.
    """

    name: str
    help: str
    labels: tuple[str, ...] = ()
    is_seconds: bool = False


class Histogram(Struct, frozen=True, dict=True):
    """Histogram with the number of observations per bucket, and their sum.

    `bounds` are in seconds.
    """

    name: str
    help: str
    labels: tuple[str, ...]
    bounds: tuple[float, ...]

    @functools.cached_property
    def names(self) -> tuple[str, ...]:
        """Bucket names: the upper bounds as text, then `+Inf`."""
        return (*map(str, self.bounds), "+Inf")

    def bucket(self, seconds: float) -> str:
        """Return the name of the bucket for this value.

        A bucket includes its upper bound.
        """
        return self.names[bisect.bisect_left(self.bounds, seconds)]


class Counters:
    """This process's counts that are not in Redis yet.

    Thread-safe. A forked child starts without counts.
    """

    def __init__(self) -> None:
        self._client = redis.Redis.from_url(settings.REDIS_URL, **settings.REDIS_TIMEOUTS)
        self.reset()

    def reset(self) -> None:
        """Drop all counts.

        Called in forked children, because the parent process flushes its own counts.
        """
        self._lock = threading.Lock()
        self._flush_lock = threading.Lock()
        self._pending: defaultdict[Series, int] = defaultdict(int)
        self._thread: threading.Thread | None = None

    def add(self, amounts: Sequence[tuple[Series, int]]) -> None:
        """Add amounts to series.

        The first call starts the thread that flushes counts to Redis.
        """
        with self._lock:
            for series, amount in amounts:
                self._pending[series] += amount
            if self._thread is None:
                self._thread = threading.Thread(target=self._flush_periodically, name="telemetry", daemon=True)
                self._thread.start()

    def flush(self) -> None:
        """Flush the counts to Redis.

        If that fails, they remain for the next flush. Other modules log the outage.
        """
        with self._flush_lock:
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
        """Flush this process's counts, and return the totals for all processes.

        Raises redis.RedisError.
        """
        self.flush()
        counts: dict[bytes, bytes] = self._client.hgetall(KEY)  # type: ignore[assignment]  # The client is synchronous.
        return {tuple(field.decode().split(SEPARATOR)): int(value) for field, value in counts.items()}

    def _flush_periodically(self) -> None:
        pause = threading.Event()
        while not pause.wait(FLUSH_EVERY_S):
            self.flush()


counters = Counters()
os.register_at_fork(after_in_child=counters.reset)
atexit.register(counters.flush)


def count(counter: Counter, *labels: str, by: float = 1) -> None:
    """Add `by` to a counter's series with these label values."""
    counters.add([counted(counter, *labels, by=by)])


def observe(histogram: Histogram, seconds: float, *labels: str) -> None:
    """Add an observation to a histogram's series with these label values."""
    counters.add([*observed(histogram, seconds, *labels)])


def counted(counter: Counter, *labels: str, by: float = 1) -> tuple[Series, int]:
    """Return a counter's increment as an argument for `Counters.add`."""
    return (counter.name, *labels), round(by * MICRO) if counter.is_seconds else int(by)


def observed(histogram: Histogram, seconds: float, *labels: str) -> tuple[tuple[Series, int], tuple[Series, int]]:
    """Return an observation's increments to its bucket and sum, as arguments for `Counters.add`."""
    return (
        ((histogram.name, *labels, histogram.bucket(seconds)), 1),
        ((histogram.name, *labels, "sum"), round(seconds * MICRO)),
    )
