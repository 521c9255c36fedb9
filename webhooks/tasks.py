"""What workers do with deliveries."""

from __future__ import annotations

import logging

from celery import shared_task

from scans.policy import scan_policy
from webhooks import dispatch

logger = logging.getLogger(__name__)

SWEEP_LIMIT = 1000


@shared_task
def deliver(delivery_id: str) -> None:
    """One attempt; when and whether there is another stands in the row."""
    dispatch.attempt(delivery_id, scan_policy())


@shared_task
def sweep() -> None:
    """Every 15 seconds: what is due and what the queue lost."""
    for delivery_id in dispatch.due(SWEEP_LIMIT):
        enqueue(delivery_id)


def enqueue(delivery_id: str) -> None:
    """Hand a delivery to the workers. When the queue does not take it, the next sweep will."""
    try:
        deliver.delay(delivery_id)
    except deliver.OperationalError as error:
        logger.warning("delivery %s could not be enqueued: %s", delivery_id, error)
