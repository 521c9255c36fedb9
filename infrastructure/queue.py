"""The task queue: enqueue a row's ID by the name of a task, and check whether messages wait.

Tasks are called by name, so that the caller need not import them. Nothing exists only in the queue: a sweeper finds
the rows whose message was lost.
"""

from __future__ import annotations

import redis
from celery import current_app
from django.conf import settings
from kombu.exceptions import OperationalError

from infrastructure.cache import outage

_redis = redis.Redis.from_url(settings.REDIS_URL, **settings.REDIS_TIMEOUTS)


def enqueue(task: str, row_id: str, queue: str | None = None) -> None:
    """Send the task for this row to `queue`, by default to the queue of the task's route.

    If the broker does not answer, that is logged, and the sweeper finds the row later.
    """
    try:
        current_app.send_task(task, (row_id,), queue=queue)
    except OperationalError as error:
        outage.begin(f"{task}({row_id}) could not be enqueued, the sweeper will: {error}")
    else:
        outage.end()


def has_messages(queue: str) -> bool:
    """Return True if a message waits in the queue for a worker, False also when Redis does not answer."""
    try:
        return bool(_redis.llen(queue))
    except redis.RedisError as error:
        outage.begin(error)
        return False


def is_first_in(seconds: float, name: str) -> bool:
    """Return True to the first caller of all processes in that time, False also when Redis does not answer."""
    try:
        return bool(_redis.set(name, 1, nx=True, px=round(seconds * 1000)))
    except redis.RedisError as error:
        outage.begin(error)
        return False
