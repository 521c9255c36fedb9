"""Events: recorded in the transaction that ends a scan, with one delivery for each receiver that wants them."""

from __future__ import annotations

import json
from datetime import datetime
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db import transaction

from accounts import access
from config import celery
from config.ids import new_id, timestamp
from webhooks.models import Delivery, Event, EventKind

if TYPE_CHECKING:
    from scans.models import Scan


# Whoever deletes one of them waits for the scan's end, which therefore never fails for a receiver that is gone.
RECEIVERS = """
    SELECT id FROM webhooks_webhook WHERE organization_id = %(organization)s AND events @> ARRAY[%(kind)s]::varchar[]
    ORDER BY id FOR KEY SHARE
"""


def record_scan_end(scan: Scan, *, findings: int) -> None:
    """Write the event of a scan that has just ended, and its deliveries; inside the transaction that ends it."""
    kind = EventKind(f"scan.{scan.status}")
    receivers = access.fetch_rows(RECEIVERS, scan.organization_id, kind=kind)
    if not receivers:
        return
    event = Event.objects.create(
        organization_id=scan.organization_id,
        scan=scan,
        kind=kind,
        body=_encoded(payload(scan, kind, findings)),
    )
    Delivery.objects.bulk_create(Delivery(webhook_id=webhook_id, event=event) for (webhook_id,) in receivers)
    wake_dispatcher(event.id)


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


def example(kind: EventKind, now: datetime) -> bytes:
    """The body of a test event: as if a scan had ended, with `test` to tell it by."""
    ended: dict[EventKind, dict[str, Any]] = {
        EventKind.SCAN_COMPLETED: {"status": "completed", "score": 87, "grade": "B", "findings_count": 5},
        EventKind.SCAN_PARTIAL: {"status": "partial", "score": 87, "grade": "B", "findings_count": 5},
        EventKind.SCAN_FAILED: {"status": "failed", "score": None, "grade": None, "findings_count": 0},
    }
    scan_id = new_id("scan")
    data: dict[str, Any] = {"scan_id": scan_id, "url": "https://example.com/", "type": "security", **ended[kind]}
    data["report_url"] = f"{settings.BASE_URL}/report/{scan_id}"
    if kind is EventKind.SCAN_FAILED:
        data["error"] = {"code": "URL_NOT_REACHABLE", "message": "example.com can't be reached on port 443."}
    return _encoded({"event": str(kind), "timestamp": timestamp(now), "test": True, "data": data})


def wake_dispatcher(row_id: str) -> None:
    """Tell the workers, on commit, that deliveries are due. Where the message is lost, the sweeper finds them."""
    transaction.on_commit(lambda: celery.enqueue("webhooks.tasks.deliver", row_id))


def _encoded(body: dict[str, Any]) -> bytes:
    return json.dumps(body, separators=(",", ":")).encode()
