"""What workers do with reports."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

from celery import shared_task
from django.db.models import Q
from django.utils import timezone

from infrastructure.queue import delete_in_batches
from reports.models import Mute, Report
from reports.mutes.notices import post_due

BATCH = 1000
# What has been muted, by whom and why can be asked for so long after it ended.
MUTES_KEPT = timedelta(days=90)


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


@shared_task
def delete_ended_mutes() -> None:
    """Every night: an organization has at most a thousand in force, so those of a day are not many."""
    before = timezone.now() - MUTES_KEPT
    Mute.objects.filter(Q(ended_at__lte=before) | Q(expires_at__lte=before)).delete()


@shared_task
def announce_mutes() -> None:
    """Every morning: what ends within the next days."""
    delete_in_batches("reports.tasks.announce_mutes", post_due)
