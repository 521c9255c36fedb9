"""What workers do with deliveries."""

from __future__ import annotations

import threading

from celery import shared_task
from celery.signals import worker_shutting_down

from infrastructure import queue
from webhooks.delivery import claims
from webhooks.delivery.dispatch import Dispatcher

# In a pool of processes, others wait for this one and its time is limited; threads know no such limits.
PROCESS_LIMIT_S = 45

_dispatcher = Dispatcher()


@shared_task(soft_time_limit=PROCESS_LIMIT_S + 30, time_limit=PROCESS_LIMIT_S + 45)
def deliver(reason: str) -> None:
    """Deliver what is due, until nothing is. What is due stands in the rows; `reason` is for the log."""
    is_main = threading.current_thread() is threading.main_thread()
    if not _dispatcher.deliver_due(time_limit_s=PROCESS_LIMIT_S if is_main else float("inf")):
        queue.enqueue("webhooks.tasks.deliver", "more")


@worker_shutting_down.connect
def stop_delivering(**_: object) -> None:
    """Let the worker end as soon as what is on its way has ended."""
    _dispatcher.stop()


@shared_task
def hold_deliveries() -> None:
    """Every minute: what waits for disabled webhooks costs claims nothing from then on."""
    claims.hold()
