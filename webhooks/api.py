"""API endpoints under /api/webhooks."""

from __future__ import annotations

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request
from rest_framework.response import Response

from accounts import access
from accounts.authentication import caller_of
from infrastructure.api.pagination import choice, parse_limit_and_offset
from infrastructure.api.parsing import moment
from infrastructure.api.schema import PAGE_PARAMETERS, RETURNED, id_parameter, operation, responses
from infrastructure.api.typed import Answer
from infrastructure.api.views import ApiView, json_body, optional_json_body
from scans.policy import scan_policy
from webhooks import services
from webhooks.models import Delivery, EventKind, Webhook
from webhooks.requests import (
    RotationRequestSerializer,
    TestRequestSerializer,
    WebhookChangesSerializer,
    WebhookRequestSerializer,
)
from webhooks.schemas import (
    CreatedWebhook,
    DeliveryDetail,
    DeliveryList,
    RotatedSecret,
    WebhookDetail,
    WebhookSummary,
    created_webhook_of,
    delivery_detail_of,
    webhook_detail_of,
    webhook_summary_of,
)
from website_scan.timestamps import timestamp

WEBHOOK_ID = id_parameter("webhook_id", "wh")
BODY_ERRORS = {
    "e413": "`PAYLOAD_TOO_LARGE`: over 64 KiB.",
    "e415": "`UNSUPPORTED_MEDIA_TYPE`: the body is not JSON.",
}
NOT_FOUND = {"e404": "`WEBHOOK_NOT_FOUND`: no such webhook, or another organization's."}
DISABLED = {"e409": "`WEBHOOK_DISABLED`: enable it first."}


class WebhookCollection(ApiView):
    """View of POST and GET /api/webhooks."""

    @operation(
        operation_id="create_webhook",
        summary="Register a webhook",
        tags=["Webhooks"],
        request=WebhookRequestSerializer,
        responses=responses(
            {201: RETURNED},
            e400="`INVALID_URL` or `INVALID_PARAMS`.",
            e403="`DOMAIN_BLOCKED`: the receiver is not publicly accessible.",
            e409="`WEBHOOK_LIMIT`: your plan allows no more.",
            **BODY_ERRORS,
        ),
    )
    def post(self, request: Request) -> Answer[CreatedWebhook]:
        """The response contains the secret that signs the deliveries. The secret is never shown again."""
        webhook_request = WebhookRequestSerializer.judged(json_body(request), policy=scan_policy())
        webhook, secret = services.register_webhook(caller=caller_of(request), request=webhook_request)
        return Answer(created_webhook_of(webhook, secret), status=201)

    @operation(
        operation_id="list_webhooks",
        summary="List webhooks",
        tags=["Webhooks"],
        responses=responses({200: RETURNED}),
    )
    def get(self, request: Request) -> Answer[list[WebhookSummary]]:
        """The organization's receivers, oldest first."""
        webhooks = access.rows(Webhook, caller_of(request).organization_id)
        return Answer([webhook_summary_of(webhook) for webhook in webhooks])


class WebhookItem(ApiView):
    """View of GET, PATCH and DELETE /api/webhooks/:id."""

    @operation(
        operation_id="get_webhook",
        summary="Get a webhook",
        tags=["Webhooks"],
        parameters=[WEBHOOK_ID],
        responses=responses({200: RETURNED}, **NOT_FOUND),
    )
    def get(self, request: Request, webhook_id: str) -> Answer[WebhookDetail]:
        """The receiver with its settings and its state."""
        webhook = services.WEBHOOK.find(caller_of(request).organization_id, webhook_id)
        return Answer(webhook_detail_of(webhook))

    @operation(
        operation_id="update_webhook",
        summary="Change, disable or enable a webhook",
        tags=["Webhooks"],
        request=WebhookChangesSerializer,
        parameters=[WEBHOOK_ID],
        responses=responses(
            {200: RETURNED},
            e400="`INVALID_URL` or `INVALID_PARAMS`.",
            e403="`DOMAIN_BLOCKED`: the receiver is not publicly accessible.",
            **NOT_FOUND,
            **BODY_ERRORS,
        ),
    )
    def patch(self, request: Request, webhook_id: str) -> Answer[WebhookDetail]:
        """While a webhook is disabled, its deliveries wait; they are sent when it is enabled again."""
        caller, body = caller_of(request), json_body(request)
        webhook = services.WEBHOOK.find(caller.organization_id, webhook_id)
        changes = WebhookChangesSerializer.judged(body, policy=scan_policy())
        webhook = services.update_webhook(caller=caller, webhook=webhook, request=changes)
        return Answer(webhook_detail_of(webhook))

    @operation(
        operation_id="delete_webhook",
        summary="Delete a webhook",
        tags=["Webhooks"],
        parameters=[WEBHOOK_ID],
        responses=responses({204: None}, **NOT_FOUND),
    )
    def delete(self, request: Request, webhook_id: str) -> Response:
        """Deletes the webhook with its pending deliveries and its log."""
        services.delete_webhook(caller=caller_of(request), webhook_id=webhook_id)
        return Response(status=204)


