"""Celery tasks for accounts."""

from __future__ import annotations

import logging

from celery import shared_task
from django.utils import timezone

from accounts.closing.deletion import delete_closed
from accounts.export import services as export
from accounts.keys import notices
from accounts.mailing import sending
from accounts.models import DataExport, Mail, Organization, User
from infrastructure import queue
from infrastructure.periodic import PeriodicTask

logger = logging.getLogger(__name__)

# Time limits of the tasks in seconds, because other tasks wait for the same worker process.
DELETION_LIMIT_S = 45
NOTICES_LIMIT_S = 45


def _has_closed_accounts() -> bool:
    return Organization.objects.exclude(closed_at=None).exists() or User.objects.exclude(closed_at=None).exists()


@shared_task(base=PeriodicTask, has_work=staticmethod(_has_closed_accounts))
def delete_closed_accounts() -> None:
    """Delete rows that belong to closed organizations and accounts, within the time limit.

    Scheduled every minute.
    """
    if not delete_closed(timezone.now(), DELETION_LIMIT_S):
        logger.info("what was closed is still being deleted")


def _has_unsent_mails() -> bool:
    return Mail.objects.filter(sent_at=None, given_up_at=None).exists()


@shared_task(
    base=PeriodicTask,
    soft_time_limit=sending.TASK_LIMIT_S,
    time_limit=sending.TASK_LIMIT_S + 15,
    has_work=staticmethod(_has_unsent_mails),
)
def send_mails(_reason: str) -> None:
    """Send due e-mails.

    Scheduled every minute, and when an e-mail was written. The argument is only logged.
    """
    if sending.send_due():
        queue.enqueue("accounts.tasks.send_mails", "more")


@shared_task(soft_time_limit=150, time_limit=165)
def make_export(export_id: str) -> None:
    """Write a data export's next file, and enqueue this task again if more files follow."""
    export.write_next_part(export_id)


def _has_unfinished_exports() -> bool:
    return DataExport.objects.filter(status=DataExport.Status.MAKING).exists()


@shared_task(base=PeriodicTask, has_work=staticmethod(_has_unfinished_exports))
def wake_exports() -> None:
    """Enqueue data exports whose Celery message was lost or whose worker died.

    Scheduled every minute.
    """
    export.enqueue_stalled_exports()


@shared_task
def tell_of_ending_keys() -> None:
    """Write notices about API keys that expire soon to the outbox.

    Scheduled every hour.
    """
    if not notices.post_due_notices(NOTICES_LIMIT_S):
        logger.info("some notices that API keys end wait for the next hour")
