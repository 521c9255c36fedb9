"""Validated requests to create or change a webhook.

Also contains the serializers for bodies of /api/webhooks.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import Struct
from rest_framework import serializers

from infrastructure.api.inputs import Address, Choice, Chosen, Flag, Input, Text
from webhooks.models import MAX_NAME_LENGTH, EventKind, Webhook
from website_scan.net.targets import Target


class WebhookRequest(Struct, frozen=True):
    """Validated request to create or change a webhook.

    A new webhook needs `target` and `events`. None means no change, or the default name.
    """

    name: str | None = None
    target: Target | None = None
    events: Sequence[str] | None = None
    format: str | None = None
    enabled: bool | None = None


def _events(**options: Any) -> Chosen:
    says = f"events must be a non-empty list of {', '.join(EventKind.values)}."
    return Chosen(EventKind.choices, min_length=1, says=says, **options)


def _format(**options: Any) -> Choice:
    says = f"format must be one of {', '.join(Webhook.Format.values)}."
    return Choice(Webhook.Format.choices, says=says, **options)


def _name(**options: Any) -> Text:
    return Text(
        max_length=MAX_NAME_LENGTH,
        required=False,
        says=f"name must have 1 to {MAX_NAME_LENGTH} printable characters.",
        tidy=lambda name: " ".join(name.split()),
        accepts=str.isprintable,
        **options,
    )


class WebhookRequestSerializer(Input):
    """The fields of a new webhook."""

    name = _name(help_text="Default: Slack or Microsoft Teams, otherwise the host.")
    url = Address()
    events = _events()
    format = _format(default=Webhook.Format.STANDARD)

    def validate(self, values: dict[str, Any]) -> WebhookRequest:
        return WebhookRequest(values.get("name"), values["url"], values["events"], values["format"])


class WebhookChangesSerializer(Input):
    """The fields to change, at least one of them."""

    name = _name()
    url = Address(required=False)
    events = _events(required=False)
    format = _format(required=False)
    enabled = Flag(required=False)

    def validate(self, values: dict[str, Any]) -> WebhookRequest:
        if not values:
            raise serializers.ValidationError(f"Send at least one of {', '.join(self.fields)}.")
        return WebhookRequest(
            values.get("name"), values.get("url"), values.get("events"), values.get("format"), values.get("enabled")
        )


class TestRequestSerializer(Input):
    """The kind of event to send. The body is optional."""

    event = Choice(EventKind.choices, required=False, says=f"event must be one of {', '.join(EventKind.values)}.")


class RotationRequestSerializer(Input):
    """If `immediately` is true, as after a leak, all former secrets become invalid now. The body is optional."""

    immediately = Flag(required=False)
