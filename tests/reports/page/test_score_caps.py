"""Caps on the report page: the sentence about the capped score, and the tags of the findings that cap it."""

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


def test_page_explains_the_capped_score_and_tags_the_findings_that_cap_it(home: Member) -> None:
    scan = capped_scan(
        home, check("detail", "fail", LOW), check("frame", "fail", HIGH), check("leak", "fail", CRITICAL)
    )
    response = person(home.organization).get(f"/report/{scan.id}")
    # The score is 90 of 107 points. Without the leak it is 100, and without both capping findings 106.
    assert cap_sentences(response) == [
        "One critical finding keeps the score at 49. Fixing it raises the score to 79, and the serious one to 99."
    ]
    # Points that count only after the cap is lifted are in brackets. Findings that cap the score have none, because
    # they would look minor.
    assert first_findings(response) == [
        "Leak found Critical Caps the score +30 points",
        "Frame found Caps the score",
        "Detail found (+0.9 points)",
    ]
    assert "those in brackets count once it is no longer capped" in text_of(response)
    tags = texts(response, "//li[@id='check-frame']//*[@class='tags']")
    assert tags == ["High Caps the score"]


def test_several_capping_findings_share_one_sentence(home: Member) -> None:
    scan = capped_scan(home, *(check(f"leak{n}", "fail", CRITICAL) for n in range(5)))
    response = person(home.organization).get(f"/report/{scan.id}")
    assert cap_sentences(response) == ["Five critical findings keep the score at 49. Fixing all five raises it to 100."]
    assert first_findings(response) == [f"Leak{n} found Critical Caps the score" for n in range(5)]


def test_muted_finding_still_caps_the_score_but_is_not_listed_to_fix(home: Member) -> None:
    scan = capped_scan(home, check("frame", "fail", HIGH), check("exposed-git", "fail", CRITICAL))
    body = {"check": "exposed-git", "host": urlsplit(scan.url).netloc, "reason": "A copy for auditors."}
    assert home.api.post("/v1/mutes", body).status_code == 201
    response = person(home.organization).get(f"/report/{scan.id}")
    assert cap_sentences(response) == ["One critical finding (muted) keeps the score at 49."]
    assert first_findings(response) == ["Frame found Caps the score"]


def test_page_shows_no_cap_if_no_cap_lowers_the_score(home: Member) -> None:
    scan = capped_scan(home, check("detail", "fail", LOW))
    response = person(home.organization).get(f"/report/{scan.id}")
    assert cap_sentences(response) == []
    assert first_findings(response) == ["Detail found +1.1 points"]
