"""What of scans, reports, audits, monitors and mutes an organization's export holds, as the API shows it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.db.models import QuerySet

from accounts import access
from accounts.export.kinds import Kind
from reports.models import Mute, Report
from scans.audits import exports
from scans.audits.muting import AuditMutes
from scans.audits.serializers import AuditSummarySerializer
from scans.models import Audit, Badge, Monitor, MonitorRun, Scan
from scans.monitors.serializers import MonitorRunSerializer, MonitorSerializer
from scans.serializers import ScanDetailSerializer


def _scans(organization_id: int) -> QuerySet[Scan]:
    rows = access.rows(Scan, organization_id).defer("encrypted_credentials")
    return rows.select_related("api_key", "created_by", "audit_page")


def _scan(scan: Scan) -> dict[str, Any]:
    shown = dict(ScanDetailSerializer(scan).data)
    del shown["progress"]
    return shown | {
        "catalogue_version": scan.catalogue_version or None,
        "audit_id": scan.audit_page.audit_id if scan.audit_page else None,
        **_asked_by(scan),
    }


def _asked_by(row: Scan | Audit | Monitor) -> dict[str, str | None]:
    return {"api_key": row.api_key_id, "created_by": row.created_by.email if row.created_by else None}


def _reports(organization_id: int) -> QuerySet[Report]:
    rows = access.rows(Report, organization_id).filter(scan__organization_id=organization_id)
    return rows.select_related("scan").only("id", "export", "scan__created_at")


def _report(report: Report) -> Iterator[bytes]:
    yield report.export.encode()


def _audit(audit: Audit) -> Iterator[bytes]:
    """Without mutes, which are applied in reading: they have a file of their own."""
    return exports.export(audit, "json", AuditMutes(audit), limit_s=float("inf"))


def _asked_audit(audit: Audit) -> dict[str, Any]:
    return {**AuditSummarySerializer(audit).data, "of_monitor": audit.of_monitor, **_asked_by(audit)}


def _monitor(monitor: Monitor) -> dict[str, Any]:
    return {**MonitorSerializer(monitor).data, **_asked_by(monitor)}


def _run(run: MonitorRun) -> dict[str, Any]:
    return {"monitor_id": run.monitor_id, **MonitorRunSerializer(run).data}


def _mute(mute: Mute) -> dict[str, Any]:
    return {
        "id": mute.id,
        "check": mute.check_id,
        "host": mute.host,
        "path_prefix": mute.path_prefix or None,
        "fingerprint": mute.fingerprint or None,
        "place": mute.place or None,
        "reason": mute.reason,
        "created_by": mute.created_by.email if mute.created_by else None,
        "api_key": mute.api_key_id,
        "created_at": mute.created_at,
        "expires_at": mute.expires_at,
        "ended_at": mute.ended_at,
    }


def _badge(badge: Badge) -> dict[str, Any]:
    return {
        "id": badge.id,
        "monitor_id": badge.monitor_id,
        "page": badge.page or None,
        "badge_url": badge.badge_url,
        "created_by": badge.created_by.email if badge.created_by else None,
        "created_at": badge.created_at,
    }


def _audits(organization_id: int) -> QuerySet[Audit]:
    return access.rows(Audit, organization_id).defer("encrypted_credentials").select_related("created_by")


BY_TIME = ("created_at", "pk")

KINDS = (
    Kind("scans", _scans, _scan, BY_TIME),
    Kind("reports", _reports, _report, ("scan__created_at", "scan_id"), has_own_files=True),
    Kind("audits", _audits, _asked_audit, BY_TIME),
    Kind("audit_results", _audits, _audit, BY_TIME, has_own_files=True),
    Kind("monitors", lambda id: access.rows(Monitor, id).select_related("created_by"), _monitor),
    Kind("monitor_runs", lambda id: MonitorRun.objects.filter(monitor__organization_id=id), _run),
    Kind("mutes", lambda id: access.rows(Mute, id).select_related("created_by"), _mute),
    Kind("badges", lambda id: access.rows(Badge, id).select_related("created_by"), _badge),
)
