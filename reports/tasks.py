"""What workers do with reports."""

from __future__ import annotations

from collections.abc import Callable

from celery import shared_task
from django.utils import timezone

from config.celery import delete_in_batches
from reports.models import Report

BATCH = 1000


@shared_task
def delete_expired() -> None:
    """Every night: reading enforces the retention already, this frees the space, in small transactions."""
    delete_in_batches("reports.tasks.delete_expired", _delete)


def _delete(has_time: Callable[[], bool]) -> bool:
    while has_time():
        ids = list(Report.objects.filter(expires_at__lte=timezone.now()).values_list("id", flat=True)[:BATCH])
        Report.objects.filter(id__in=ids).delete()
        if len(ids) < BATCH:
            return True
    return False
