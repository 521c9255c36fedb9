"""What workers do with reports."""

from __future__ import annotations

import time

from celery import current_app, shared_task

from reports.mutes.notices import post_due

# Others wait for this process.
NOTICES_LIMIT_S = 45


@shared_task
def announce_mutes() -> None:
    """Every morning: announce the mutes that end within the next days; out of time, another task goes on."""
    ends_at = time.monotonic() + NOTICES_LIMIT_S
    if not post_due(lambda: time.monotonic() < ends_at):
        current_app.send_task("reports.tasks.announce_mutes")
