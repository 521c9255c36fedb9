"""Celery tasks of accounts."""

from __future__ import annotations

import logging

from celery import shared_task
from django.utils import timezone

from accounts.closing.deletion import delete_closed
from accounts.export import services as export
from accounts.keys import notices
from accounts.mailing import sending
from infrastructure import queue

logger = logging.getLogger(__name__)

# Seconds. Limited, because other tasks wait for this process.
DELETION_LIMIT_S = 45
NOTICES_LIMIT_S = 45


@shared_task
def delete_closed_accounts() -> None:
    """Every minute: delete the rows of closed organizations and accounts, as far as the time limit allows."""
    if not delete_closed(timezone.now(), DELETION_LIMIT_S):
        logger.info("what was closed is still being deleted")


@shared_task(soft_time_limit=sending.LIMIT_S, time_limit=sending.LIMIT_S + 15)
def send_mails(reason: str) -> None:
    """Every minute, and when a mail was written: send the mails that are due. `reason` is for the log only."""
    if sending.send_due():
        queue.enqueue("accounts.tasks.send_mails", "more")


@shared_task(soft_time_limit=150, time_limit=165)
def make_export(export_id: str) -> None:
    """Make the next file of a data export, which enqueues the task for the file after it."""
    export.make_part(export_id)


@shared_task
def wake_exports() -> None:
    """Every minute: continue exports whose message was lost or whose worker died."""
    export.wake_waiting()


@shared_task
def tell_of_ending_keys() -> None:
    """Every hour: write the notices about API keys that end soon."""
    if not notices.post_due(NOTICES_LIMIT_S):
        logger.info("some notices that API keys end wait for the next hour")
