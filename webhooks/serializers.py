"""The bodies of requests about webhooks."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from infrastructure.api.inputs import Address, Choice, Chosen, Flag, Input
from webhooks.models import EventKind, Webhook


def _events(**options: Any) -> Chosen:
    says = f"events must be a non-empty list of {', '.join(EventKind.values)}."
    return Chosen(EventKind.choices, min_length=1, says=says, **options)


def _format(**options: Any) -> Choice:
    says = f"format must be one of {', '.join(Webhook.Format.values)}."
    return Choice(Webhook.Format.choices, says=says, **options)


class WebhookRequestSerializer(Input):
    """The body of a registration."""

    url = Address()
    events = _events()
    format = _format(default=Webhook.Format.STANDARD)


class WebhookChangesSerializer(Input):
    """The fields to change, at least one of them."""

    url = Address(required=False)
    events = _events(required=False)
    format = _format(required=False)
    enabled = Flag(required=False)

    def validate(self, values: dict[str, Any]) -> dict[str, Any]:
        if not values:
            raise serializers.ValidationError(f"Send at least one of {', '.join(self.fields)}.")
        return values


class TestRequestSerializer(Input):
    """The kind of event to send. The body may be left out."""

    event = Choice(EventKind.choices, required=False, says=f"event must be one of {', '.join(EventKind.values)}.")


class RotationRequestSerializer(Input):
    """With `immediately`, as after a leak, all former secrets become invalid at once. The body may be left out."""

    immediately = Flag(required=False)
