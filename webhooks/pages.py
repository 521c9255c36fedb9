"""Delivery log of a webhook on its dashboard page.

Rows, attempts and payloads are limited.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Any

from django.db.models import BinaryField, Prefetch, Q
from django.db.models.functions import Length, Substr
from django.utils import timezone
from msgspec import Struct

from accounts import access
from accounts.models import Membership
from infrastructure.web import keyset
from webhooks.delivery.schedule import PAUSES
from webhooks.models import Attempt, Delivery, Event, EventKind, Webhook
from webhooks.services import deliveries_of_webhook

PAGE_SIZE = 20
MAX_LISTED_ATTEMPTS = 10
MAX_PAYLOAD_BYTES = 4096
MAX_PLANNED_ATTEMPTS = len(PAUSES) + 1
# The page refreshes itself if a delivery was or will be attempted within this time.
REFRESH_WINDOW = timedelta(seconds=30)


class DeliveryState(Struct, frozen=True):
    """State of a delivery in words.

    `tone` is the colour class of its badge.
    """

    name: str
    tone: str = ""


class LogEntry(Struct, frozen=True):
    """Delivery in the delivery log with its last attempts, newest first.

    `payload` is the event's body as indented JSON. If the body is too long, `is_cut` is True, and `payload` is the
    beginning of the body without indentation.
    """

    delivery: Delivery
    attempts: Sequence[Attempt]
    payload: str
    is_cut: bool

    @property
    def moment(self) -> str:
        """Creation time of the delivery in UTC.

        The template appends a Z for the `datetime` attribute of <time>.
        """
        return f"{self.delivery.created_at:%Y-%m-%d %H:%M:%S}"

    @property
    def state(self) -> DeliveryState:
        delivery = self.delivery
        if delivery.status == Delivery.Status.DELIVERED:
            return DeliveryState("Delivered", "good")
        if delivery.status == Delivery.Status.FAILED:
            return DeliveryState("Failed", "bad")
        if not delivery.webhook.enabled:
            return DeliveryState("On hold")
        if delivery.is_sending:
            return DeliveryState("Sending", "accent")
        if delivery.attempts_made:
            return DeliveryState(f"Retrying, {delivery.attempts_made + 1} of {MAX_PLANNED_ATTEMPTS}", "warn")
        return DeliveryState("Waiting")

    @property
    def last(self) -> Attempt | None:
        return self.attempts[0] if self.attempts else None


class DeliveryLog(Struct, frozen=True):
    """Page of the delivery log with its filters.

    An empty string means no filter.
    """

    entries: list[LogEntry]
    page: keyset.LinkedPage[Any, keyset.Moment]
    status: str
    event: str
    needs_refresh: bool
    statuses: Sequence[tuple[str, str]] = tuple(Delivery.Status.choices)
    events: Sequence[str] = tuple(EventKind.values)

    @property
    def is_filtered(self) -> bool:
        """Return True if the log is filtered by status or event."""
        return bool(self.status or self.event)


def displayed_url(webhook: Webhook, member: Membership) -> str:
    """Return the webhook's URL for display.

    Only admins see the URL with its tokens.
    """
    return webhook.url if member.is_admin else webhook.public_url


def webhooks_of_organization(organization_id: int) -> list[Webhook]:
    """Return all webhooks of an organization, oldest first.

    The tier limits their number.
    """
    return list(access.rows(Webhook, organization_id))


def delivery_log(webhook: Webhook, query: Mapping[str, str]) -> DeliveryLog:
    """Return a page of the delivery log, newest first.

    The query parameters `status` and `event` filter the log. Unknown values of these parameters are ignored.
    """
    status = query.get("status", "") if query.get("status") in Delivery.Status.values else ""
    event = query.get("event", "") if query.get("event") in EventKind.values else ""
    filters = {name: value for name, value in (("status", status), ("event", event)) if value}
    match = Q(**({"status": status} if status else {}), **({"event__kind": event} if event else {}))
    attempts = Prefetch(
        "attempts", queryset=Attempt.objects.order_by("-at", "-id")[:MAX_LISTED_ATTEMPTS], to_attr="last_attempts"
    )
    rows = deliveries_of_webhook(webhook).select_related("event__monitor", "event__site_list").defer("event__body")
    page = keyset.by_time(
        [rows.prefetch_related(attempts)], query, size=PAGE_SIZE, filters=filters, match=match if filters else None
    )
    now = timezone.now()
    payloads = _payloads_by_event_id([delivery.event_id for delivery in page.rows])
    entries = [
        LogEntry(delivery, delivery.last_attempts, *payloads[delivery.event_id])  # type: ignore[attr-defined]  # The prefetch sets it.
        for delivery in page.rows
    ]
    needs_refresh = any(
        delivery.is_sending or (delivery.planned_at and abs(delivery.planned_at - now) < REFRESH_WINDOW)
        for delivery in page.rows
    )
    return DeliveryLog(entries, page, status, event, needs_refresh)


def last_test(webhook: Webhook) -> LogEntry | None:
    """Return the webhook's last test without its payload, or None if there was none."""
    subjects = {"event__scan": None, "event__audit": None, "event__monitor": None, "event__site_list": None}
    tests = deliveries_of_webhook(webhook).filter(**subjects).select_related("event").defer("event__body")
    delivery = tests.first()
    if delivery is None:
        return None
    return LogEntry(delivery, list(delivery.attempts.order_by("-at", "-id")[:1]), "", False)


def _payloads_by_event_id(event_ids: Iterable[str]) -> dict[str, tuple[str, bool]]:
    """Return the bodies of events as text, by event ID.

    Each text is truncated to MAX_PAYLOAD_BYTES, and paired with True if it was truncated.
    """
    beginning = Substr("body", 1, MAX_PAYLOAD_BYTES, output_field=BinaryField())
    rows = Event.objects.filter(id__in=list(event_ids)).annotate(beginning=beginning, bytes=Length("body"))
    return {
        id: (_indented_json(bytes(body)), False)
        if length <= MAX_PAYLOAD_BYTES
        else (bytes(body).decode(errors="ignore"), True)
        for id, body, length in rows.values_list("id", "beginning", "bytes")
    }


def _indented_json(body: bytes) -> str:
    return json.dumps(json.loads(body), indent=2, ensure_ascii=False)
