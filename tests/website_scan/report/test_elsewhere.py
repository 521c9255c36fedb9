from __future__ import annotations

from tests.results import check_of
from tests.website_scan.cast import NOW, URL
from website_scan.findings import MEDIUM, ScanType
from website_scan.report.elsewhere import LinkedFinding, OtherReport, linked_findings
from website_scan.report.serialization import export_json
from website_scan.report_json import ExportJson
from website_scan.result import CategoryResult, CheckStatus, RepeatedCheck, ScanResult


def report(scan_type: ScanType, *repeated: RepeatedCheck, later: float = 1.0, **statuses: CheckStatus) -> ExportJson:
    checks = tuple(
        check_of(
            id.replace("_", "-"),
            "Name",
            f"{id} found",
            status,
            None if status == "pass" else MEDIUM,
            MEDIUM,
            "Seen.",
            later=later,
        )
        for id, status in statuses.items()
    )
    result = ScanResult(
        scan_type, URL, "completed", NOW, NOW, "v", 71, "C", (CategoryResult("c", "C", 10, checks, 71),)
    )
    shown = export_json(result, scan_id="s", report_id="r", created_at=NOW, completed_at=NOW)
    shown["repeated_checks"] = [
        {"id": each.id, "name": each.name, "told_by": each.told_by, "reason": ""} for each in repeated
    ]
    return shown


def test_findings_of_the_same_fact_lead_to_each_other() -> None:
    seo = report(ScanType.SEO, lang_present="fail", title="warn")
    accessibility = report(ScanType.ACCESSIBILITY, html_has_lang="fail", image_alt="fail")
    assert linked_findings(seo, [OtherReport(accessibility, "/other#check-")]) == {
        "lang-present": (
            LinkedFinding(ScanType.ACCESSIBILITY, "html-has-lang", "html_has_lang found", "/other#check-html-has-lang"),
        )
    }
    assert linked_findings(accessibility, [OtherReport(seo, "#report-1-check-")]) == {
        "html-has-lang": (
            LinkedFinding(ScanType.SEO, "lang-present", "lang_present found", "#report-1-check-lang-present"),
        )
    }


def test_nothing_leads_to_a_check_that_passed_or_to_a_report_that_is_missing() -> None:
    seo = report(ScanType.SEO, lang_present="fail", h1="pass")
    accessibility = report(ScanType.ACCESSIBILITY, html_has_lang="pass", page_has_heading_one="fail")
    assert linked_findings(seo, [OtherReport(accessibility, "")]) == {}
    assert linked_findings(seo, []) == {}


def test_a_check_that_another_one_includes_leads_to_that() -> None:
    included = RepeatedCheck("page-has-heading-one", "Name", "landmark-one-main", "Found")
    accessibility = report(ScanType.ACCESSIBILITY, included, landmark_one_main="warn")
    found = linked_findings(report(ScanType.SEO, h1="warn"), [OtherReport(accessibility, "#")])
    assert [each.url for each in found["h1"]] == ["#landmark-one-main"]


def test_what_only_needs_a_review_tells_nothing() -> None:
    accessibility = report(ScanType.ACCESSIBILITY, target_size="warn", later=0.0)
    assert linked_findings(report(ScanType.SEO, tap_targets="fail"), [OtherReport(accessibility, "#")]) == {}
