"""The events of audits and monitors: what is told of them, and when."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sites.models import Audit, Monitor
from webhooks import events
from webhooks.models import EventKind


def record_audit_end(*, audit: Audit, **_: object) -> None:
    """Write the event of an audit that has just ended, and its deliveries. Receives `audit_ended`.

    Those of monitors end without one, as do their scans: a monitor speaks when something has changed. Who cancels an
    audit knows it.
    """
    if audit.of_monitor or audit.status == Audit.Status.CANCELLED:
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


def record_monitor_event(monitor: Monitor, kind: EventKind, data: Mapping[str, Any], at: datetime) -> None:
    """Write what a run of a monitor has to tell, and its deliveries; inside the transaction that ends the run.

    `data` is what it tells beside the monitor. Monitors that tell no webhooks write none.
    """
    if monitor.tells_webhooks:
        events.record(kind, monitor.organization_id, at, lambda: {**monitor_data(monitor), **data}, monitor=monitor)


def audit_data(audit: Audit) -> dict[str, Any]:
    """The `data` of a delivery about an audit, as docs/audits.md describes it."""
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
    """What the `data` of each delivery about a monitor begins with, as docs/monitors.md describes it."""
    return {
        "monitor_id": monitor.id,
        "name": monitor.name,
        "target": monitor.url,
        "monitor_url": monitor.monitor_url,
    }
