"""Tests for the results of an audit by success criterion over the API."""

from __future__ import annotations

from typing import Any

import pytest
from django.utils import timezone

from sites.models import Audit
from tests.factories import Member, member_of
from tests.populated_audits import look_at, make_audit, make_pages
from tests.queries import counted
from tests.results import check_of, elements
from website_scan.findings import HIGH
from website_scan.result import CategoryResult, CheckResult, CheckStatus

REFERENCES = {"image-alt": ("WCAG 1.1.1 Non-text Content (A)",), "html-has-lang": ("WCAG 3.1.1 Language of Page (A)",)}


def check(id: str, status: CheckStatus, *places: str) -> CheckResult:
    severity = None if status == "pass" else HIGH
    return check_of(id, id, id, status, severity, HIGH, "So.", "Do.", elements(*places), references=REFERENCES[id])


def audit_of(home: Member, *pages: tuple[CheckResult, ...], **columns: Any) -> Audit:
    """Create an ended audit whose pages have these checks."""
    urls = [f"https://example.com/{number}" for number in range(len(pages))]
    audit = make_audit(home, **{"kind": "pages", "url": urls[0], "types": ["accessibility"]} | columns)
    for page, checks in zip(make_pages(audit, urls), pages, strict=True):
        look_at(page, timezone.now(), categories=(CategoryResult("things", "Things", 10, checks, 71),))
    audit.refresh_from_db()
    return audit


def get(member: Member, audit: Audit, query: str = "") -> Any:
    return member.api.get(f"/v1/audits/{audit.id}/conformance{query}")


def test_failures_of_all_pages_are_joined(home: Member) -> None:
    audit = audit_of(
        home,
        (check("image-alt", "pass"), check("html-has-lang", "pass")),
        (check("image-alt", "fail", "#a", "#b"), check("html-has-lang", "pass")),
        (check("image-alt", "warn", "#a"), check("html-has-lang", "warn")),
    )
    body = get(home, audit).json()
    rows = {row["number"]: row for row in body["criteria"]}
    assert (body["pages"], body["failed_criteria"]) == (3, {"A": ["1.1.1"], "AA": []})
    (finding,) = rows["1.1.1"]["failed"]
    assert (finding["pages_affected"], finding["places"]) == (2, 3)
    assert finding["pages"] == ["https://example.com/1"]
    assert rows["3.1.1"]["result"] == "needs-review"
    assert rows["2.4.3"]["result"] == "not-tested"


def test_checks_without_a_finding_are_those_of_the_first_page(home: Member) -> None:
    audit = audit_of(home, (check("image-alt", "pass"), check("html-has-lang", "pass")))
    rows = {row["number"]: row for row in get(home, audit, "?standard=en301549").json()["criteria"]}
    assert rows["1.1.1"]["result"] == rows["3.1.1"]["result"] == "no-automatic-failure"
    assert (rows["3.1.1"]["passed"], rows["3.1.1"]["clause"]) == (["html-has-lang"], "9.3.1.1")


@pytest.mark.parametrize(
    ("query", "media_type"), [("?format=csv", "text/csv"), ("?format=earl", "application/ld+json")]
)
def test_results_can_be_downloaded(home: Member, query: str, media_type: str) -> None:
    response = get(home, audit_of(home, (check("image-alt", "fail"),)), query)
    assert response.status_code == 200
    assert response["Content-Type"].startswith(media_type)
    assert "attachment" in response["Content-Disposition"]


def test_running_audit_has_no_results(home: Member) -> None:
    audit = make_audit(home, types=["accessibility"])
    assert (get(home, audit).status_code, get(home, audit).json()["code"]) == (409, "AUDIT_NOT_COMPLETE")


def test_audit_of_other_types_has_no_results(home: Member) -> None:
    audit = make_audit(home, types=["seo"], status="completed", completed_at=timezone.now())
    assert (get(home, audit).status_code, get(home, audit).json()["code"]) == (409, "NOT_ACCESSIBILITY")


def test_audit_of_another_organization_is_not_found(home: Member) -> None:
    audit = audit_of(home, (check("image-alt", "fail"),))
    assert get(member_of("Other"), audit).status_code == 404


def test_number_of_queries_does_not_grow_with_pages(home: Member) -> None:
    few = audit_of(home, *[(check("image-alt", "fail", f"#p{page}"),) for page in range(2)])
    many = audit_of(home, *[(check("image-alt", "fail", f"#p{page}"),) for page in range(9)])
    get(home, few)
    with counted() as queries_of_few:
        get(home, few)
    with counted() as queries_of_many:
        get(home, many)
    assert len(queries_of_few) == len(queries_of_many)
