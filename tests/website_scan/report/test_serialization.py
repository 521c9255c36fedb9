"""Test that reports and exports have the keys of openapi.yaml."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from tests.generated import description
from tests.website_scan.command.reports import NOW, check_result, judged_report
from website_scan.findings import HIGH, ScanType
from website_scan.performance.places import LoadedFile
from website_scan.places import Element, Rows
from website_scan.report.exports import exported
from website_scan.report.serialization import export_json, report_json
from website_scan.report_json import ExportedFinding, ExportedPass
from website_scan.result import (
    AppliedCap,
    CategoryResult,
    CheckResult,
    HowToFix,
    OmittedCheck,
    ScanError,
    ScanResult,
    SkippedCheck,
)
from website_scan.run import failed_result
from website_scan.security_categories import SecurityCategory

OPTIONAL = (ExportedFinding.__annotations__.keys() - ExportedPass.__annotations__.keys()) | {
    "unit",
    "widths",
    "color_scheme",
    "plug_in",
    "chosen_categories",
}


def assert_described(value: Any, component: str) -> None:
    """Assert that the keys equal the schema's at every level, in order.

    OPTIONAL keys may be missing.
    """
    properties = description()["components"]["schemas"][component]["properties"]
    assert [name for name in properties if name in value or name not in OPTIONAL] == list(value)
    for name, schema in properties.items():
        if name not in value:
            continue
        if reference := schema.get("items", {}).get("$ref"):
            assert value[name], f"{name} is empty, so nothing was compared"
            for item in value[name]:
                assert_described(item, reference.rpartition("/")[2])
        elif isinstance(value[name], dict) and (reference := schema.get("$ref", "")):
            assert_described(value[name], reference.rpartition("/")[2])


def test_export_has_keys_of_its_schema() -> None:
    files = Rows.of([LoadedFile("/a.js", "script", 900)])
    snippets = HowToFix("Compress it.", (("nginx", "gzip on;"),))
    lcp = check_result(
        "lcp", "fail", HIGH, Element("#a"), details=files, includes=("FCP is late",), how_to_fix=snippets
    )
    fcp = check_result("fcp", "pass", details=files)
    export: Any = exported(judged_report(lcp, fcp, type=ScanType.PERFORMANCE).export)
    export |= {"caps": [{"limit": 49, "reason": "It is slow."}], "widths": [412], "color_scheme": "dark"}
    export |= {"state": {"journey": "Log in", "name": "Account", "step": 4}}
    assert_described(export, "ReportExport")
    assert export["created_at"] == "2026-11-22T12:00:00Z"


def test_report_has_keys_of_its_schema() -> None:
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
    ids = {"scan_id": "scan_" + "0" * 22, "report_id": "rpt_" + "0" * 22}
    export = export_json(result, **ids, created_at=NOW, completed_at=NOW)
    assert_described(report_json(export), "Report")


def test_report_of_some_categories_has_the_keys_of_its_schema() -> None:
    error = ScanError("TIMEOUT", "Late.")
    result = replace(
        failed_result(ScanType.SECURITY, "https://example.com/", NOW, error),
        chosen_categories=(SecurityCategory.MAIL,),
    )
    ids = {"scan_id": "scan_" + "0" * 22, "report_id": "rpt_" + "0" * 22}
    report = report_json(export_json(result, **ids, created_at=NOW, completed_at=NOW))
    assert list(description()["components"]["schemas"]["Report"]["properties"]) == list(report)
    assert report["chosen_categories"] == ["mail"]
