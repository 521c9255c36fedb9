from __future__ import annotations

from tests.results import check_of
from tests.website_scan.cast import NOW, URL
from website_scan.findings import MEDIUM, ScanType
from website_scan.report.linked_reports import LinkedFinding, OtherReport, linked_findings
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
    export = export_json(result, scan_id="s", report_id="r", created_at=NOW, completed_at=NOW)
    export["repeated_checks"] = [
        {"id": check.id, "name": check.name, "told_by": check.told_by, "reason": ""} for check in repeated
    ]
    return export


def test_findings_with_the_same_fact_are_linked() -> None:
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


def test_passed_checks_are_not_linked() -> None:
    seo = report(ScanType.SEO, lang_present="fail", h1="pass")
    accessibility = report(ScanType.ACCESSIBILITY, html_has_lang="pass", page_has_heading_one="fail")
    assert linked_findings(seo, [OtherReport(accessibility, "")]) == {}
    assert linked_findings(seo, []) == {}


def test_repeated_check_links_to_its_finding() -> None:
    included = RepeatedCheck("page-has-heading-one", "Name", "landmark-one-main", "Found")
    accessibility = report(ScanType.ACCESSIBILITY, included, landmark_one_main="warn")
    links = linked_findings(report(ScanType.SEO, h1="warn"), [OtherReport(accessibility, "#")])
    assert [link.url for link in links["h1"]] == ["#landmark-one-main"]


def test_warning_for_review_is_not_linked() -> None:
    accessibility = report(ScanType.ACCESSIBILITY, target_size="warn", later=0.0)
    assert linked_findings(report(ScanType.SEO, tap_targets="fail"), [OtherReport(accessibility, "#")]) == {}
