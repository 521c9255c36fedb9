"""Documents of a scan's result: the API's report, and the JSON export, which contains the report.

They are plain dictionaries in the order of the JSON, so that the command line needs no framework.
`reports.serializers` describes them for openapi.yaml.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from scanner.findings import Severity
from scanner.result import CategoryResult, CheckResult, ScanResult
from scanner.scoring import severity_counts
from scanner.timestamps import timestamp


def report_document(
    result: ScanResult, *, scan_id: str, created_at: datetime, completed_at: datetime
) -> dict[str, Any]:
    """Return the report (2.2 of the interface). Score and grade are None if the scan failed. Times are aware."""
    return _head(result, scan_id, created_at, completed_at) | {
        "categories": [_category(each, [_check(check) for check in each.checks]) for each in result.categories],
        "summary": _summary(result),
    }


def export_document(
    result: ScanResult, *, scan_id: str, report_id: str, created_at: datetime, completed_at: datetime
) -> dict[str, Any]:
    """Return the JSON export: the report with all that is stored beside it."""
    return _head(result, scan_id, created_at, completed_at) | {
        "categories": [
            _category(each, [_exported_check(check) for check in each.checks]) for each in result.categories
        ],
        "summary": _summary(result),
        "report_id": report_id,
        "status": result.status,
        "skipped_checks": [{"name": each.name, "reason": each.reason, "id": each.id} for each in result.skipped_checks],
        "browser": result.browser,
        "omitted_checks": [{"id": each.id, "name": each.name} for each in result.omitted_checks],
        "caps": [{"limit": each.limit, "reason": each.reason} for each in result.caps],
        "catalogue_version": result.catalogue_version,
    }


def _head(result: ScanResult, scan_id: str, created_at: datetime, completed_at: datetime) -> dict[str, Any]:
    return {
        "id": scan_id,
        "type": str(result.type),
        "url": result.url,
        "score": result.score,
        "grade": result.grade,
        "created_at": timestamp(created_at),
        "completed_at": timestamp(completed_at),
    }


def _category(category: CategoryResult, checks: list[dict[str, Any]]) -> dict[str, Any]:
    return {"name": category.name, "score": category.score, "checks": checks}


def _check(check: CheckResult) -> dict[str, Any]:
    """Return a check of the report (2.4 of the interface)."""
    shown = {
        "name": check.name,
        "status": check.status,
        "severity": str(check.severity) if check.severity else None,
        "message": check.message,
    }
    return shown if check.fix is None else shown | {"fix": str(check.fix)}


def _exported_check(check: CheckResult) -> dict[str, Any]:
    return _check(check) | {
        "id": check.id,
        "title": check.title,
        "evidence": [dict(each) for each in check.evidence],
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
