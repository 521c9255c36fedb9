"""What workers do with deliveries."""

from __future__ import annotations

from celery import shared_task

from config import celery
from scans.policy import scan_policy
from webhooks import dispatch

SWEEP_LIMIT = 1000


@shared_task
def deliver(delivery_id: str) -> None:
    """One attempt; when and whether there is another stands in the row."""
    dispatch.attempt(delivery_id, scan_policy())


@shared_task
def sweep() -> None:
    """Every 15 seconds: what is due and what the queue lost."""
    for delivery_id in dispatch.due(SWEEP_LIMIT):
        celery.enqueue("webhooks.tasks.deliver", delivery_id)
