"""Build the command's reports from check results."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from tests.results import check_of
from website_scan.command.gate import CommandReport
from website_scan.findings import ScanType, Severity
from website_scan.places import Place
from website_scan.report.serialization import export_json
from website_scan.result import (
    AppliedCap,
    CategoryResult,
    CheckResult,
    OmittedCheck,
    RepeatedCheck,
    ScanError,
    ScanResult,
    SkippedCheck,
)
from website_scan.score_basis import basis
from website_scan.scoring import Cap, score

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)


def check_result(
    id: str, status: str = "fail", severity: Severity = Severity.HIGH, *places: Place, **parts: Any
) -> CheckResult:
    passed = status == "pass"
    return check_of(
        id=id,
        name=f"{id} is well",
        title=f"{id} is well" if passed else f"{id} is wrong",
        status=status,  # type: ignore[arg-type]
        severity=None if passed else severity,
        declared=severity,
        **{"summary": f"Seen: {id}.", "fix": f"Mend {id}."} | parts,
        places=places,
        references=("CWE-693",),
    )


def judged_report(
    *checks: CheckResult,
    url: str = "https://example.com/",
    type: ScanType = ScanType.SECURITY,
    browser: str | None = None,
) -> CommandReport:
    categories = [CategoryResult("headers", "Headers", 1, checks)] if checks else []
    return judged_categories(categories, url=url, type=type, browser=browser)


def judged_categories(
    categories: Sequence[CategoryResult],
    caps: Sequence[Cap] = (),
    url: str = "https://example.com/",
    type: ScanType = ScanType.SECURITY,
    browser: str | None = None,
) -> CommandReport:
    total = score(categories, caps)
    result = ScanResult(
        type=type,
        url=url,
        status="partial",
        started_at=NOW,
        completed_at=NOW,
        catalogue_version="1",
        browser=browser,
        score=total.value,
        grade=total.grade,
        categories=total.categories,
        skipped_checks=(SkippedCheck("dns", "DNS is well", "No answer.", "timeout"),),
        omitted_checks=(OmittedCheck("lcp", "The page shows soon"),) if type is ScanType.PERFORMANCE else (),
        repeated_checks=(RepeatedCheck("tbt", "Scripts are short", "lcp", "lcp is wrong"),)
        if type is ScanType.PERFORMANCE
        else (),
        caps=tuple(AppliedCap(cap.limit, cap.reason) for cap in total.held),
        scoring=basis(categories, caps),
    )
    return _judge_report(result)


def failed_scan(
    url: str = "https://example.com/gone", scan_type: ScanType = ScanType.SEO, code: str = "URL_NOT_REACHABLE"
) -> CommandReport:
    result = ScanResult(scan_type, url, "failed", NOW, NOW, "1")
    return _judge_report(result, ScanError(code, "Nobody answers."))


def _judge_report(result: ScanResult, error: ScanError | None = None) -> CommandReport:
    ids = {"scan_id": "scan_" + "0" * 22, "report_id": "rpt_" + "0" * 22}
    export = export_json(result, **ids, created_at=NOW, completed_at=NOW)
    if error:
        export["error"] = {"code": error.code, "message": error.message}
    return CommandReport(export, scoring=result.scoring)
