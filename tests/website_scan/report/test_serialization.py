"""Reports have the form that openapi.yaml describes."""

from __future__ import annotations

from typing import Any

from tests.generated import description
from tests.website_scan.command.reports import NOW, check_result, judged
from website_scan.findings import HIGH, ScanType
from website_scan.performance.places import LoadedFile
from website_scan.places import Element, Rows
from website_scan.report.exports import exported
from website_scan.report.serialization import report_json
from website_scan.report_json import ExportedFinding, ExportedPass
from website_scan.result import (
    AppliedCap,
    CategoryResult,
    CheckResult,
    HowToFix,
    OmittedCheck,
    ScanResult,
    SkippedCheck,
)

OPTIONAL = (ExportedFinding.__annotations__.keys() - ExportedPass.__annotations__.keys()) | {"unit"}


def assert_described(document: Any, component: str) -> None:
    """Assert the same names in the same order at every level. Only findings and columns of sizes have all."""
    properties = description()["components"]["schemas"][component]["properties"]
    assert [name for name in properties if name in document or name not in OPTIONAL] == list(document)
    for name, schema in properties.items():
        if name not in document:
            continue
        if reference := schema.get("items", {}).get("$ref"):
            assert document[name], f"{name} is empty, so nothing was compared"
            for each in document[name]:
                assert_described(each, reference.rpartition("/")[2])
        elif isinstance(document[name], dict) and (reference := schema.get("$ref", "")):
            assert_described(document[name], reference.rpartition("/")[2])


def test_an_export_is_as_it_is_described() -> None:
    seen = Rows.of([LoadedFile("/a.js", "script", 900)])
    snippets = HowToFix("Compress it.", (("nginx", "gzip on;"),))
    lcp = check_result("lcp", "fail", HIGH, Element("#a"), details=seen, includes=("FCP is late",), how_to_fix=snippets)
    fcp = check_result("fcp", "pass", details=seen)
    document: Any = exported(judged(lcp, fcp, type=ScanType.PERFORMANCE).document)
    document["caps"] = [{"limit": 49, "reason": "It is slow."}]
    assert_described(document, "ReportExport")
    assert document["created_at"] == "2026-11-22T12:00:00Z"


def test_a_report_is_as_it_is_described() -> None:
    check: CheckResult = check_result("hsts")
    result = ScanResult(
        type=ScanType.SECURITY,
        url="https://example.com/",
        status="completed",
        started_at=NOW,
        completed_at=NOW,
        catalogue_version="1",
        score=0,
        grade="F",
        categories=(CategoryResult("headers", "Headers", 1, (check,)),),
        skipped_checks=(SkippedCheck("dns", "DNS", "No answer.", "timeout"),),
        omitted_checks=(OmittedCheck("lcp", "LCP"),),
        caps=(AppliedCap(49, "It is open."),),
    )
    document = report_json(result, scan_id="scan_" + "0" * 22, created_at=NOW, completed_at=NOW)
    assert_described(document, "Report")
