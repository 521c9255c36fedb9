"""Events: recorded in the transaction they tell of, with one delivery for each receiver that wants them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.db.models import Model

from accounts import access
from infrastructure import queue
from scanner.timestamps import timestamp
from webhooks.models import Delivery, Event, EventKind

if TYPE_CHECKING:
    from scans.models import Audit, Monitor, Scan
    from scans.signals import Ended


# Whoever deletes one of them waits for the scan's end, which therefore never fails for a receiver that is gone.
RECEIVERS = """
    SELECT id FROM webhooks_webhook WHERE organization_id = %(organization)s AND events @> ARRAY[%(kind)s]::varchar[]
    ORDER BY id FOR KEY SHARE
"""


def record_scan_ends(*, ended: Ended, **_: object) -> None:
    """Write the event of each scan that has just ended, and its deliveries. Receives `scan_ended`."""
    for scan, result in ended:
        record_scan_end(scan, findings=sum(check.status != "pass" for check in result.checks) if result else 0)


def record_scan_end(scan: Scan, *, findings: int) -> None:
    """Write the event of a scan that has just ended, and its deliveries; inside the transaction that ends it."""
    kind = EventKind(f"scan.{scan.status}")
    receivers = _receivers(scan.organization_id, kind)
    if receivers and not (scan.audit_page and scan.audit_page.audit.of_monitor):
        _record(receivers, scan.organization_id, kind, payload(scan, kind, findings), scan.request_id, scan=scan)


def record_audit_end(audit: Audit) -> None:
    """Write the event of an audit that has just ended, and its deliveries; inside the transaction that ends it.

    Those of monitors end without one, as do their scans: a monitor speaks when something has changed.
    """
    if not audit.of_monitor:
        kind = EventKind.AUDIT_FAILED if audit.status == "failed" else EventKind.AUDIT_COMPLETED
        if receivers := _receivers(audit.organization_id, kind):
            _record(receivers, audit.organization_id, kind, audit_payload(audit, kind), audit.request_id, audit=audit)


def record_monitor_event(monitor: Monitor, kind: EventKind, data: Mapping[str, Any], at: datetime) -> None:
    """Write what a run of a monitor has to tell, and its deliveries; inside the transaction that ends the run.

    `data` is what it tells beside the monitor. Monitors that tell no webhooks write none.
    """
    if monitor.tells_webhooks and (receivers := _receivers(monitor.organization_id, kind)):
        _record(receivers, monitor.organization_id, kind, monitor_payload(monitor, kind, data, at), "", monitor=monitor)


def _receivers(organization_id: int, kind: EventKind) -> list[str]:
    return [webhook_id for (webhook_id,) in access.fetch_rows(RECEIVERS, organization_id, kind=kind)]


def _record(
    receivers: list[str], organization_id: int, kind: EventKind, body: dict[str, Any], request_id: str, **of: Model
) -> None:
    event = Event.objects.create(
        organization_id=organization_id, kind=kind, body=encoded(body), request_id=request_id, **of
    )
    Delivery.objects.bulk_create(Delivery(webhook_id=webhook_id, event=event) for webhook_id in receivers)
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


def audit_payload(audit: Audit, kind: EventKind) -> dict[str, Any]:
    """The body of a delivery about an audit, as docs/audits.md describes it."""
    assert audit.completed_at is not None
    data: dict[str, Any] = {
        "audit_id": audit.id,
        "target": audit.url,
        "types": list(audit.types),
        "status": str(audit.status),
        "pages": {"planned": audit.pages_planned, "done": audit.pages_done, "failed": audit.pages_failed},
        "results": audit.scores,
        "audit_url": audit.audit_url,
    }
    if audit.error_code:
        data["error"] = {"code": audit.error_code, "message": audit.error_message}
    return {"event": str(kind), "timestamp": timestamp(audit.completed_at), "data": data}


def monitor_payload(monitor: Monitor, kind: EventKind, data: Mapping[str, Any], at: datetime) -> dict[str, Any]:
    """The body of a delivery about a monitor, as docs/monitors.md describes it."""
    target = {
        "monitor_id": monitor.id,
        "name": monitor.name,
        "target": monitor.url,
        "monitor_url": monitor.monitor_url,
    }
    return {"event": str(kind), "timestamp": timestamp(at), "data": {**target, **data}}


def wake_dispatcher(row_id: str) -> None:
    """Tell the workers, on commit, that deliveries are due. Where the message is lost, the sweeper finds them."""
    transaction.on_commit(lambda: queue.enqueue("webhooks.tasks.deliver", row_id))


def encoded(body: dict[str, Any]) -> bytes:
    return json.dumps(body, separators=(",", ":")).encode()
