"""Caps on the report page: the sentence about what holds the score, and the marks of the findings that hold it."""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import urlsplit

from scans.models import Scan
from scans.visits.claims import claim_scan, finish_scan
from tests.factories import Member, make_result, make_scan
from tests.reports.people import page_of, person, text_of
from tests.responses import ClientResponse
from tests.results import check_of
from website_scan import score_basis, scoring
from website_scan.findings import CRITICAL, HIGH, LOW, Severity
from website_scan.result import AppliedCap, CategoryResult, CheckResult, CheckStatus
from website_scan.scoring import Cap

CAPS = (
    Cap(49, "A critical check failed.", severity=CRITICAL),
    Cap(79, "A high-severity check failed.", severity=HIGH),
)


def check(id: str, status: CheckStatus, severity: Severity) -> CheckResult:
    found = None if status == "pass" else severity
    return check_of(id, id.capitalize(), f"{id.capitalize()} found", status, found, severity, "Seen.", "Mend it.")


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
        scoring=score_basis.basis(categories, CAPS),
    )
    assert finish_scan(claim, result)
    return scan


def first(response: ClientResponse) -> list[str]:
    return texts(response, "//ol[@class='first']/li")


def caps(response: ClientResponse) -> list[str]:
    return texts(response, "//p[@class='cap']")


def texts(response: ClientResponse, path: str) -> list[str]:
    return [" ".join(each.text_content().split()) for each in page_of(response).xpath(path)]


def test_the_page_says_in_a_sentence_what_holds_the_score_and_marks_it_on_each_finding(home: Member) -> None:
    scan = held_scan(home, check("detail", "fail", LOW), check("frame", "fail", HIGH), check("leak", "fail", CRITICAL))
    response = person(home.organization).get(f"/report/{scan.id}")
    # 90 of 107 are left, 100 without the leak, 106 without both.
    assert caps(response) == ["One critical finding holds the score at 49; fix it: 79, and the serious one: 99."]
    # Points that others win only later are in brackets. Beside what holds the score, they would make it look small.
    assert first(response) == [
        "Leak found Critical Caps the score +30 points",
        "Frame found Caps the score",
        "Detail found (+0.9 points)",
    ]
    assert "those in brackets count once it is no longer capped" in text_of(response)
    tags = texts(response, "//li[@id='check-frame']//*[@class='tags']")
    assert tags == ["High Caps the score"]


def test_several_that_hold_the_score_are_told_once(home: Member) -> None:
    scan = held_scan(home, *(check(f"leak{n}", "fail", CRITICAL) for n in range(5)))
    response = person(home.organization).get(f"/report/{scan.id}")
    assert caps(response) == ["Five critical findings hold the score at 49; fix all five: 100."]
    assert first(response) == [f"Leak{n} found Critical Caps the score" for n in range(5)]


def test_muted_findings_still_hold_the_score_and_are_not_to_be_fixed(home: Member) -> None:
    scan = held_scan(home, check("frame", "fail", HIGH), check("exposed-git", "fail", CRITICAL))
    body = {"check": "exposed-git", "host": urlsplit(scan.url).netloc, "reason": "A copy for auditors."}
    assert home.api.post("/v1/mutes", body).status_code == 201
    response = person(home.organization).get(f"/report/{scan.id}")
    assert caps(response) == ["One critical finding (muted) holds the score at 49."]
    assert first(response) == ["Frame found Caps the score"]


def test_nothing_is_held_where_no_cap_lowered_the_score(home: Member) -> None:
    scan = held_scan(home, check("detail", "fail", LOW))
    response = person(home.organization).get(f"/report/{scan.id}")
    assert caps(response) == []
    assert first(response) == ["Detail found +1.1 points"]
