"""Webhook events of audits, monitors and lists: their conditions and their data."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sites.lists import snapshots
from sites.lists.serializers import ListRunSerializer
from sites.models import Audit, ListCount, ListRun, Monitor
from sites.models.site_list import ListCounts
from webhooks import events
from webhooks.models import EventKind


def record_audit_end(*, audit: Audit, **_: object) -> None:
    """Record the event of an audit that has just ended, with its deliveries. Receives `audit_ended`.

    Audits of monitors and lists, and their scans, have no such event: a monitor reports only changes, and a list its
    runs. A cancelled audit has none either, because whoever cancels it knows.
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


def record_list_event(run: ListRun, kind: EventKind, data: Mapping[str, object], at: datetime) -> None:
    """Record the event of a list's run, with its deliveries, inside the transaction that ends the run.

    `data` is the event's data beside the run's own. Lists that do not notify webhooks record none.
    """
    site_list = run.site_list
    if site_list.tells_webhooks:
        events.record(kind, site_list.organization_id, at, lambda: {**list_data(run), **data}, site_list=site_list)


def list_data(run: ListRun) -> dict[str, Any]:
    """Return the first fields of `data` in each delivery about a list (docs/lists.md)."""
    return {
        "list_id": run.site_list_id,
        "name": run.site_list.name,
        "list_url": run.site_list.list_url,
        "run": dict(ListRunSerializer(run).data),
        "results": list_results(run),
    }


def list_results(run: ListRun) -> dict[str, dict[str, Any]]:
    """Return by type the number of sites with a score, the mean of their scores, and its grade (or None)."""
    counts: ListCounts | None = ListCount.objects.filter(run=run, tag="").values_list("data", flat=True).first()
    found = {}
    for name in run.types:
        scores, grades = ((counts or snapshots.EMPTY)[each].get(name, {}) for each in ("scores", "grades"))
        figures = snapshots.type_figures(scores, grades)
        found[name] = {
            "judged": figures["judged"],
            "mean": figures["mean"],
            "grade": snapshots.grade_of(figures) or None,
        }
    return found
