"""Celery tasks of reports and mutes."""

from __future__ import annotations

import time

from celery import current_app, shared_task

from reports.mutes.notices import post_due

# Time limit of a task, because other tasks wait for its process.
NOTICES_LIMIT_S = 45


@shared_task
def announce_mutes() -> None:
    """Announce, every morning, mutes that end soon. A task that runs out of time enqueues another one for the rest."""
    ends_at = time.monotonic() + NOTICES_LIMIT_S
    if not post_due(lambda: time.monotonic() < ends_at):
        current_app.send_task("reports.tasks.announce_mutes")
