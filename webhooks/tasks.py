"""Celery tasks of webhooks."""

from __future__ import annotations

import threading

from celery import shared_task
from celery.signals import worker_shutting_down

from infrastructure import queue
from infrastructure.periodic import PeriodicTask
from webhooks.delivery import claims
from webhooks.delivery.dispatch import Dispatcher
from webhooks.models import Delivery

# In a prefork pool, other tasks wait for this process and tasks have a time limit; a thread pool has no such limits.
PROCESS_LIMIT_S = 45

_dispatcher = Dispatcher()


def _has_deliveries() -> bool:
    return Delivery.objects.filter(status=Delivery.Status.PENDING, is_held=False).exists()


@shared_task(
    base=PeriodicTask,
    soft_time_limit=PROCESS_LIMIT_S + 30,
    time_limit=PROCESS_LIMIT_S + 45,
    has_work=staticmethod(_has_deliveries),
)
def deliver(_reason: str) -> None:
    """Deliver until nothing is due. The due deliveries are found by their rows; The reason is only for the log."""
    is_main = threading.current_thread() is threading.main_thread()
    if not _dispatcher.deliver_due(time_limit_s=PROCESS_LIMIT_S if is_main else float("inf")):
        queue.enqueue("webhooks.tasks.deliver", "more")


@worker_shutting_down.connect
def stop_delivering(**_: object) -> None:
    """Stop the dispatcher, so that the worker ends after the running attempts."""
    _dispatcher.stop()


@shared_task(base=PeriodicTask, has_work=staticmethod(_has_deliveries))
def hold_deliveries() -> None:
    """Mark deliveries of disabled webhooks as held, every minute, so that claims skip them at no cost."""
    claims.hold()
