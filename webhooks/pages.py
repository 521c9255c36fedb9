"""What the dashboard shows of a webhook: its log, bounded in every direction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

from django.db.models import Prefetch, Q
from django.utils import timezone

from accounts import access
from accounts.models import Membership
from config.web import keyset
from webhooks.models import Attempt, Delivery, EventKind, Webhook
from webhooks.services import deliveries_of

PAGE_SIZE = 20
MAX_ATTEMPTS_SHOWN = 10
# For so long the page asks again what became of a delivery that waits.
WATCHED = timedelta(seconds=30)


@dataclass(frozen=True, slots=True)
class Entry:
    """A delivery in the log, with its last attempts, the latest first."""

    delivery: Delivery
    attempts: Sequence[Attempt]

    @property
    def moment(self) -> str:
        """When the event happened, in UTC; also what HTML's <time> takes, with a Z."""
        return f"{self.delivery.created_at:%Y-%m-%d %H:%M:%S}"

    @property
    def last(self) -> Attempt | None:
        return self.attempts[0] if self.attempts else None


@dataclass(frozen=True, slots=True)
class Log:
    """A page of the log and what it was filtered by; empty strings for no filter."""

    entries: list[Entry]
    page: keyset.RowPage[Any]
    status: str
    event: str
    is_watched: bool
    statuses: Sequence[tuple[str, str]] = tuple(Delivery.Status.choices)
    events: Sequence[str] = tuple(EventKind.values)

    @property
    def is_filtered(self) -> bool:
        """Whether there may be deliveries that do not show."""
        return bool(self.status or self.event)


def shown_address(webhook: Webhook, member: Membership) -> str:
    """The webhook's URL; for those who cannot change it without what holds tokens: the query, and of chats the path."""
    if member.is_admin:
        return webhook.url
    if webhook.format != Webhook.Format.STANDARD:
        return f"{urlsplit(webhook.url).scheme}://{webhook.receiver}/…"
    path, mark, _ = webhook.url.partition("?")
    return path + "?…" if mark else path


def webhooks_of(organization_id: int) -> list[Webhook]:
    """All of them, oldest first: the plan bounds how many there are."""
    return list(access.rows(Webhook, organization_id))


def log(webhook: Webhook, query: Mapping[str, str]) -> Log:
    """Deliveries of the webhook, newest first, filtered by `status` and `event`; unknown values filter nothing."""
    status = query.get("status", "") if query.get("status") in Delivery.Status.values else ""
    event = query.get("event", "") if query.get("event") in EventKind.values else ""
    filters = {name: value for name, value in (("status", status), ("event", event)) if value}
    match = Q(**({"status": status} if status else {}), **({"event__kind": event} if event else {}))
    attempts = Prefetch(
        "attempts", queryset=Attempt.objects.order_by("-at", "-id")[:MAX_ATTEMPTS_SHOWN], to_attr="last_attempts"
    )
    rows = deliveries_of(webhook).select_related("event", "webhook").defer("event__body", "webhook__encrypted_secret")
    page = keyset.page(
        [rows.prefetch_related(attempts)], query, size=PAGE_SIZE, filters=filters, match=match if filters else None
    )
    now = timezone.now()
    entries = [
        Entry(delivery, delivery.last_attempts)  # type: ignore[attr-defined]  # set by the prefetch
        for delivery in page.rows
    ]
    is_watched = any(
        delivery.is_sending or (delivery.planned_at and abs(delivery.planned_at - now) < WATCHED)
        for delivery in page.rows
    )
    return Log(entries, page, status, event, is_watched)
