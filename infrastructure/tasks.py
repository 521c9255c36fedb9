"""Celery tasks that all apps share."""

from __future__ import annotations

from celery import current_app, shared_task

from infrastructure import retention


@shared_task
def delete_old(entry: str = "") -> None:
    """Delete expired rows every night.

    A task that reaches its time limit enqueues another task for the rest.
    """
    if (next_entry := retention.delete_from(entry)) is not None:
        current_app.send_task("infrastructure.tasks.delete_old", (next_entry,))
