"""Celery tasks for webhooks."""

from __future__ import annotations

import threading

from celery import shared_task
from celery.signals import worker_shutting_down

from infrastructure import queue
from infrastructure.periodic import PeriodicTask
from webhooks.delivery import claims
from webhooks.delivery.dispatch import Dispatcher
from webhooks.models import Delivery

# Other tasks wait for the same process of a prefork pool. A thread pool needs no limit.
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
    """Deliver until no delivery is due.

    The task finds due deliveries itself; the argument is only logged.
    """
    is_main = threading.current_thread() is threading.main_thread()
    if not _dispatcher.deliver_due(time_limit_s=PROCESS_LIMIT_S if is_main else float("inf")):
        queue.enqueue("webhooks.tasks.deliver", "more")


@worker_shutting_down.connect
def stop_delivering(**_: object) -> None:
    """Stop the dispatcher when the worker stops.

    The worker exits after the running attempts.
    """
    _dispatcher.stop()


@shared_task(base=PeriodicTask, has_work=staticmethod(_has_deliveries))
def hold_deliveries() -> None:
    """Mark waiting deliveries of disabled webhooks as held.

    Claims skip held deliveries. Scheduled every minute.
    """
    claims.mark_held_deliveries()
