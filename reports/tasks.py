"""Celery tasks of reports and mutes."""

from __future__ import annotations

import time

from celery import current_app, shared_task

from reports.mutes.notices import post_due_notices

# Time limit of one execution of the task, because other tasks wait for the same worker process.
NOTICES_LIMIT_S = 45


@shared_task
def announce_mutes() -> None:
    """Send notices about mutes that end soon, every morning.

    If time runs out, the task enqueues itself again.
    """
    ends_at = time.monotonic() + NOTICES_LIMIT_S
    if not post_due_notices(lambda: time.monotonic() < ends_at):
        current_app.send_task("reports.tasks.announce_mutes")
