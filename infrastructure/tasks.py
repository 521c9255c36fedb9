"""Tasks of the ground that all apps share."""

from __future__ import annotations

from celery import current_app, shared_task

from infrastructure import retention


@shared_task
def delete_old(entry: str = "") -> None:
    """Delete every night what is kept no longer; a task that runs out of time hands the rest to another one."""
    if (rest := retention.delete_from(entry)) is not None:
        current_app.send_task("infrastructure.tasks.delete_old", (rest,))
