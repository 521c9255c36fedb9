"""What runs beside the requests."""

from __future__ import annotations

import logging

from celery import shared_task

from accounts import sessions

logger = logging.getLogger(__name__)


@shared_task
def delete_dead_sessions() -> None:
    """Once a night."""
    logger.info("%d sessions that ended were deleted", sessions.delete_dead())
