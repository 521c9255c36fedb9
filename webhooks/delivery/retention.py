"""What is deleted: the log of deliveries after 30 days."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

from webhooks.models import Delivery, Event, FormerSecret

BATCH = 1000


def delete_old(has_time: Callable[[], bool] = lambda: True, now: datetime | None = None) -> bool:
    """Delete what has been finished for 30 days, in small transactions; False when there was no time for all.

    What has been waiting so long for a disabled webhook has failed: from then on it is kept as long again.
    """
    now = now or timezone.now()
    before = now - timedelta(days=settings.DELIVERY_RETENTION_DAYS)
    waiting = Delivery.objects.filter(status=Delivery.Status.PENDING, webhook__enabled=False, created_at__lt=before)
    for ids in _batches(waiting, has_time):
        # Again only what is pending: somebody may have enabled the webhook meanwhile.
        Delivery.objects.filter(id__in=ids, status=Delivery.Status.PENDING).update(
            status=Delivery.Status.FAILED, finished_at=now, claim_token=None, lease_expires_at=None
        )
    finished = Delivery.objects.exclude(status=Delivery.Status.PENDING).filter(finished_at__lt=before)
    for ids in _batches(finished, has_time):
        Delivery.objects.filter(id__in=ids).exclude(status=Delivery.Status.PENDING).delete()
    for ids in _batches(
        Event.objects.filter(~Exists(Delivery.objects.filter(event=OuterRef("id"))), created_at__lt=before), has_time
    ):
        Event.objects.filter(~Exists(Delivery.objects.filter(event=OuterRef("id"))), id__in=ids).delete()
    FormerSecret.objects.filter(expires_at__lt=now).delete()
    return has_time()


def _batches(rows: QuerySet[Delivery] | QuerySet[Event], has_time: Callable[[], bool]) -> Iterator[list[str]]:
    """The IDs of what is there; every batch has to be gone when the next is asked for."""
    while has_time() and (ids := list(rows.values_list("id", flat=True)[:BATCH])):
        yield ids
        if len(ids) < BATCH:
            return
