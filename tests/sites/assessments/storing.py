"""Stores reports as rows of the database, and reads whole reports and counts of assessments."""

from __future__ import annotations

from collections import Counter
from datetime import datetime, timedelta
from typing import Any, cast

from accounts.services import ensure_organization
from sites.assessments import loading
from sites.assessments.schemas import (
    AssessmentFindingJson,
    AssessmentPageJson,
    AssessmentReport,
    AssessmentResultJson,
    CriterionReport,
)
from sites.models import Assessment, AssessmentFinding, AssessmentPage, AssessmentResult

# Fields of a report that an assessment stores as they are.
FIELDS = (
    *("id", "name", "url", "standard", "level", "status", "scope", "evaluators", "method", "owner_name"),
    *("contact_email", "contact_url", "contact_phone", "burden", "exempt_content", "alternatives", "enforcement"),
    *("audit_id", "evidence_at", "created_at", "updated_at", "finished_at"),
)
MAX_NAME, MAX_PAGE_NAME, MAX_REASON = 254, 200, 500


def stored(report: AssessmentReport) -> Assessment:
    """Store a report, and return its assessment. Replaces the assessment with this ID. Texts are cut to their columns.

    A result that is older than its page is stored as one of the day before.
    """
    document = dict(report["assessment"])
    Assessment.objects.filter(id=document["id"]).delete()
    lengths = {field.name: getattr(field, "max_length", None) for field in Assessment._meta.fields}
    values = {name: _cut(document[name], lengths[name]) for name in FIELDS}
    assessment = Assessment.objects.create(organization=ensure_organization(name="Museum"), **values)
    changed = {
        result["page"]: cast(str, result["tested_at"])
        for criterion in report["criteria"]
        for result in criterion["results"]
        if result["is_older_than_page"]
    }
    rows = [_page(assessment, page, changed.get(page["number"])) for page in report["sample"]]
    pages = {page.number: page for page in AssessmentPage.objects.bulk_create(rows)}
    findings = {
        (finding["page"], finding["check"]): finding
        for criterion in report["criteria"]
        for finding in criterion["findings"]
    }
    AssessmentFinding.objects.bulk_create(_finding(assessment, pages[one["page"]], one) for one in findings.values())
    results = [result for criterion in report["criteria"] for result in _results(assessment, criterion, pages)]
    AssessmentResult.objects.bulk_create(results)
    return Assessment.objects.get(id=assessment.id)


def _cut(value: object, length: int | None) -> object:
    return value[:length] if isinstance(value, str) else value


def _page(assessment: Assessment, page: AssessmentPageJson, changed_at: str | None) -> AssessmentPage:
    return AssessmentPage(
        assessment=assessment,
        changed_at=changed_at,
        name=page["name"][:MAX_PAGE_NAME],
        **{name: value for name, value in page.items() if name not in ("title", "name", "changed_at")},
    )


def _finding(assessment: Assessment, page: AssessmentPage, finding: AssessmentFindingJson) -> AssessmentFinding:
    return AssessmentFinding(
        assessment=assessment,
        page=page,
        check_id=finding["check"],
        is_new=finding["state"] == "new",
        dispute_reason=finding["dispute_reason"][:MAX_REASON],
        disputed_by_name=finding["disputed_by"][:MAX_NAME],
        outcome=finding["outcome"],
        has_failed=finding["has_failed"],
        severity=finding["severity"],
        title=finding["title"],
        message=finding["message"],
        fix=finding["fix"],
        criteria=finding["criteria"],
        places=[{**place} for place in finding["places"]],
        place_count=finding["place_count"],
        first_seen_at=finding["first_seen_at"],
        seen_at=finding["seen_at"],
        fixed_at=finding["fixed_at"],
        disputed_at=finding["disputed_at"],
    )


def _results(
    assessment: Assessment, criterion: CriterionReport, pages: dict[int, AssessmentPage]
) -> list[AssessmentResult]:
    documents = {result["page"]: result for result in criterion["results"]}
    return [_result(assessment, criterion, page, documents.get(number)) for number, page in pages.items()]


def _result(
    assessment: Assessment, criterion: CriterionReport, page: AssessmentPage, document: AssessmentResultJson | None
) -> AssessmentResult:
    open_findings = [
        finding
        for finding in criterion["findings"]
        if finding["page"] == page.number and finding["state"] != "fixed" and not finding["disputed"]
    ]
    failures = sum(finding["has_failed"] for finding in open_findings)
    row = AssessmentResult(
        assessment=assessment,
        page=page,
        criterion=criterion["number"],
        open_failures=failures,
        open_reviews=len(open_findings) - failures,
    )
    if document is not None:
        tested_at = datetime.fromisoformat(document["tested_at"]) if document["tested_at"] else None
        is_older = document["is_older_than_page"]
        row.tested_at = tested_at - timedelta(days=1) if tested_at and is_older else tested_at
        row.result, row.note, row.remedy = document["result"], document["note"], document["remedy"]
        row.version, row.tested_by_name = document["version"], document["tested_by"][:MAX_NAME]
        if document["outcome"] == "failed" and document["result"] != "failed":
            row.open_failures = failures or 1
    return row


def whole_report(assessment: Assessment) -> AssessmentReport:
    """Return the whole report, which the service writes in pieces only."""
    pages = {page.id: page for page in assessment.pages.order_by("number")}
    results: dict[str, list[AssessmentResultJson]] = {}
    for result in loading.decided_results(assessment):
        document = loading.result_json_of(result, pages[result.page_id])
        results.setdefault(result.criterion, []).append(document)
    findings: dict[str, list[AssessmentFindingJson]] = {}
    for finding in assessment.findings.order_by("page__number", "check_id"):
        for number in finding.criteria:
            findings.setdefault(number, []).append(loading.finding_json_of(finding, pages[finding.page_id]))
    rows = loading.criteria_rows(assessment)
    criteria: list[CriterionReport] = [
        {**row, "results": results.get(row["number"], []), "findings": findings.get(row["number"], [])} for row in rows
    ]
    return {
        "assessment": loading.assessment_json_of(assessment),
        "sample": [loading.page_json_of(page) for page in pages.values()],
        "criteria": criteria,
    }


def counts_of(assessment: Assessment) -> dict[tuple[Any, ...], int]:
    """Return the counters of the assessment that are not 0, by criterion, result, failure, review and pass."""
    columns = ("criterion", "result", "is_failing", "needs_review", "has_passes", "count")
    return {row[:-1]: row[-1] for row in assessment.counts.exclude(count=0).values_list(*columns)}


def counts_of_results(assessment: Assessment) -> dict[tuple[Any, ...], int]:
    """Count the results, as `counts_of` returns them."""
    return Counter(
        (row.criterion, row.result, row.open_failures > 0, row.open_reviews > 0, row.has_passes)
        for row in assessment.results.all()
    )
