"""Webhooks, deliveries and attempts as the API shows them."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.utils import timezone
from rest_framework import serializers

from config.ids import timestamp
from webhooks.models import Attempt, Delivery, EventKind, Webhook

ID = "[0-9A-Za-z]{22}"
SECRET = r"^whsec_[0-9A-Za-z+/]{43}=$"  # noqa: S105  (a pattern, not a secret)


class WebhookRequest(serializers.Serializer):
    """The body of a registration."""

    url = serializers.CharField(max_length=2048)
    events = serializers.ListField(child=serializers.ChoiceField(EventKind.choices), min_length=1)


class WebhookChanges(serializers.Serializer):
    """What may be changed; at least one of them."""

    url = serializers.CharField(max_length=2048, required=False)
    events = serializers.ListField(child=serializers.ChoiceField(EventKind.choices), min_length=1, required=False)
    enabled = serializers.BooleanField(required=False)


class TestRequest(serializers.Serializer):
    """Which kind of event to send; the body may be left out."""

    event = serializers.ChoiceField(EventKind.choices, required=False)


class WebhookSummary(serializers.Serializer):
    """A registered receiver, as the list shows it."""

    id = serializers.RegexField(rf"^wh_{ID}$")
    url = serializers.CharField()
    events = serializers.ListField(child=serializers.ChoiceField(EventKind.choices))


class CreatedWebhook(WebhookSummary):
    """A receiver that was just registered; the secret is never shown again."""

    secret = serializers.RegexField(SECRET)
    created_at = serializers.DateTimeField()


class WebhookDetail(WebhookSummary):
    """A receiver and how it fares."""

    created_at = serializers.DateTimeField()
    enabled = serializers.BooleanField()
    disabled_at = serializers.DateTimeField(allow_null=True)
    disabled_reason = serializers.ChoiceField(Webhook.Reason.choices, allow_null=True)
    failing_since = serializers.DateTimeField(
        allow_null=True, help_text="The first failed attempt since the last success."
    )


class RotatedSecret(serializers.Serializer):
    """A webhook's new secret; it is never shown again."""

    id = serializers.RegexField(rf"^wh_{ID}$")
    secret = serializers.RegexField(SECRET)
    previous_secret_expires_at = serializers.DateTimeField()


class AttemptError(serializers.Serializer):
    """Why an attempt failed."""

    code = serializers.CharField()
    message = serializers.CharField()


class AttemptDetail(serializers.Serializer):
    """One try to deliver."""

    at = serializers.DateTimeField()
    latency_ms = serializers.IntegerField()
    response_status = serializers.IntegerField(allow_null=True)
    response_body = serializers.CharField(allow_blank=True, help_text="The first 2 KiB of the answer.")
    error = AttemptError(allow_null=True)
    blocked = serializers.BooleanField(help_text="Nothing was sent: the address may not be contacted.")


class DeliveryDetail(serializers.Serializer):
    """An event on its way to a receiver, with every attempt."""

    id = serializers.RegexField(rf"^dlv_{ID}$")
    event_id = serializers.RegexField(rf"^evt_{ID}$")
    event = serializers.ChoiceField(EventKind.choices)
    scan_id = serializers.RegexField(rf"^scan_{ID}$", allow_null=True)
    test = serializers.BooleanField()
    status = serializers.ChoiceField(Delivery.Status.choices)
    created_at = serializers.DateTimeField()
    next_attempt_at = serializers.DateTimeField(allow_null=True)
    finished_at = serializers.DateTimeField(allow_null=True)
    attempts = AttemptDetail(many=True)


class DeliveryList(serializers.Serializer):
    """A page of a webhook's log."""

    deliveries = DeliveryDetail(many=True)
    total = serializers.IntegerField()
    limit = serializers.IntegerField()
    offset = serializers.IntegerField()


def summary(webhook: Webhook) -> dict[str, Any]:
    """An item of the list: exactly these fields."""
    return {"id": webhook.id, "url": webhook.url, "events": webhook.events}


def detail(webhook: Webhook) -> dict[str, Any]:
    """Everything but the secret."""
    return summary(webhook) | {
        "created_at": timestamp(webhook.created_at),
        "enabled": webhook.enabled,
        "disabled_at": _moment(webhook.disabled_at),
        "disabled_reason": webhook.disabled_reason or None,
        "failing_since": _moment(webhook.failing_since),
    }


def delivery_detail(delivery: Delivery) -> dict[str, Any]:
    """A delivery with its attempts, oldest first. `next_attempt_at` is null unless one is planned."""
    is_pending = delivery.status == Delivery.Status.PENDING
    in_flight = delivery.lease_expires_at is not None and delivery.lease_expires_at > timezone.now()
    is_planned = is_pending and not in_flight and delivery.webhook.enabled
    return {
        "id": delivery.id,
        "event_id": delivery.event_id,
        "event": delivery.event.kind,
        "scan_id": delivery.event.scan_id,
        "test": delivery.event.is_test,
        "status": delivery.status,
        "created_at": timestamp(delivery.created_at),
        "next_attempt_at": timestamp(delivery.next_attempt_at) if is_planned else None,
        "finished_at": _moment(delivery.finished_at),
        "attempts": [_attempt(attempt) for attempt in delivery.attempts.all()],
    }


def _attempt(attempt: Attempt) -> dict[str, Any]:
    error = {"code": attempt.error_code, "message": attempt.error_message} if attempt.error_code else None
    return {
        "at": timestamp(attempt.at),
        "latency_ms": attempt.latency_ms,
        "response_status": attempt.response_status,
        "response_body": attempt.response_body,
        "error": error,
        "blocked": attempt.blocked,
    }


def _moment(moment: datetime | None) -> str | None:
    return None if moment is None else timestamp(moment)
