"""Task queue. Sends Celery tasks for rows and checks whether messages wait.

Tasks are sent by name, so that callers need not import them. No data exists only in the queue: a sweeper finds the rows
whose message was lost.
"""

from __future__ import annotations

import redis
from celery import current_app
from kombu.exceptions import OperationalError

from infrastructure.cache import outage
from infrastructure.redis_client import client as _redis


def enqueue(task: str, row_id: str, queue: str | None = None) -> None:
    """Send a task for a row to `queue`, by default the queue that Celery's routes set for the task.

    If the broker does not answer, the failure is logged, and the sweeper sends the task later.
    """
    try:
        current_app.send_task(task, (row_id,), queue=queue)
    except OperationalError as error:
        outage.begin(f"{task}({row_id}) could not be enqueued, the sweeper will: {error}")
    else:
        outage.end()


def has_messages(queue: str) -> bool:
    """Return True if a message waits in the queue for a worker.

    Returns False if Redis does not answer.
    """
    try:
        return bool(_redis.llen(queue))
    except redis.RedisError as error:
        outage.begin(error)
        return False


def is_first_call_in(seconds: float, name: str) -> bool:
    """Return True for the first call with `name` in `seconds`, across all processes.

    False if Redis is down.
    """
    try:
        return bool(_redis.set(name, 1, nx=True, px=round(seconds * 1000)))
    except redis.RedisError as error:
        outage.begin(error)
        return False
