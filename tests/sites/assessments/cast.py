"""Audits and assessments for tests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.utils import timezone
from msgspec.structs import replace

from accounts.authentication import Caller
from sites.assessments import refreshing, results, services
from sites.assessments.requests import AssessmentRequestSerializer
from sites.models import Assessment, AssessmentResult, Audit
from tests.factories import Member, key_caller
from tests.populated_audits import look_at, make_audit, make_pages
from tests.results import check_of, elements
from website_scan.findings import HIGH
from website_scan.result import CategoryResult, CheckResult, CheckStatus

REFERENCES = {
    "image-alt": ("WCAG 1.1.1 Non-text Content (A)",),
    "html-has-lang": ("WCAG 3.1.1 Language of Page (A)",),
    "color-contrast": ("WCAG 1.4.3 Contrast (Minimum) (AA)",),
}
HOST = "https://museum.example.com"


def check(id: str, status: CheckStatus, *places: str) -> CheckResult:
    severity = None if status == "pass" else HIGH
    result = check_of(id, id, id, status, severity, HIGH, "So.", "Do.", elements(*places), references=REFERENCES[id])
    return result if status == "pass" else replace(result, outcome="missing")


def audit_of(home: Member, pages: Mapping[str, tuple[CheckResult, ...]], **columns: Any) -> Audit:
    """Create an ended audit of the museum's site whose pages, by path, have these checks."""
    urls = [f"{HOST}{path}" for path in pages]
    audit = make_audit(home, **{"kind": "pages", "url": urls[0], "types": ["accessibility"]} | columns)
    for page, checks in zip(make_pages(audit, urls), pages.values(), strict=True):
        look_at(page, timezone.now(), categories=(CategoryResult("things", "Things", 10, checks, 71),))
    audit.refresh_from_db()
    return audit


def museum_audit(home: Member) -> Audit:
    """Create an audit of three pages, of which the second fails 1.1.1 and leaves 1.4.3 undecided."""
    fine = (check("image-alt", "pass"), check("html-has-lang", "pass"), check("color-contrast", "pass"))
    failing = (check("image-alt", "fail", "#a", "#b"), check("color-contrast", "warn", "p"))
    return audit_of(home, {"/": fine, "/visit": failing, "/shop": fine})


def assess(home: Member, audit: Audit, **fields: Any) -> Assessment:
    """Create an assessment of an audit, and copy the audit's results."""
    values = AssessmentRequestSerializer.judged({"audit": audit.id, "name": "Museum"} | fields)
    created = services.create_assessment(caller=caller_of(home), values=values)
    assessment_id = str(created.response["id"])
    refreshing.copy_results(assessment_id)
    return Assessment.objects.get(id=assessment_id)


def caller_of(home: Member) -> Caller:
    return key_caller(home.organization.id)


def result_of(assessment: Assessment, number: int, criterion: str) -> AssessmentResult:
    return AssessmentResult.objects.get(assessment=assessment, page__number=number, criterion=criterion)


def decide(home: Member, assessment: Assessment, number: int, criterion: str, result: str, **values: Any) -> None:
    """Store a person's result with the current version."""
    version = result_of(assessment, number, criterion).version
    results.set_result(
        caller=caller_of(home),
        assessment_id=assessment.id,
        number=number,
        criterion=criterion,
        values={"version": version, "result": result, **values},
    )
