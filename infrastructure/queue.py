"""The task queue: enqueue a row by the name of its task, and look whether messages wait.

Tasks are called by name, so that whoever enqueues need not import the task. Nothing lives only in the queue: a sweeper
finds the rows whose message was lost.
"""

from __future__ import annotations

import redis
from celery import current_app
from django.conf import settings
from kombu.exceptions import OperationalError

from infrastructure.cache import outage

_redis = redis.Redis.from_url(settings.REDIS_URL, **settings.REDIS_TIMEOUTS)


def enqueue(task: str, row_id: str, queue: str | None = None) -> None:
    """Hand a row to the workers, in the queue that the task's route names unless `queue` does.

    When the queue does not take it, the sweeper will find the row.
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
