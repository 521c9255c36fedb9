"""Export webhooks without secrets, and deliveries with bodies."""

from __future__ import annotations

import json
from typing import Any

from django.db.models import QuerySet

from accounts import access
from accounts.export.kinds import Kind
from webhooks.models import Delivery, Webhook
from webhooks.schemas import delivery_detail_of, webhook_detail_of


def _delivery_rows(organization_id: int) -> QuerySet[Delivery]:
    rows = Delivery.objects.filter(webhook__organization_id=organization_id)
    return rows.select_related("event", "webhook").defer("webhook__encrypted_secret").prefetch_related("attempts")


def _delivery_json(delivery: Delivery) -> dict[str, Any]:
    return {
        **delivery_detail_of(delivery),
        "webhook_id": delivery.webhook_id,
        "body": json.loads(bytes(delivery.event.body)),
    }


KINDS = (
    Kind(
        "webhooks",
        lambda id: access.rows(Webhook, id).defer("encrypted_secret"),
        lambda webhook: dict(webhook_detail_of(webhook)),
    ),
    Kind("deliveries", _delivery_rows, _delivery_json, ("webhook_id", "created_at", "pk")),
)
