"""Caps on the report page: the sentence about each cap, and the points of findings without caps."""

from __future__ import annotations

from dataclasses import replace

from django.http import HttpResponse

from reports.models import Report
from scanner import scoring
from scanner.findings import CRITICAL, HIGH, LOW, Severity
from scanner.result import AppliedCap, CategoryResult, CheckResult, CheckStatus
from scanner.scoring import Cap
from scans.models import Scan
from scans.visits.claims import claim_scan, finish_scan
from tests.reports.people import page_of, person, text_of
from tests.world import Member, make_result, make_scan

CAPS = (
    Cap(49, "A critical check failed.", severity=CRITICAL),
    Cap(79, "A high-severity check failed.", severity=HIGH),
)


def check(id: str, status: CheckStatus, severity: Severity) -> CheckResult:
    found = None if status == "pass" else severity
    return CheckResult(id, id.capitalize(), f"{id.capitalize()} found", status, found, severity, "Seen.", "Mend it.")


def held_scan(home: Member, *checks: CheckResult) -> Scan:
    """Return a finished scan with these findings and nine passed checks."""
    fine = tuple(check(f"p{n}", "pass", CRITICAL) for n in range(9))
    categories = (CategoryResult("things", "Things", 10, (*fine, *checks)),)
    score = scoring.score(categories, CAPS)
    scan = make_scan(home)
    claim = claim_scan(scan.id)
    assert claim is not None
    result = replace(
        make_result(scan),
        categories=score.categories,
        score=score.value,
        grade=score.grade,
        caps=tuple(AppliedCap(cap.limit, cap.reason) for cap in score.held),
        scoring=scoring.basis(categories, CAPS),
    )
    assert finish_scan(claim, result)
    return scan


def first(response: HttpResponse) -> list[str]:
    return texts(response, "//ol[@class='first']/li")


def caps(response: HttpResponse) -> list[str]:
    return texts(response, "//p[@class='cap']")


def texts(response: HttpResponse, path: str) -> list[str]:
    return [" ".join(each.text_content().split()) for each in page_of(response).xpath(path)]


def test_the_page_says_what_holds_the_score_by_which_findings_and_what_it_would_be_without(home: Member) -> None:
    scan = held_scan(home, check("leak", "fail", CRITICAL), check("frame", "fail", HIGH), check("detail", "fail", LOW))
    response = person(home.organization).get(f"/report/{scan.id}")
    assert caps(response) == [
        "Capped at 49: a critical check failed (Leak found).",
        # 90 of 107
        "Then capped at 79: a high-severity check failed (Frame found). Without these limits, the score would be 84.",
    ]
    # The first fix wins 30 points, up to the next cap. The others win nothing before: their points are in brackets.
    assert first(response) == [
        "Leak found Caps the score +30 points",
        "Frame found Caps the score (+5.6 points)",
        "Detail found (+0.9 points)",
    ]
    assert "those in brackets count once the score is no longer capped" in text_of(response)


def test_of_several_that_hold_it_each_is_told_what_it_wins(home: Member) -> None:
    scan = held_scan(home, *(check(f"leak{n}", "fail", CRITICAL) for n in range(5)))
    response = person(home.organization).get(f"/report/{scan.id}")
    assert caps(response) == [
        "Capped at 49: a critical check failed (Leak0 found, Leak1 found, Leak2 found and 2 more). "
        "Without this limit, the score would be 64."
    ]
    assert first(response) == [f"Leak{n} found Caps the score (+7.1 points)" for n in range(5)]


def test_a_report_that_does_not_say_what_its_score_was_made_of_tells_no_points(home: Member) -> None:
    scan = held_scan(home, check("leak0", "fail", CRITICAL), check("leak1", "fail", CRITICAL))
    Report.objects.update(scoring=None)
    response = person(home.organization).get(f"/report/{scan.id}")
    assert caps(response) == ["Capped at 49: a critical check failed."]
    assert first(response) == ["Leak0 found Critical", "Leak1 found Critical"]


def test_nothing_is_held_where_no_cap_lowered_the_score(home: Member) -> None:
    scan = held_scan(home, check("detail", "fail", LOW))
    response = person(home.organization).get(f"/report/{scan.id}")
    assert caps(response) == []
    assert first(response) == ["Detail found +1.1 points"]
