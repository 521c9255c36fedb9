"""Table of an assessment for spreadsheets, with a row for each success criterion on each page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from sites.assessments.documents.disputes import dispute_of_finding
from sites.assessments.documents.page_results import PageResult, PageResults
from sites.assessments.loading import criteria_rows
from sites.assessments.schemas import AssessmentCriterionJson, AssessmentFindingJson
from sites.models import Assessment, AssessmentResult
from website_scan.messages import counted
from website_scan.report.conformance import Result, checks_by_criterion
from website_scan.report.spreadsheets import BYTE_ORDER_MARK, cell, lines

COLUMNS = (
    *("clause", "criterion", "level", "page", "page_title", "url", "state", "result", "person_result", "note"),
    *("remedy", "tested_by", "tested_at", "page_changed_since", "automatic_result", "findings", "disputed"),
)


def assessment_csv(assessment: Assessment) -> Iterator[str]:
    """Yield the table as CSV in pieces. Cells are safe from formula injection."""
    yield BYTE_ORDER_MARK + lines([COLUMNS])
    results = PageResults(assessment)
    for criterion in criteria_rows(assessment):
        for batch in results.of_criterion(criterion["number"]):
            rows = [_row(criterion, one) for one in batch]
            yield lines([cell(row[column]) for column in COLUMNS] for row in rows)


def _row(criterion: AssessmentCriterionJson, one: PageResult) -> Mapping[str, object]:
    page, result = one.page, one.result
    return {
        "clause": criterion["clause"],
        "criterion": criterion["name"],
        "level": criterion["level"],
        "page": page["number"],
        "page_title": page["title"],
        "url": page["url"],
        "state": "yes" if page["is_state"] else "no",
        "result": _label(one.outcome),
        "person_result": _label(one.decision),
        "note": one.note,
        "remedy": one.remedy,
        "tested_by": result["tested_by"] if result else "",
        "tested_at": (result["tested_at"] if result else None) or "",
        "page_changed_since": "yes" if result and result["is_older_than_page"] else "no",
        "automatic_result": _automatic_label(criterion["number"], one),
        "findings": _texts(one.open_findings),
        "disputed": "\n".join(map(dispute_of_finding, one.disputed_findings)),
    }


def _label(result: str) -> str:
    return AssessmentResult.Result(result).label


def _automatic_label(number: str, one: PageResult) -> str:
    """Return what the checks say, also if a person disputed all of it."""
    if not one.open_findings and (disputed := one.disputed_findings):
        has_failed = any(finding["has_failed"] for finding in disputed)
        return f"{(Result.FAILS if has_failed else Result.NEEDS_REVIEW).label}, disputed"
    return _automatic(number, one).label


def _automatic(number: str, one: PageResult) -> Result:
    """Return what the checks say. The report has no result for pages on which nothing was decided."""
    if one.result is not None:
        return Result(one.result["automatic"])
    if one.open_findings:
        return Result.FAILS if one.failures else Result.NEEDS_REVIEW
    has_checks = bool(one.page["scan_id"]) and number in checks_by_criterion()
    return Result.NO_FAILURE if has_checks else Result.NOT_TESTED


def _texts(findings: Iterable[AssessmentFindingJson]) -> str:
    return "\n".join(
        f"{finding['title']} ({counted(finding['place_count'], 'place')})"
        if finding["place_count"]
        else finding["title"]
        for finding in findings
    )
