"""Report and log of an assessment as JSON in pieces.

Texts about a thousand pages may have hundreds of megabytes, so rows are read in batches. No database cursor stays open.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from django.db.models import Model, QuerySet

from sites.assessments.documents.page_results import criteria_with_findings
from sites.assessments.loading import (
    assessment_json_of,
    criteria_rows,
    decided_results,
    event_json_of,
    finding_json_of,
    page_json_of,
    result_json_of,
)
from sites.assessments.schemas import AssessmentCriterionJson
from sites.audits.exports import json_items, json_text
from sites.models import Assessment

M = TypeVar("M", bound=Model)

BATCH_ROWS = 100


def assessment_json(assessment: Assessment) -> Iterator[str]:
    """Yield the report, which has the schema `AssessmentReport`, in pieces."""
    yield from _report(assessment)
    yield "]}"


def report_and_log_chunks(assessment: Assessment) -> Iterator[bytes]:
    """Yield the report with the log in the key `log`, oldest entry first."""
    yield from map(str.encode, _report(assessment))
    yield b'], "log": ['
    yield from map(str.encode, json_items(_batches(assessment.events.order_by("id"), event_json_of)))
    yield b"]}"


def _report(assessment: Assessment) -> Iterator[str]:
    """Yield the report without the brackets at its end."""
    rows = criteria_rows(assessment)
    yield f'{{"assessment": {json_text(assessment_json_of(assessment, rows))}, "sample": ['
    yield from json_items(_batches(assessment.pages.order_by("number"), page_json_of))
    yield '], "criteria": ['
    with_findings = criteria_with_findings(assessment)
    for position, row in enumerate(rows):
        yield ", " * (position > 0)
        yield from _criterion(assessment, row, has_findings=row["number"] in with_findings)


def _criterion(assessment: Assessment, row: AssessmentCriterionJson, *, has_findings: bool) -> Iterator[str]:
    results = decided_results(assessment).filter(criterion=row["number"]).select_related("page")
    yield f'{json_text(row)[:-1]}, "results": ['
    yield from json_items(_batches(results, lambda result: result_json_of(result, result.page)))
    yield '], "findings": ['
    if has_findings:
        findings = assessment.findings.filter(criteria__contains=[row["number"]]).select_related("page")
        in_order = findings.order_by("page__number", "check_id")
        yield from json_items(_batches(in_order, lambda finding: finding_json_of(finding, finding.page)))
    yield "]}"


def _batches(rows: QuerySet[M], json_of: Callable[[M], Any]) -> Iterator[list[Any]]:
    ids = list(rows.values_list("pk", flat=True))
    for start in range(0, len(ids), BATCH_ROWS):
        batch = rows.filter(pk__in=ids[start : start + BATCH_ROWS])
        if documents := [json_of(row) for row in batch]:  # Somebody may have deleted them.
            yield documents
