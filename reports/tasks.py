"""Celery tasks of reports and mutes."""

from __future__ import annotations

import time

from celery import current_app, shared_task

from reports.mutes.notices import post_due

# Time limit of a run of the task, because other tasks wait for the same worker process.
NOTICES_LIMIT_S = 45


@shared_task
def announce_mutes() -> None:
    """Send notices, every morning, of mutes that end soon. If time runs out, the task enqueues itself for the rest."""
    ends_at = time.monotonic() + NOTICES_LIMIT_S
    if not post_due(lambda: time.monotonic() < ends_at):
        current_app.send_task("reports.tasks.announce_mutes")
