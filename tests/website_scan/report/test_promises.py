"""Tests for points and sentences about caps on the report page."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import cast

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.promises import NOW, assert_promises_come_true, page_of
from tests.results import check_of
from website_scan import score_basis, scoring
from website_scan.catalogue import caps, checks
from website_scan.findings import CRITICAL, HIGH, LOW, ScanType, Severity
from website_scan.result import AppliedCap, CategoryResult, CheckResult, CheckStatus, ScanResult
from website_scan.scoring import Cap


def result_of(type: ScanType, categories: list[CategoryResult], limits: list[Cap]) -> ScanResult:
    """Return the result of a scan with these categories."""
    scored = scoring.score(categories, limits)
    return ScanResult(
        type=type,
        url="https://example.com/",
        status="completed",
        started_at=NOW,
        completed_at=datetime(2026, 11, 21, 7, 16, tzinfo=UTC),
        catalogue_version="test",
        score=scored.value,
        grade=scored.grade,
        categories=scored.categories,
        caps=tuple(AppliedCap(cap.limit, cap.reason) for cap in scored.held),
        scoring=score_basis.basis(categories, limits),
    )


def check(id: str, severity: Severity, status: CheckStatus = "fail") -> CheckResult:
    own_severity = None if status == "pass" else severity
    return check_of(
        id, id.capitalize(), f"{id.capitalize()} found", status, own_severity, severity, "Seen.", "Mend it."
    )


STATUSES = st.sampled_from(["fail", "warn", "absent", "curve"])
# Only these caps can apply to the same scan.
LASTING_CAPS = st.sampled_from([(), (96,), (89,), (79, 96)])


@st.composite
def verdicts(draw: st.DrawFn) -> tuple[ScanType, dict[str, str], Sequence[int]]:
    """Checks of a scan type that did not pass, and limits of caps that no fix lifts."""
    scan_type = draw(st.sampled_from(ScanType))
    ids = st.sampled_from([check.id for check in checks(scan_type)])
    return scan_type, draw(st.dictionaries(ids, STATUSES, max_size=30)), draw(LASTING_CAPS)


def is_covering(check: CheckResult) -> bool:
    return check.status == "fail" and check.id in ("https-available", "csp-present")


@given(verdicts())
def test_promises_of_any_result_come_true(drawn: tuple[ScanType, dict[str, str], Sequence[int]]) -> None:
    scan_type, statuses, lasting = drawn
    categories: dict[str, CategoryResult] = {}
    for declared in checks(scan_type):
        id, weight = declared.category_id, declared.category.weight
        category = categories.setdefault(id, CategoryResult(id, id, weight, ()))
        status = statuses.get(declared.id, "pass")
        if status == "absent":
            categories[id] = replace(category, absent_weight=category.absent_weight + 3)
            continue
        # A warning has at most the severity high.
        severity = HIGH if (status, declared.severity) == ("warn", CRITICAL) else declared.severity
        judged = check(declared.id, severity, "fail" if status == "curve" else cast("CheckStatus", status))
        judged = replace(judged, credit=0.3 if status == "curve" else None, covers_category=is_covering(judged))
        categories[id] = replace(category, checks=(*category.checks, judged))
    limits = [*(cap for cap in caps(scan_type) if cap.count), *(Cap(limit, "A reason.", count=0) for limit in lasting)]
    judged_categories = [category for category in categories.values() if category.checks]
    assert_promises_come_true(result_of(scan_type, judged_categories, limits))


def test_next_cap_is_named_at_the_fix_before_it() -> None:
    findings = [check("git", CRITICAL), check("env", CRITICAL), check("csp", HIGH), check("detail", LOW)]
    passed = [check(f"p{n}", CRITICAL, "pass") for n in range(9)]
    limits = [cap for cap in caps(ScanType.SECURITY) if cap.count]
    page = page_of(result_of(ScanType.SECURITY, [CategoryResult("c", "C", 1, (*findings, *passed))], limits))
    assert [(card.id, card.win, card.next_cap) for card in page.first] == [
        ("git", "", ""),
        ("env", "+40 points", "Then one serious finding keeps the score at 89."),
        ("csp", "+10.1 points", ""),
        ("detail", "+0.9 points", ""),
    ]
    assert page.first_raise == "Fixing all four raises the score to 100."


def test_lasting_cap_is_named_at_the_last_fix() -> None:
    checks = (check("label", CRITICAL), *(check(f"p{n}", CRITICAL, "pass") for n in range(9)))
    limits = [Cap(79, "", severity=CRITICAL), Cap(96, "No browser.", count=0)]
    page = page_of(result_of(ScanType.PERFORMANCE, [CategoryResult("c", "C", 1, checks)], limits))
    assert [card.next_cap for card in page.first] == ["Then the score stays at 96, whatever else is fixed."]


def test_page_promises_nothing_by_other_rules() -> None:
    checks = (check("label", HIGH), check("p", CRITICAL, "pass"))
    result = result_of(ScanType.SEO, [CategoryResult("c", "C", 1, checks)], [])
    assert result.scoring is not None
    result.scoring["rules"] -= 1
    for page in (page_of(result), page_of(replace(result, scoring=None))):
        assert [(card.id, card.win) for card in page.first] == [("label", "")]
        assert not page.has_points
        assert page.first_raise == ""
