"""Filtered lists of an assessment's results and findings."""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db.models import F, Func, IntegerField, QuerySet, Value

from sites.assessments.loading import OUTCOME
from sites.assessments.results import refuse_unknown_criterion
from sites.assessments.services import find_page
from sites.models import Assessment, AssessmentFinding, AssessmentResult

# Digits of page numbers (integer in the database) and of finding IDs (bigint).
PAGE_DIGITS, FINDING_DIGITS = 9, 18


def number_of(text: str, digits: int) -> int:
    """Return the number in a path, or 0 for anything else. No page and no finding has the number 0."""
    is_number = text.isascii() and text.isdigit() and not text.startswith("0") and len(text) <= digits
    return int(text) if is_number else 0


def filter_results(
    assessment: Assessment, *, page: int | None = None, criterion: str | None = None, outcome: str | None = None
) -> QuerySet[AssessmentResult]:
    """Return the results that match all filters, by page and then by criterion.

    Raises NotFound for a page or a criterion that the assessment does not have.
    """
    rows = assessment.results.all()
    if page is not None:
        rows = rows.filter(page=find_page(assessment, page))
    if criterion is not None:
        refuse_unknown_criterion(assessment, criterion)
        rows = rows.filter(criterion=criterion)
    if outcome is not None:
        rows = rows.annotate(counted_as=OUTCOME).filter(counted_as=outcome)
    # 1.4.2 comes before 1.4.10.
    levels = Func(F("criterion"), Value("."), function="string_to_array", output_field=ArrayField(IntegerField()))
    numbers = Func(levels, template="%(expressions)s::int[]", output_field=ArrayField(IntegerField()))
    return rows.select_related("page").order_by("page__number", numbers)


def filter_findings(
    assessment: Assessment, *, page: int | None = None, state: str | None = None, disputed: bool | None = None
) -> QuerySet[AssessmentFinding]:
    """Return the findings that match all filters, by page and then by check.

    `state` is one of `schemas.FINDING_STATES`. Raises NotFound for a page that the assessment does not have.
    """
    rows = assessment.findings.all()
    if page is not None:
        rows = rows.filter(page=find_page(assessment, page))
    if state == "fixed":
        rows = rows.filter(fixed_at__isnull=False)
    elif state is not None:
        rows = rows.filter(fixed_at=None, is_new=state == "new")
    if disputed is not None:
        rows = rows.filter(disputed_at__isnull=not disputed)
    return rows.select_related("page").order_by("page__number", "check_id")
