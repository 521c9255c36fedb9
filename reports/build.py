"""From a scan's result to its report: the API's object, and the export that contains it. No database here."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, fields
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from django.conf import settings

from config.ids import new_report_id
from reports.serializers import ReportExportSerializer, ReportSerializer
from scans.engine.findings import Severity
from scans.engine.result import ScanResult
from scans.engine.scoring import severity_counts

if TYPE_CHECKING:
    from scans.models import Scan


def build_report(scan: Scan, result: ScanResult) -> dict[str, Any]:
    """The columns of the Report row for a scan that ended with a result."""
    report_id = new_report_id()
    assert scan.completed_at is not None
    ended = ended_scan(
        result, scan_id=scan.id, report_id=report_id, created_at=scan.created_at, completed_at=scan.completed_at
    )
    return {
        "id": report_id,
        "scan": scan,
        "organization_id": scan.organization_id,
        "body": _encoded(ReportSerializer(ended).data),
        "export": _encoded(ReportExportSerializer(ended).data),
        "facts": dict(result.facts),
        "scoring": result.scoring,
        "waterfall": asdict(result.waterfall) if result.waterfall else None,
        "screenshot": result.screenshot,
        "created_at": scan.created_at,
        "expires_at": scan.created_at + timedelta(days=settings.REPORT_RETENTION_DAYS),
        "shared_at": scan.completed_at if scan.organization.shares_reports else None,
    }


def ended_scan(
    result: ScanResult, *, scan_id: str, report_id: str, created_at: datetime, completed_at: datetime
) -> dict[str, Any]:
    """What the serializers of a report and of its export read: the result with IDs, times and counts."""
    return {each.name: getattr(result, each.name) for each in fields(result)} | {
        "id": scan_id,
        "report_id": report_id,
        "created_at": created_at,
        "completed_at": completed_at,
        "summary": _summary(result),
    }


def _summary(result: ScanResult) -> dict[str, int]:
    statuses = [check.status for check in result.checks]
    severities = severity_counts(result.checks)
    return {
        "total_checks": len(statuses),
        "passed": statuses.count("pass"),
        "failed": statuses.count("fail"),
        "warnings": statuses.count("warn"),
    } | {str(severity): severities[severity] for severity in Severity}


def _encoded(document: Mapping[str, Any]) -> str:
    return json.dumps(document, ensure_ascii=False, separators=(",", ":"))
