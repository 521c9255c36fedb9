"""Delete expired activity log entries, sessions, e-mails and data exports."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from django.conf import settings
from django.contrib.sessions.backends.db import SessionStore
from django.db.models import DateTimeField, DurationField, ExpressionWrapper, F, Model, OuterRef, Q, Subquery, Value
from django.utils import timezone

from accounts import access, sessions
from accounts.export import services as export
from accounts.models import ActivityEvent, DataExport, LoginSession, Mail, MonthlyUsage, Organization
from accounts.usage import month_of
from infrastructure.postgresql.deletion import delete_with_references
from infrastructure.retention import HasTime, Retention, always

BATCH = 1000


def owners_with_expired_rows(
    model: type[Model], kept_days: str, order: str, owner: type[Model] = Organization, tier: str = "tier"
) -> Iterator[tuple[int | str, datetime]]:
    """Yield (owner ID, cutoff time) for every owner with expired rows.

    The owner's tier determines the cutoff.

    `kept_days` is the field of the tier. `order` is that of an index with an owner's oldest row first, so that
    one index lookup per owner is enough to skip owners without expired rows.
    """
    now = timezone.now()
    days = F(f"{tier}__{kept_days}")
    before = ExpressionWrapper(
        Value(now) - ExpressionWrapper(days * Value(timedelta(days=1)), DurationField()), DateTimeField()
    )
    owner_condition = {owner._meta.model_name or "": OuterRef("pk")}
    oldest = model._default_manager.filter(**owner_condition).order_by(order).values("created_at")[:1]
    owners = owner._default_manager.filter(**{f"{tier}__{kept_days}__isnull": False})
    expired_owners = owners.annotate(before=before, oldest=Subquery(oldest)).filter(oldest__lt=F("before"))
    expired: Iterator[tuple[int | str, datetime]] = expired_owners.order_by("pk").values_list("pk", "before").iterator()
    return expired


def delete_events(has_time: HasTime = always) -> bool:
    """Delete expired activity log entries.

    The tier sets how long an organization's entries are kept.
    """
    for organization_id, before in owners_with_expired_rows(ActivityEvent, "activity_kept_days", "id"):
        # The order by ID uses an index, and is nearly chronological.
        oldest = access.rows(ActivityEvent, int(organization_id)).order_by("id").values_list("id", "created_at")
        while has_time():
            rows = list(oldest[:BATCH])
            ids = [id for id, created_at in rows if created_at < before]
            ActivityEvent.objects.filter(id__in=ids).delete()
            if len(ids) < BATCH:
                break
    return has_time()


def delete_sessions(has_time: HasTime = always) -> bool:
    """Delete expired sessions, both LoginSession rows and Django's sessions."""
    SessionStore.clear_expired()
    ended = LoginSession.objects.filter(last_seen_at__lt=timezone.now() - sessions.lifetime())
    return delete_with_references(ended, has_time)


def delete_mails(has_time: HasTime = always) -> bool:
    """Delete e-mails 30 days after they were sent or given up.

    Until then, their unique keys prevent duplicates.
    """
    before = timezone.now() - timedelta(days=settings.MAIL_RETENTION_DAYS)
    ended = Mail.objects.filter(Q(sent_at__lt=before) | Q(given_up_at__lt=before), created_at__lt=before)
    return delete_with_references(ended, has_time)


def delete_exports(has_time: HasTime = always) -> bool:
    """Delete expired data exports with their files."""
    return delete_with_references(DataExport.objects.filter(ended_at__lte=timezone.now() - export.RETENTION), has_time)


def delete_usage(has_time: HasTime = always) -> bool:
    """Delete the usage of deleted organizations once the month is over."""
    rows = MonthlyUsage.objects.filter(organization=None, period__lt=month_of(timezone.now()))
    return delete_with_references(rows, has_time)


RETENTION = (
    Retention("activity log", delete_events),
    Retention("sessions", delete_sessions),
    Retention("e-mails", delete_mails),
    Retention("exports", delete_exports),
    Retention("usage", delete_usage),
)
