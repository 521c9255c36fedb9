"""Audits, monitors and badges in an organization's export, in the API's format."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.db.models import QuerySet

from accounts import access
from accounts.export.kinds import Kind
from sites.audits import exports
from sites.audits.muting import AuditMutes
from sites.audits.serializers import AuditSummarySerializer
from sites.models import Audit, Badge, Monitor, MonitorRun
from sites.monitors.serializers import MonitorRunSerializer, shown


def _audits(organization_id: int) -> QuerySet[Audit]:
    return access.rows(Audit, organization_id).defer("encrypted_credentials").select_related("created_by")


def _asked_audit(audit: Audit) -> dict[str, Any]:
    return {**AuditSummarySerializer(audit).data, "run_of": audit.run_of or None, **_asked_by(audit)}


def _asked_by(row: Audit | Monitor) -> dict[str, str | None]:
    return {"api_key": row.api_key_id, "created_by": row.created_by.email if row.created_by else None}


def _audit(audit: Audit) -> Iterator[bytes]:
    """Export an audit without mutes, which are applied when read and have their own file in the export."""
    return exports.export(audit, "json", AuditMutes(audit), limit_s=float("inf"))


def _monitor(monitor: Monitor) -> dict[str, Any]:
    return {**shown(monitor), **_asked_by(monitor)}


def _run(run: MonitorRun) -> dict[str, Any]:
    return {"monitor_id": run.monitor_id, **MonitorRunSerializer(run).data}


def _badge(badge: Badge) -> dict[str, Any]:
    return {
        "id": badge.id,
        "monitor_id": badge.monitor_id,
        "page": badge.page or None,
        "badge_url": badge.badge_url,
        "created_by": badge.created_by.email if badge.created_by else None,
        "created_at": badge.created_at,
    }


BY_TIME = ("created_at", "pk")

KINDS = (
    Kind("audits", _audits, _asked_audit, BY_TIME),
    Kind("audit_results", _audits, _audit, BY_TIME, has_own_files=True),
    Kind("monitors", lambda id: access.rows(Monitor, id).select_related("created_by"), _monitor),
    Kind("monitor_runs", lambda id: MonitorRun.objects.filter(monitor__organization_id=id), _run, ("due_at", "pk")),
    Kind("badges", lambda id: access.rows(Badge, id).select_related("created_by"), _badge),
)
