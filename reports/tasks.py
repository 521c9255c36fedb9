"""What workers do with reports."""

from __future__ import annotations

from celery import shared_task
from django.utils import timezone

from reports.models import Report

BATCH = 1000


@shared_task
def delete_expired() -> None:
    """Every night: reading enforces the retention already, this frees the space, in small transactions."""
    while True:
        ids = list(Report.objects.filter(expires_at__lte=timezone.now()).values_list("id", flat=True)[:BATCH])
        Report.objects.filter(id__in=ids).delete()
        if len(ids) < BATCH:
            return
