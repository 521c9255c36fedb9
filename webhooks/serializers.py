"""Serializers of the API: webhooks, deliveries and attempts."""

from __future__ import annotations

from rest_framework import serializers

from webhooks.models import Delivery, EventKind, Webhook

ID = "[0-9A-Za-z]{22}"
SECRET = r"^whsec_[0-9A-Za-z+/]{43}=$"  # noqa: S105  (a pattern, not a secret)


class WebhookSummarySerializer(serializers.Serializer):
    """A registered receiver, as the list shows it."""

    id = serializers.RegexField(rf"^wh_{ID}$")
    url = serializers.CharField()
    events = serializers.ListField(child=serializers.ChoiceField(EventKind.choices))


class CreatedWebhookSerializer(WebhookSummarySerializer):
    """A receiver that was just registered; the secret is never shown again."""

    secret = serializers.RegexField(SECRET)
    created_at = serializers.DateTimeField()


class WebhookDetailSerializer(WebhookSummarySerializer):
    """A receiver with its settings and its state."""

    format = serializers.ChoiceField(Webhook.Format.choices)
    created_at = serializers.DateTimeField()
    enabled = serializers.BooleanField()
    disabled_at = serializers.DateTimeField(allow_null=True)
    disabled_reason = serializers.ChoiceField(Webhook.Reason.choices, source="reason", allow_null=True)
    failing_since = serializers.DateTimeField(
        allow_null=True, help_text="The first failed attempt since the last success."
    )


class RotatedSecretSerializer(serializers.Serializer):
    """A webhook's new secret; it is never shown again."""

    id = serializers.RegexField(rf"^wh_{ID}$")
    secret = serializers.RegexField(SECRET)
    previous_secret_expires_at = serializers.DateTimeField()


class AttemptErrorSerializer(serializers.Serializer):
    """Why an attempt failed."""

    code = serializers.CharField(source="error_code")
    message = serializers.CharField(source="error_message")


class AttemptDetailSerializer(serializers.Serializer):
    """An attempt to deliver."""

    at = serializers.DateTimeField()
    latency_ms = serializers.IntegerField()
    response_status = serializers.IntegerField(allow_null=True)
    response_body = serializers.CharField(allow_blank=True, help_text="The first 2 KiB of the answer.")
    error = AttemptErrorSerializer(source="failure", allow_null=True)
    blocked = serializers.BooleanField(help_text="Nothing was sent: the address may not be contacted.")


class DeliveryDetailSerializer(serializers.Serializer):
    """Delivery of an event to a receiver, with every attempt."""

    id = serializers.RegexField(rf"^dlv_{ID}$")
    event_id = serializers.RegexField(rf"^evt_{ID}$")
    event = serializers.ChoiceField(EventKind.choices, source="event.kind")
    scan_id = serializers.RegexField(rf"^scan_{ID}$", source="event.scan_id", allow_null=True)
    audit_id = serializers.RegexField(rf"^aud_{ID}$", source="event.audit_id", allow_null=True)
    test = serializers.BooleanField(source="event.is_test")
    status = serializers.ChoiceField(Delivery.Status.choices)
    created_at = serializers.DateTimeField()
    next_attempt_at = serializers.DateTimeField(source="planned_at", allow_null=True)
    finished_at = serializers.DateTimeField(allow_null=True)
    attempts = AttemptDetailSerializer(many=True)


class DeliveryListSerializer(serializers.Serializer):
    """A page of a webhook's log."""

    deliveries = DeliveryDetailSerializer(many=True)
    total = serializers.IntegerField()
    limit = serializers.IntegerField()
    offset = serializers.IntegerField()
