"""Tests for explaining capped scores on the report page."""

from __future__ import annotations

from urllib.parse import urlsplit

from msgspec.structs import replace

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
    shown_severity = None if status == "pass" else severity
    return check_of(
        id, id.capitalize(), f"{id.capitalize()} found", status, shown_severity, severity, "Seen.", "Mend it."
    )


def capped_scan(home: Member, *checks: CheckResult) -> Scan:
    """Create a finished scan with these findings and nine passed checks."""
    passed = tuple(check(f"p{n}", "pass", CRITICAL) for n in range(9))
    categories = (CategoryResult("things", "Things", 10, (*passed, *checks)),)
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


def first_findings(response: ClientResponse) -> list[str]:
    return texts(response, "//ol[@class='first']/li")


def cap_sentences(response: ClientResponse) -> list[str]:
    return texts(response, "//p[@class='cap']")


def texts(response: ClientResponse, path: str) -> list[str]:
    return [" ".join(element.text_content().split()) for element in page_of(response).xpath(path)]


def test_page_explains_the_capped_score(home: Member) -> None:
    scan = capped_scan(
        home, check("detail", "fail", LOW), check("frame", "fail", HIGH), check("leak", "fail", CRITICAL)
    )
    response = person(home.organization).get(f"/report/{scan.id}")
    # The page has 90 of 107 points, and would have 100 without the leak.
    assert cap_sentences(response) == [
        "One critical finding keeps the score at 49. Fixing it raises the score to 79, and the serious one to 99."
    ]
    # The points of each finding count after the fixes before it.
    assert first_findings(response) == [
        "Leak found Critical Caps the score +30 points Then one serious finding keeps the score at 79.",
        "Frame found Caps the score +20.1 points",
        "Detail found +0.9 points",
    ]
    assert "Points are what a fix adds to the score once everything above it is fixed." in text_of(response)
    assert "Fixing all three raises the score to 100." in text_of(response)
    tags = texts(response, "//li[@id='check-frame']//*[@class='tags']")
    assert tags == ["High Caps the score +20.1 points"]
    assert "Points count as in “Fix first”." in text_of(response)


def test_one_sentence_covers_several_caps(home: Member) -> None:
    scan = capped_scan(home, *(check(f"leak{n}", "fail", CRITICAL) for n in range(5)))
    response = person(home.organization).get(f"/report/{scan.id}")
    assert cap_sentences(response) == ["Five critical findings keep the score at 49. Fixing all five raises it to 100."]
    leaks = [f"Leak{n} found Critical Caps the score" for n in range(5)]
    assert first_findings(response) == [*leaks[:4], f"{leaks[4]} +51 points"]


def test_muted_finding_still_caps_the_score(home: Member) -> None:
    scan = capped_scan(home, check("frame", "fail", HIGH), check("exposed-git", "fail", CRITICAL))
    body = {"check": "exposed-git", "host": urlsplit(scan.url).netloc, "reason": "A copy for auditors."}
    assert home.api.post("/v1/mutes", body).status_code == 201
    response = person(home.organization).get(f"/report/{scan.id}")
    assert cap_sentences(response) == ["One critical finding (muted) keeps the score at 49."]
    assert first_findings(response) == ["Frame found Caps the score"]


def test_page_without_a_cap_mentions_none(home: Member) -> None:
    scan = capped_scan(home, check("detail", "fail", LOW))
    response = person(home.organization).get(f"/report/{scan.id}")
    assert cap_sentences(response) == []
    assert first_findings(response) == ["Detail found +1.1 points"]
