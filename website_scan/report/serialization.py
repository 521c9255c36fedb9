"""Convert a scan result to the API's report and to the JSON export.

Both are plain dictionaries in the order of the JSON, so that the command line needs no framework.
`website_scan.report_json` has their types, from which openapi.yaml is generated.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import cast

from msgspec.structs import replace

from website_scan import wording
from website_scan.findings import Severity
from website_scan.fingerprints import fingerprint
from website_scan.places import Column, Place, Rows
from website_scan.priority import priority_of_result
from website_scan.report.cap_sentence import score_cap_sentence
from website_scan.report_json import (
    ExportedCategory,
    ExportedCheck,
    ExportFields,
    ExportJson,
    ReportedCheck,
    ReportJson,
    StoredColumn,
    StoredFix,
    StoredPlaces,
    StoredTable,
    Summary,
)
from website_scan.result import CategoryResult, CheckResult, HowToFix, ScanResult, Waterfall
from website_scan.scoring import severity_counts
from website_scan.stored_data import StoredWaterfall
from website_scan.timestamps import timestamp
from website_scan.written_urls import WrittenUrl, split_url


def report_json(export: ExportJson) -> ReportJson:
    """Return the report for the API.

    It is a part of the JSON export (docs/api.md).
    """
    report = _select_keys(export, ReportJson)
    report["categories"] = [
        {**category, "checks": [_select_keys(check, ReportedCheck) for check in category["checks"]]}
        for category in export["categories"]
    ]
    return cast("ReportJson", report)


def export_json(
    result: ScanResult, *, scan_id: str, report_id: str, created_at: datetime, completed_at: datetime
) -> ExportJson:
    """Convert a scan result to the JSON export.

    Score and grade are None if the scan failed. Times are aware.
    """
    export: ExportJson = {
        "id": scan_id,
        "type": str(result.type),
        "url": result.url,
        "final_url": result.facts.get("final_url"),
        "needs_log_in": result.facts.get("needs_log_in", False),
        "score": result.score,
        "grade": result.grade,
        "created_at": timestamp(created_at),
        "completed_at": timestamp(completed_at),
        "categories": [_category(category, result.url) for category in _sort_by_priority(result.categories)],
        "summary": _summary(result),
        "report_id": report_id,
        "status": result.status,
        "skipped_checks": [
            {"name": check.name, "reason": check.reason, "code": check.code, "id": check.id}
            for check in result.skipped_checks
        ],
        "browser": result.browser,
        "omitted_checks": [{"id": check.id, "name": check.name} for check in result.omitted_checks],
        "repeated_checks": [
            {
                "id": check.id,
                "name": check.name,
                "told_by": check.told_by,
                "reason": f"Covered by “{check.title}” ({check.told_by}).",
            }
            for check in result.repeated_checks
        ],
        "caps": [{"limit": cap.limit, "reason": cap.reason} for cap in result.caps],
        "held": score_cap_sentence(result.scoring, [cap.reason for cap in result.caps])
        if result.scoring and result.caps
        else "",
        "catalogue_version": result.catalogue_version,
        "site_evidence_at": result.facts.get("site_evidence_at"),
    }
    if result.chosen_categories is not None:
        export["chosen_categories"] = list(map(str, result.chosen_categories))
    if result.viewing is not None and result.browser:
        if "widths" in result.facts:
            export["widths"] = result.facts["widths"]
        export["color_scheme"] = result.viewing.color_scheme
    if result.state is not None:
        export["state"] = {"journey": result.state.journey, "name": result.state.name, "step": result.state.step}
    return export


def _category(category: CategoryResult, url: str) -> ExportedCategory:
    exported: ExportedCategory = {
        "name": category.name,
        "score": category.score,
        "checks": [exported_check(check, url) for check in category.checks],
    }
    if category.plug_in is not None:
        exported["plug_in"] = {"name": category.plug_in.name, "version": category.plug_in.version}
    return exported


def stored_fix(how: HowToFix) -> StoredFix:
    """Convert a fix to JSON."""
    return {"text": how.text, "snippets": [{"label": label, "code": code} for label, code in how.snippets]}


def stored_waterfall(waterfall: Waterfall) -> StoredWaterfall:
    """Convert a waterfall to JSON."""
    return {
        "rows": [
            {
                "url": row.url,
                "kind": row.kind,
                "start_ms": row.start_ms,
                "response_ms": row.response_ms,
                "end_ms": row.end_ms,
                "wire_bytes": row.wire_bytes,
                "status": row.status,
                "is_blocking": row.is_blocking,
                "is_failed": row.is_failed,
                "is_third_party": row.is_third_party,
            }
            for row in waterfall.rows
        ],
        "marks": list(waterfall.marks),
        "total_ms": waterfall.total_ms,
        "left_out": waterfall.left_out,
    }


def _select_keys(whole: Mapping[str, object], kind: type) -> dict[str, object]:
    """Return the items of a JSON object whose keys are fields of a TypedDict."""
    return {name: whole[name] for name in kind.__annotations__ if name in whole}


def _sort_by_priority(categories: Iterable[CategoryResult]) -> list[CategoryResult]:
    """Sort categories and their checks by priority.

    A category has the priority of its most urgent check.
    """
    ordered = [
        replace(category, checks=tuple(sorted(category.checks, key=priority_of_result))) for category in categories
    ]
    return sorted(ordered, key=lambda category: priority_of_result(category.checks[0]))


def exported_check(check: CheckResult, url: str) -> ExportedCheck:
    """Convert the result of a check on the page `url` to JSON for the export."""
    own = split_url(url)
    added: ExportFields = {
        "id": check.id,
        "title": check.title,
        "details": [_table(kind, rows, check.details) for kind, rows in check.details.places_by_kind.items()],
        "references": list(check.references),
        "points": check.points,
        "later": check.later,
        "holds": check.holds,
    }
    message = wording.message(check)
    if check.status == "pass":
        return {"name": check.name, "status": check.status, "severity": None, "message": message, **added}
    assert check.severity is not None
    assert check.how_to_fix is not None
    return {
        "name": check.name,
        "status": check.status,
        "severity": str(check.severity),
        "message": message,
        "fix": wording.fix(check.how_to_fix),
        **added,
        "outcome": check.outcome,
        "summary": check.summary,
        "values": dict(check.values),
        "places": [_places(check, kind, rows, own) for kind, rows in check.places.places_by_kind.items()],
        "includes": list(check.includes),
        "needs_review": check.needs_review,
        "how_to_fix": stored_fix(check.how_to_fix),
        "why": check.why,
        "consequence": check.consequence,
    }


def _table(kind: type[Place], rows: Sequence[Place], all_rows: Rows) -> StoredTable:
    """Convert places of one kind to a table without empty columns."""
    columns = {name: [getattr(row, name) for row in rows] for name in kind.columns()}
    columns = {name: values for name, values in columns.items() if any(value not in (None, "") for value in values)}
    return {
        "kind": kind.kind,
        "columns": [_column(name, kind.columns()[name]) for name in columns],
        "rows": [list(row) for row in zip(*columns.values(), strict=True)],
        "total": all_rows.totals[kind],
    }


def _places(check: CheckResult, kind: type[Place], rows: Sequence[Place], url: WrittenUrl) -> StoredPlaces:
    table = _table(kind, rows, check.places)
    names = [column["name"] for column in table["columns"]]
    return {
        **table,
        "names": [name for name in kind.naming_columns() if name in names],
        "fingerprints": [fingerprint(check.id, row.normal(url)) for row in rows],
        "is_counted": kind.are_counted,
    }


def _column(name: str, column: Column) -> StoredColumn:
    stored: StoredColumn = {"name": name, "label": column.label, "format": column.format}
    return {**stored, "unit": column.unit} if column.unit else stored


def _summary(result: ScanResult) -> Summary:
    statuses = [check.status for check in result.checks]
    severities = severity_counts(result.checks)
    return {
        "total_checks": len(statuses),
        "passed": statuses.count("pass"),
        "failed": statuses.count("fail"),
        "warnings": statuses.count("warn"),
        "critical": severities[Severity.CRITICAL],
        "high": severities[Severity.HIGH],
        "medium": severities[Severity.MEDIUM],
        "low": severities[Severity.LOW],
    }
