"""What runs beside the requests."""

from __future__ import annotations

import logging

from celery import shared_task
from django.utils import timezone

from accounts import sessions
from accounts.closing.deletion import delete_closed

logger = logging.getLogger(__name__)

# Others wait for this process.
DELETION_LIMIT_S = 45


@shared_task
def delete_dead_sessions() -> None:
    """Once a night."""
    logger.info("%d sessions that ended were deleted", sessions.delete_dead())


@shared_task
def delete_closed_accounts() -> None:
    """Every minute: what was closed, as far as the time goes."""
    if not delete_closed(timezone.now(), DELETION_LIMIT_S):
        logger.info("what was closed is still being deleted")
