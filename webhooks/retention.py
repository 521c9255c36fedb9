"""Retention of the log of deliveries, as long as the organization's plan says."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from django.db.models import Exists, Max, OuterRef, QuerySet
from django.utils import timezone

from accounts.models import Tier
from accounts.retention import with_expired
from infrastructure.leases import RELEASED
from infrastructure.retention import HasTime, Retention, always
from webhooks.models import Delivery, Event, FormerSecret, Webhook

BATCH = 1000


def delete_deliveries(has_time: HasTime = always) -> bool:
    """Delete what has been finished for so long, in small transactions; False when there was no time for all.

    What has been waiting so long for a disabled webhook has failed: from then on it is kept as long again.
    """
    now = timezone.now()
    for webhook_id, before in with_expired(
        Delivery, "deliveries_kept_days", "created_at", owner=Webhook, tier="organization__tier"
    ):
        _delete_log(Delivery.objects.filter(webhook_id=webhook_id, created_at__lt=before), before, now, has_time)
    # What deleted webhooks have left behind. Older than any log, so that no event is looked at that is still in one.
    longest = Tier.objects.aggregate(days=Max("deliveries_kept_days"))["days"] or 0
    events = _without_deliveries().filter(created_at__lt=now - timedelta(days=longest))
    for ids in _batches(events, has_time):
        _without_deliveries().filter(id__in=ids).delete()
    FormerSecret.objects.filter(expires_at__lt=now).delete()
    return has_time()


def _delete_log(log: QuerySet[Delivery], before: datetime, now: datetime, has_time: HasTime) -> None:
    waiting = log.filter(status=Delivery.Status.PENDING, webhook__enabled=False)
    for ids in _batches(waiting, has_time):
        # Again only what is pending: somebody may have enabled the webhook meanwhile.
        Delivery.objects.filter(id__in=ids, status=Delivery.Status.PENDING).update(
            status=Delivery.Status.FAILED, finished_at=now, **RELEASED
        )
    finished = log.exclude(status=Delivery.Status.PENDING).filter(finished_at__lt=before)
    for ids in _batches(finished, has_time):
        gone = Delivery.objects.filter(id__in=ids).exclude(status=Delivery.Status.PENDING)
        events = list(gone.values_list("event_id", flat=True))
        gone.delete()
        _without_deliveries().filter(id__in=events).delete()


def _without_deliveries() -> QuerySet[Event]:
    return Event.objects.filter(~Exists(Delivery.objects.filter(event=OuterRef("id"))))


def _batches(rows: QuerySet[Delivery] | QuerySet[Event], has_time: HasTime) -> Iterator[list[str]]:
    """The IDs of what is there; every batch has to be gone when the next is asked for."""
    while has_time() and (ids := list(rows.values_list("id", flat=True)[:BATCH])):
        yield ids
        if len(ids) < BATCH:
            return


RETENTION = (Retention("deliveries", delete_deliveries),)
