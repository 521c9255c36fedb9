"""Webhook events of audits and monitors: their conditions and their data."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sites.models import Audit, Monitor
from webhooks import events
from webhooks.models import EventKind


def record_audit_end(*, audit: Audit, **_: object) -> None:
    """Record the event of an audit that has just ended, with its deliveries. Receives `audit_ended`.

    Audits of monitors and their scans have no such event, because a monitor reports only changes. A cancelled audit has
    none either, because whoever cancels it knows.
    """
    if audit.run_of or audit.status == Audit.Status.CANCELLED:
        return
    assert audit.completed_at is not None
    kind = EventKind.AUDIT_FAILED if audit.status == Audit.Status.FAILED else EventKind.AUDIT_COMPLETED
    events.record(
        kind,
        audit.organization_id,
        audit.completed_at,
        lambda: audit_data(audit),
        request_id=audit.request_id,
        audit=audit,
    )


def record_monitor_event(monitor: Monitor, kind: EventKind, data: Mapping[str, object], at: datetime) -> None:
    """Record the event of a monitor's run, with its deliveries, inside the transaction that ends the run.

    `data` is the event's data beside the monitor's own. Monitors that do not notify webhooks record none.
    """
    if monitor.tells_webhooks:
        events.record(kind, monitor.organization_id, at, lambda: {**monitor_data(monitor), **data}, monitor=monitor)


def audit_data(audit: Audit) -> dict[str, Any]:
    """Return the `data` of a delivery about an audit (docs/audits.md)."""
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
    return data


def monitor_data(monitor: Monitor) -> dict[str, Any]:
    """Return the first fields of `data` in each delivery about a monitor (docs/monitors.md)."""
    return {
        "monitor_id": monitor.id,
        "name": monitor.name,
        "target": monitor.url,
        "monitor_url": monitor.monitor_url,
    }
