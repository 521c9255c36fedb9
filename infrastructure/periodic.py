"""Periodic tasks that look for rows, which the scheduler sends only if there are some."""

from __future__ import annotations

from collections.abc import Callable

from celery import Task


class PeriodicTask(Task):
    """Task with a function that asks PostgreSQL: `@shared_task(base=PeriodicTask, has_work=staticmethod(…))`.

    `has_work` returns False only if the task would find nothing to do. Its condition is coarse, never that of the task.
    """

    abstract = True
    has_work: Callable[[], bool]
