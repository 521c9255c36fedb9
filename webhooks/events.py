"""Events: recorded in the transaction that ends a scan, with one delivery for each receiver that wants them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from django.db import transaction

from accounts import access
from config import celery
from config.ids import timestamp
from webhooks.models import Delivery, Event, EventKind, Webhook

if TYPE_CHECKING:
    from scans.models import Scan


def record_scan_end(scan: Scan, *, findings: int) -> None:
    """Write the event of a scan that has just ended, and its deliveries; inside the transaction that ends it."""
    kind = EventKind(f"scan.{scan.status}")
    receivers = list(
        access.rows(Webhook, scan.organization_id).filter(events__contains=[kind]).values_list("id", flat=True)
    )
    if not receivers:
        return
    event = Event.objects.create(
        organization_id=scan.organization_id,
        scan=scan,
        kind=kind,
        body=json.dumps(payload(scan, kind, findings), separators=(",", ":")).encode(),
    )
    deliveries = Delivery.objects.bulk_create(Delivery(webhook_id=webhook_id, event=event) for webhook_id in receivers)
    transaction.on_commit(lambda: _send([delivery.id for delivery in deliveries]))


def payload(scan: Scan, kind: EventKind, findings: int) -> dict[str, Any]:
    """The body of a delivery (section 6.2 of the interface)."""
    assert scan.completed_at is not None
    data: dict[str, Any] = {
        "scan_id": scan.id,
        "url": scan.url,
        "type": str(scan.type),
        "status": str(scan.status),
        "score": scan.score,
        "grade": scan.grade,
        "findings_count": findings,
        "report_url": scan.report_url,
    }
    if scan.error_code:
        data["error"] = {"code": scan.error_code, "message": scan.error_message}
    return {"event": str(kind), "timestamp": timestamp(scan.completed_at), "data": data}


def _send(delivery_ids: list[str]) -> None:
    for delivery_id in delivery_ids:
        celery.enqueue("webhooks.tasks.deliver", delivery_id)