class WebhookTest(ApiView):
    """View of POST /api/webhooks/:id/test."""

    @operation(
        operation_id="test_webhook",
        summary="Send a test event",
        tags=["Webhooks"],
        request=TestRequestSerializer,
        body_optional=True,
        parameters=[WEBHOOK_ID],
        responses=responses({202: RETURNED}, e400="`INVALID_PARAMS`.", **NOT_FOUND, **DISABLED, **BODY_ERRORS),
    )
    def post(self, request: Request, webhook_id: str) -> Answer[DeliveryDetail]:
        """Sends the event once, with `test: true` in its body. The list of deliveries shows the result."""
        caller, body = caller_of(request), optional_json_body(request)
        # An unknown webhook is refused before an invalid body.
        services.WEBHOOK.find(caller.organization_id, webhook_id)
        kind = TestRequestSerializer.judged(body).get("event")
        delivery = services.send_test(caller=caller, webhook_id=webhook_id, kind=kind)
        return Answer(delivery_detail_of(delivery), status=202)


class WebhookSecret(ApiView):
    """View of POST /api/webhooks/:id/rotate-secret."""

    @operation(
        operation_id="rotate_webhook_secret",
        summary="Rotate the secret of a webhook",
        tags=["Webhooks"],
        request=RotationRequestSerializer,
        body_optional=True,
        parameters=[WEBHOOK_ID],
        responses=responses(
            {200: RETURNED},
            e400="`INVALID_PARAMS`.",
            e409="`ROTATION_LIMIT`: too many former secrets are still valid.",
            **NOT_FOUND,
            **BODY_ERRORS,
        ),
    )
    def post(self, request: Request, webhook_id: str) -> Answer[RotatedSecret]:
        """The response contains the new secret, which is never shown again.

        The former secret stays valid for 24 hours, or not at all with `immediately`.
        """
        at_once = RotationRequestSerializer.judged(optional_json_body(request)).get("immediately", False)
        secret, expires_at = services.rotate_secret(caller=caller_of(request), webhook_id=webhook_id, at_once=at_once)
        return Answer({"id": webhook_id, "secret": secret, "previous_secret_expires_at": timestamp(expires_at)})


class DeliveryListing(ApiView):
    """View of GET /api/webhooks/:id/deliveries."""

    @operation(
        operation_id="list_deliveries",
        summary="List the deliveries of a webhook",
        tags=["Webhooks"],
        parameters=[
            WEBHOOK_ID,
            *PAGE_PARAMETERS,
            OpenApiParameter("status", str, enum=Delivery.Status.values),
            OpenApiParameter("event", str, enum=EventKind.values),
            OpenApiParameter("since", OpenApiTypes.DATETIME, description="Created at this time or later, in UTC."),
        ],
        responses=responses(
            {200: RETURNED}, e400="`INVALID_PARAMS`: a parameter is out of range or unknown.", **NOT_FOUND
        ),
    )
    def get(self, request: Request, webhook_id: str) -> Answer[DeliveryList]:
        """Deliveries, newest first, each with its attempts. A delivery is kept for 30 days after its last attempt."""
        query = request.query_params
        part = parse_limit_and_offset(query)
        rows = services.deliveries_of_webhook(
            services.WEBHOOK.find(caller_of(request).organization_id, webhook_id),
            status=choice(query, "status", Delivery.Status.values),
            kind=choice(query, "event", EventKind.values),
            since=moment("since", query["since"]) if "since" in query else None,
        )
        page = part.of(rows.select_related("event", "webhook").prefetch_related("attempts"))
        deliveries = [delivery_detail_of(delivery) for delivery in page]
        return Answer({"deliveries": deliveries, **part.bounds(rows)})


class DeliveryReplay(ApiView):
    """View of POST /api/webhooks/:id/deliveries/:id/replay."""

    @operation(
        operation_id="replay_delivery",
        summary="Send a delivery again",
        tags=["Webhooks"],
        request=None,
        parameters=[WEBHOOK_ID, id_parameter("delivery_id", "dlv")],
        responses=responses({202: RETURNED}, e404="`WEBHOOK_NOT_FOUND` or `DELIVERY_NOT_FOUND`.", **DISABLED),
    )
    def post(self, request: Request, webhook_id: str, delivery_id: str) -> Answer[DeliveryDetail]:
        """Sends the same body with the same `webhook-id` again, whatever the delivery's status."""
        delivery = services.replay_delivery(caller=caller_of(request), webhook_id=webhook_id, delivery_id=delivery_id)
        return Answer(delivery_detail_of(delivery), status=202)
