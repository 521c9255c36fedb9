"""Test `diff` and `conformance` of the library."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

import website_scan
from tests.website_scan.command.reports import check_result, failed_scan, judged_report
from website_scan.findings import ScanType, Severity
from website_scan.library.results import page_results
from website_scan.places import Element
from website_scan.result import CheckResult

IMAGES = (Element("img#a", "<img id=a>"), Element("img#b", "<img id=b>"))
OLD = (
    check_result("alt", "fail", Severity.HIGH, IMAGES[0]),
    check_result("lang", "fail", Severity.HIGH),
    check_result("title", "pass"),
    check_result("contrast", "fail", Severity.MEDIUM),
    check_result("frames", "fail", Severity.LOW),
)
NEW = (
    check_result("alt", "fail", Severity.HIGH, *IMAGES),
    check_result("lang", "pass"),
    check_result("title", "fail", Severity.CRITICAL),
    check_result("contrast", "warn", Severity.LOW),
    check_result("frames", "fail", Severity.LOW),
)


def page(*checks: CheckResult, type: ScanType = ScanType.ACCESSIBILITY) -> website_scan.PageResult:
    (result,) = page_results([judged_report(*checks, type=type)])
    return result


def test_diff_has_all_kinds_of_changes() -> None:
    diff = website_scan.diff(page(*OLD), page(*NEW))
    assert [change.check for change in diff.new] == ["title"]
    assert [change.check for change in diff.worse] == ["alt"]
    assert [change.check for change in diff.fixed] == ["lang"]
    assert [change.check for change in diff.better] == ["contrast"]
    assert [change.check for change in diff.same] == ["frames"]
    (worse,), (better,) = diff.worse, diff.better
    assert [place.text for place in worse.new_places] == ["img#b"]
    assert (better.old_status, better.new_status) == ("fail", "warn")
    assert (better.old_severity, better.new_severity) == ("medium", "low")
    assert diff.new[0].old_status is None
    assert diff.is_worse
    assert set(diff.points) == {"accessibility"}


def test_diff_with_itself_is_empty() -> None:
    diff = website_scan.diff(page(*OLD), page(*OLD))
    assert (diff.new, diff.worse, diff.fixed, diff.better, diff.not_compared) == ((), (), (), (), ())
    assert diff.points == {"accessibility": 0}
    assert not diff.is_worse


def test_failed_and_missing_types_are_not_compared() -> None:
    old, new = page(*OLD), page(*OLD)
    security = page(check_result("hsts"), type=ScanType.SECURITY)
    (failed,) = page_results([failed_scan()])
    old = replace(old, reports=(*old.reports, *security.reports))
    new = replace(new, reports=(*new.reports, *failed.reports))
    assert website_scan.diff(old, new).not_compared_types == ("security", "seo")
    for other in (security, failed):
        with pytest.raises(website_scan.InvalidOption):
            website_scan.diff(page(*OLD), other)


def test_finding_without_verdict_in_the_other_result_is_not_compared() -> None:
    lacks_dns = page(*OLD)
    has_dns = page(*OLD, check_result("dns"))
    (missing,) = website_scan.diff(has_dns, lacks_dns).not_compared
    assert (missing.check, missing.is_new, missing.reason) == ("dns", False, "the check could not run this time")


def test_conformance_lists_failed_criteria() -> None:
    failing = replace(
        check_result("image-alt", "fail", Severity.HIGH, *IMAGES), references=("WCAG 1.1.1 Non-text Content (A)",)
    )
    results = page_results([judged_report(failing, type=ScanType.ACCESSIBILITY)])
    whole = website_scan.conformance(results)
    (criterion,) = whole.failed
    assert (criterion.number, criterion.clause, criterion.level, criterion.result) == ("1.1.1", "1.1.1", "A", "fails")
    (check,) = criterion.failed
    assert (check.check, check.places, check.pages) == ("image-alt", 2, ("https://example.com/",))
    assert (whole.standard, whole.level, whole.pages) == ("wcag22", "AA", 1)
    assert website_scan.conformance(results[0], standard="en301549").failed[0].clause == "9.1.1.1"


def test_conformance_needs_an_accessibility_report() -> None:
    with pytest.raises(website_scan.InvalidOption):
        website_scan.conformance(page(check_result("hsts"), type=ScanType.SECURITY))
    with pytest.raises(website_scan.InvalidOption):
        website_scan.conformance(page(*OLD), standard="wcag99")
