"""Deletion of deliveries after the retention period of the organization's tier."""

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
    """Delete deliveries older than the tier's retention period, in small transactions. Returns False if time ran out.

    Deliveries that have waited for a disabled webhook for that long are marked as failed, and deleted after another
    period.
    """
    now = timezone.now()
    for webhook_id, before in with_expired(
        Delivery, "deliveries_kept_days", "created_at", owner=Webhook, tier="organization__tier"
    ):
        _delete_log(Delivery.objects.filter(webhook_id=webhook_id, created_at__lt=before), before, now, has_time)
    # Deleted webhooks leave events without deliveries. Only events older than the longest retention period are queried,
    # because most younger events still have deliveries.
    longest_days = Tier.objects.aggregate(days=Max("deliveries_kept_days"))["days"] or 0
    events = _without_deliveries().filter(created_at__lt=now - timedelta(days=longest_days))
    for ids in _batches(events, has_time):
        _without_deliveries().filter(id__in=ids).delete()
    FormerSecret.objects.filter(expires_at__lt=now).delete()
    return has_time()


def _delete_log(log: QuerySet[Delivery], before: datetime, now: datetime, has_time: HasTime) -> None:
    waiting = log.filter(status=Delivery.Status.PENDING, webhook__enabled=False)
    for ids in _batches(waiting, has_time):
        # The status is compared again, because a member may have enabled the webhook meanwhile.
        Delivery.objects.filter(id__in=ids, status=Delivery.Status.PENDING).update(
            status=Delivery.Status.FAILED, finished_at=now, **RELEASED
        )
    finished = log.exclude(status=Delivery.Status.PENDING).filter(finished_at__lt=before)
    for ids in _batches(finished, has_time):
        batch = Delivery.objects.filter(id__in=ids).exclude(status=Delivery.Status.PENDING)
        event_ids = list(batch.values_list("event_id", flat=True))
        batch.delete()
        _without_deliveries().filter(id__in=event_ids).delete()


def _without_deliveries() -> QuerySet[Event]:
    return Event.objects.filter(~Exists(Delivery.objects.filter(event=OuterRef("id"))))


def _batches(rows: QuerySet[Delivery] | QuerySet[Event], has_time: HasTime) -> Iterator[list[str]]:
    """Yield the IDs of rows in batches. The caller must delete or change a batch so that it leaves the queryset."""
    while has_time() and (ids := list(rows.values_list("id", flat=True)[:BATCH])):
        yield ids
        if len(ids) < BATCH:
            return


RETENTION = (Retention("deliveries", delete_deliveries),)
