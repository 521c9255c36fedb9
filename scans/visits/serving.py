"""Registry in Redis of the workers that serve each queue.

A worker whose free slots are reserved passes its message on, so that another worker can use it. Without another worker,
the message would only return to the same worker twice a second, and cost each time a dozen Redis commands and a claim.
"""

from __future__ import annotations

import time
from collections.abc import Iterable

import redis

from infrastructure.cache import outage
from infrastructure.redis_client import client as _redis

# A worker that was killed stays registered for a day, and until then gets messages passed on.
LIFETIME_S = 24 * 3600
# Running workers register again in this interval, in case Redis has lost its data.
REFRESH_INTERVAL_S = 60


def register(worker: str, queues: Iterable[str]) -> None:
    """Register a worker that serves these queues. Each process sends this at most once in REFRESH_INTERVAL_S."""
    now = time.monotonic()
    due = [queue for queue in queues if now >= _next_refresh.get((worker, queue), 0)]
    if not due:
        return
    try:
        with _redis.pipeline(transaction=False) as pipeline:
            for queue in due:
                pipeline.zadd(_key(queue), {worker: time.time()})
                pipeline.expire(_key(queue), LIFETIME_S)
            pipeline.execute()
    except redis.RedisError as error:
        outage.begin(error)
        return
    _next_refresh.update(((worker, queue), now + REFRESH_INTERVAL_S) for queue in due)


def unregister(worker: str, queues: Iterable[str]) -> None:
    """Remove a worker that stops."""
    try:
        for queue in queues:
            _redis.zrem(_key(queue), worker)
    except redis.RedisError as error:
        outage.begin(error)


def has_other_workers(queue: str, worker: str) -> bool:
    """Return True if another worker serves the queue. False if Redis is down."""
    try:
        workers = _redis.zrangebyscore(_key(queue), time.time() - LIFETIME_S, "+inf", start=0, num=2)
    except redis.RedisError as error:
        outage.begin(error)
        return False
    return any(name != worker.encode() for name in workers)


def _key(queue: str) -> str:
    return f"queue:workers:{queue}"


_next_refresh: dict[tuple[str, str], float] = {}
