"""Delete deliveries after the retention period.

The organization's tier sets the period.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from django.db.models import Exists, Max, OuterRef, QuerySet
from django.utils import timezone

from accounts.models import Tier
from accounts.retention import owners_with_expired_rows
from infrastructure.leases import RELEASED
from infrastructure.retention import HasTime, Retention, always
from webhooks.models import Delivery, Event, FormerSecret, Webhook

BATCH = 1000


def delete_deliveries(has_time: HasTime = always) -> bool:
    """Delete deliveries older than the tier's retention period.

    Uses small transactions. Returns False if time ran out. Deliveries that have waited for a disabled webhook for that
    long are marked as failed, and deleted after another period.
    """
    now = timezone.now()
    for webhook_id, before in owners_with_expired_rows(
        Delivery, "deliveries_kept_days", "created_at", owner=Webhook, tier="organization__tier"
    ):
        _delete_old_deliveries(
            Delivery.objects.filter(webhook_id=webhook_id, created_at__lt=before), before, now, has_time
        )
    # Only old events are queried, because most younger events still have deliveries.
    longest_retention_days = Tier.objects.aggregate(days=Max("deliveries_kept_days"))["days"] or 0
    events = _events_without_deliveries().filter(created_at__lt=now - timedelta(days=longest_retention_days))
    for ids in _batches(events, has_time):
        _events_without_deliveries().filter(id__in=ids).delete()
    FormerSecret.objects.filter(expires_at__lt=now).delete()
    return has_time()


def _delete_old_deliveries(log: QuerySet[Delivery], before: datetime, now: datetime, has_time: HasTime) -> None:
    waiting = log.filter(status=Delivery.Status.PENDING, webhook__enabled=False)
    for ids in _batches(waiting, has_time):
        # A member may have enabled the webhook concurrently.
        Delivery.objects.filter(id__in=ids, status=Delivery.Status.PENDING).update(
            status=Delivery.Status.FAILED, finished_at=now, **RELEASED
        )
    finished = log.exclude(status=Delivery.Status.PENDING).filter(finished_at__lt=before)
    for ids in _batches(finished, has_time):
        batch = Delivery.objects.filter(id__in=ids).exclude(status=Delivery.Status.PENDING)
        event_ids = list(batch.values_list("event_id", flat=True))
        batch.delete()
        _events_without_deliveries().filter(id__in=event_ids).delete()


def _events_without_deliveries() -> QuerySet[Event]:
    return Event.objects.filter(~Exists(Delivery.objects.filter(event=OuterRef("id"))))


def _batches(rows: QuerySet[Delivery] | QuerySet[Event], has_time: HasTime) -> Iterator[list[str]]:
    """Yield the IDs of rows in batches.

    The caller must delete or change each batch, so that it leaves the queryset.
    """
    while has_time() and (ids := list(rows.values_list("id", flat=True)[:BATCH])):
        yield ids
        if len(ids) < BATCH:
            return


RETENTION = (Retention("deliveries", delete_deliveries),)
