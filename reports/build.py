"""From a scan's result to its report: the API's object, and the export that contains it. No database here."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from django.conf import settings

from config.ids import new_report_id, timestamp
from scans.engine.findings import Severity
from scans.engine.result import CheckResult, ScanResult
from scans.engine.scoring import severity_counts

if TYPE_CHECKING:
    from scans.models import Scan

# What the API's object leaves out of the export, at the top and in a check.
EXPORT_ONLY = frozenset({"report_id", "status", "skipped_checks", "caps", "catalogue_version", "error"})
EXPORT_ONLY_IN_CHECK = frozenset({"id", "title", "evidence", "references", "points"})


def build_report(scan: Scan, result: ScanResult) -> dict[str, Any]:
    """The columns of the Report row for a scan that ended with a result."""
    report_id = new_report_id()
    assert scan.completed_at is not None
    document = export_object(
        result,
        scan_id=scan.id,
        report_id=report_id,
        created_at=scan.created_at,
        completed_at=scan.completed_at,
    )
    return {
        "id": report_id,
        "scan": scan,
        "organization_id": scan.organization_id,
        "body": json.dumps(report_object(document), ensure_ascii=False, separators=(",", ":")),
        "export": json.dumps(document, ensure_ascii=False, separators=(",", ":")),
        "facts": dict(result.facts),
        "waterfall": asdict(result.waterfall) if result.waterfall else None,
        "screenshot": result.screenshot,
        "created_at": scan.created_at,
        "expires_at": scan.created_at + timedelta(days=settings.REPORT_RETENTION_DAYS),
        "shared_at": scan.completed_at if scan.organization.shares_reports else None,
    }


def export_object(
    result: ScanResult, *, scan_id: str, report_id: str, created_at: datetime, completed_at: datetime
) -> dict[str, Any]:
    """The JSON export: the report object and, beside it, IDs, evidence, caps and what could not run."""
    document: dict[str, Any] = {
        "id": scan_id,
        "type": str(result.type),
        "url": result.url,
        "score": result.score,
        "grade": result.grade,
        "created_at": timestamp(created_at),
        "completed_at": timestamp(completed_at),
        "categories": [
            {
                "name": category.name,
                "score": category.score,
                "checks": [_check(check) for check in category.checks],
            }
            for category in result.categories
        ],
        "summary": _summary(result),
        "report_id": report_id,
        "status": result.status,
        "skipped_checks": [
            {"id": skipped.id, "name": skipped.name, "reason": skipped.reason} for skipped in result.skipped_checks
        ],
        "caps": [{"limit": cap.limit, "reason": cap.reason} for cap in result.caps],
        "catalogue_version": result.catalogue_version,
    }
    if result.error is not None:  # only the command line prints a scan that failed
        document["error"] = {"code": result.error.code, "message": result.error.message}
    return document


def report_object(document: Mapping[str, Any]) -> dict[str, Any]:
    """The API's report object: exactly the specified fields of an export."""
    report = {name: value for name, value in document.items() if name not in EXPORT_ONLY}
    report["categories"] = [
        category
        | {
            "checks": [
                {name: value for name, value in check.items() if name not in EXPORT_ONLY_IN_CHECK}
                for check in category["checks"]
            ]
        }
        for category in document["categories"]
    ]
    return report


def _check(check: CheckResult) -> dict[str, Any]:
    built: dict[str, Any] = {
        "name": check.name,
        "status": check.status,
        "severity": check.severity,
        "message": check.message,
    }
    if check.fix is not None:
        built["fix"] = check.fix
    return built | {
        "id": check.id,
        "title": check.title,
        "evidence": [dict(item) for item in check.evidence],
        "references": list(check.references),
        "points": check.points,
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
