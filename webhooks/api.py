"""The webhook endpoints of /api."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from accounts import access
from config.api.schema import RATE_HEADERS, id_parameter, responses
from config.api.views import ApiView, caller_of, json_body
from config.ids import timestamp
from webhooks import services
from webhooks.models import EventKind, Webhook


class WebhookRequest(serializers.Serializer):
    """The body of a registration."""

    url = serializers.CharField(max_length=2048)
    events = serializers.ListField(child=serializers.ChoiceField(EventKind.choices), min_length=1)


class WebhookSummary(serializers.Serializer):
    """A registered receiver, as the list shows it."""

    id = serializers.RegexField(r"^wh_[0-9A-Za-z]{22}$")
    url = serializers.CharField()
    events = serializers.ListField(child=serializers.ChoiceField(EventKind.choices))


class CreatedWebhook(WebhookSummary):
    """A receiver that was just registered; the secret is never shown again."""

    secret = serializers.RegexField(r"^whsec_[0-9A-Za-z+/]{43}=$")
    created_at = serializers.DateTimeField()


class WebhookCollection(ApiView):
    """POST and GET /api/webhooks."""

    @extend_schema(
        operation_id="create_webhook",
        summary="Register a webhook",
        tags=["Webhooks"],
        request=WebhookRequest,
        parameters=RATE_HEADERS,
        responses=responses(
            {201: CreatedWebhook},
            e400="`INVALID_URL` or `INVALID_PARAMS`.",
            e403="`DOMAIN_BLOCKED`: the receiver is not publicly accessible.",
            e409="`WEBHOOK_LIMIT`: your plan allows no more.",
            e413="`PAYLOAD_TOO_LARGE`: over 64 KiB.",
            e415="`UNSUPPORTED_MEDIA_TYPE`: the body is not JSON.",
        ),
    )
    def post(self, request: Request) -> Response:
        """The answer holds the secret that signs the deliveries, this once."""
        body = json_body(request)
        webhook, secret = services.register_webhook(
            caller=caller_of(request), url=body.get("url"), events=body.get("events")
        )
        created = _summary(webhook) | {"secret": secret, "created_at": timestamp(webhook.created_at)}
        return Response(created, status=201)

    @extend_schema(
        operation_id="list_webhooks",
        summary="List webhooks",
        tags=["Webhooks"],
        parameters=RATE_HEADERS,
        responses=responses({200: WebhookSummary(many=True)}),
    )
    def get(self, request: Request) -> Response:
        """The organization's receivers, oldest first."""
        webhooks = access.rows(Webhook, caller_of(request).organization_id)
        return Response([_summary(webhook) for webhook in webhooks])


class WebhookItem(ApiView):
    """DELETE /api/webhooks/:id."""

    @extend_schema(
        operation_id="delete_webhook",
        summary="Delete a webhook",
        tags=["Webhooks"],
        parameters=[id_parameter("webhook_id", "wh"), *RATE_HEADERS],
        responses=responses({204: None}, e404="`WEBHOOK_NOT_FOUND`."),
    )
    def delete(self, request: Request, webhook_id: str) -> Response:
        """Deliveries that are still pending are dropped."""
        services.delete_webhook(caller=caller_of(request), webhook_id=webhook_id)
        return Response(status=204)


def _summary(webhook: Webhook) -> dict[str, Any]:
    return {"id": webhook.id, "url": webhook.url, "events": webhook.events}
