"""What an organization's plan keeps for a limited time, found without looking at what it keeps longer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta

from django.db.models import DateTimeField, DurationField, ExpressionWrapper, F, Model, OuterRef, Subquery, Value
from django.utils import timezone

from accounts import access
from accounts.models import AuditEvent, Organization

BATCH = 1000


def with_expired(
    model: type[Model], kept_days: str, order: str, owner: type[Model] = Organization, tier: str = "tier"
) -> Iterator[tuple[int | str, datetime]]:
    """Owners of rows whose oldest one is older than their plan keeps, and the moment before which theirs go.

    `kept_days` is the plan's field, and `order` what an index has the owner's rows in, the oldest first. A look into
    that index for each owner, so that those whose plan keeps more are not searched.
    """
    now = timezone.now()
    days = F(f"{tier}__{kept_days}")
    before = ExpressionWrapper(
        Value(now) - ExpressionWrapper(days * Value(timedelta(days=1)), DurationField()), DateTimeField()
    )
    of_owner = {owner._meta.model_name or "": OuterRef("pk")}
    oldest = model._default_manager.filter(**of_owner).order_by(order).values("created_at")[:1]
    owners = owner._default_manager.filter(**{f"{tier}__{kept_days}__isnull": False})
    found = owners.annotate(before=before, oldest=Subquery(oldest)).filter(oldest__lt=F("before"))
    return found.order_by("pk").values_list("pk", "before").iterator()


def delete_old_events(has_time: Callable[[], bool]) -> bool:
    """Delete entries of audit logs that are kept no longer; False when the time was not enough for all."""
    for organization_id, before in with_expired(AuditEvent, "audit_kept_days", "id"):
        # By ID, as the index has them; they are written in the order of time, or nearly.
        oldest = access.rows(AuditEvent, int(organization_id)).order_by("id").values_list("id", "created_at")
        while has_time():
            rows = list(oldest[:BATCH])
            ids = [id for id, created_at in rows if created_at < before]
            AuditEvent.objects.filter(id__in=ids).delete()
            if len(ids) < BATCH:
                break
    return has_time()
