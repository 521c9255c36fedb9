"""Rows of results: one criterion on one page, with its automatic findings and the input of a refused form."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypedDict

from django.db.models import Func, JSONField, Q
from msgspec import Struct

from sites.assessments.loading import OLDER_THAN_PAGE, standard_criteria
from sites.models import Assessment, AssessmentFinding, AssessmentPage, AssessmentResult
from website_scan.accessibility.standards import Standard, SuccessCriterion

Result = AssessmentResult.Result
BY_CRITERION, BY_PAGE = "criterion", "page"
ROWS_PER_PART = 20
# Maximum number of places per finding on a criterion's page, which has rows of many pages.
PLACES_BY_CRITERION = 5

# Filters of results by the value of the query parameter `show`.
FILTERS: Mapping[str, tuple[str, Q]] = {
    "failed": ("Failed", Q(open_failures__gt=0) | Q(result=Result.FAILED)),
    "untested": ("Untested", Q(open_failures=0, result=Result.UNTESTED)),
    "review": ("Needs review", Q(open_reviews__gt=0, result=Result.UNTESTED) | OLDER_THAN_PAGE),
    "cannot_tell": ("Cannot tell", Q(open_failures=0, result=Result.CANNOT_TELL)),
    "done": ("Passed or not applicable", Q(open_failures=0, result__in=(Result.PASSED, Result.NOT_APPLICABLE))),
}


class Entered(TypedDict):
    """Input of a form for a result, as it was submitted. `version` is that of the result which its author has read."""

    version: str
    result: str
    note: str
    remedy: str


class Problem(Struct, frozen=True):
    """Why a form for a result was refused. `field` is empty for the whole form."""

    text: str
    field: str = ""
    is_conflict: bool = False


class ResultRow(Struct, frozen=True):
    """Row of a criterion's page, of which the heading is the page, or of a page's page, with the criterion."""

    page: AssessmentPage
    criterion: SuccessCriterion
    clause: str
    result: AssessmentResult
    findings: Sequence[AssessmentFinding]
    view: str
    entered: Entered | None = None
    problem: Problem | None = None
    is_saved: bool = False

    @property
    def anchor(self) -> str:
        return anchor_of(self.page.number, self.criterion.number)

    @property
    def heading(self) -> str:
        return self.page.title if self.view == BY_CRITERION else f"{self.clause} {self.criterion.name}"

    @property
    def max_places(self) -> int:
        return PLACES_BY_CRITERION if self.view == BY_CRITERION else AssessmentFinding.MAX_PLACES

    @property
    def values(self) -> Entered:
        """Return the input of the refused form, or the stored values."""
        stored = self.result
        return self.entered or {
            "version": str(stored.version),
            "result": stored.result,
            "note": stored.note,
            "remedy": stored.remedy,
        }

    @property
    def version(self) -> str:
        """Return the version for the form: that of the input, unless its author now sees a change by somebody else."""
        has_seen_change = self.problem is not None and self.problem.is_conflict
        return str(self.result.version) if has_seen_change else self.values["version"]

    @property
    def is_disputed(self) -> bool:
        """Return True if all automatic findings that are not fixed are disputed."""
        unfixed = [finding for finding in self.findings if finding.fixed_at is None]
        return bool(unfixed) and all(finding.is_disputed for finding in unfixed)

    @property
    def is_older(self) -> bool:
        return self.result.is_older_than(self.page)


def anchor_of(number: int, criterion: str) -> str:
    """Return the HTML ID of a row. Full stops would need escapes in selectors."""
    return f"result-{number}-{criterion.replace('.', '-')}"


def criterion_of(assessment: Assessment, number: str) -> SuccessCriterion | None:
    """Return the criterion with this number, if the assessment has it."""
    return next((one for one in standard_criteria(assessment) if one.number == number), None)


def rows_by_page(
    assessment: Assessment, criterion: SuccessCriterion, show: str, part: int
) -> tuple[list[ResultRow], bool]:
    """Return a criterion's rows by page, and True if a further part has more.

    `show` is a key of FILTERS or empty, `part` counts from 1. Executes two queries.
    """
    results = assessment.results.filter(criterion=criterion.number)
    if show in FILTERS:
        results = results.filter(FILTERS[show][1])
    start = (part - 1) * ROWS_PER_PART
    found = list(results.select_related("page").order_by("page__number")[start : start + ROWS_PER_PART + 1])
    shown = found[:ROWS_PER_PART]
    # Parsing all places would take a quarter of the page's time.
    path = f"$[0 to {PLACES_BY_CRITERION - 1}]"
    first = Func("places", template=f"jsonb_path_query_array(%(expressions)s, '{path}')", output_field=JSONField())
    findings = AssessmentFinding.objects.filter(
        page__in=[result.page_id for result in shown], criteria__contains=[criterion.number]
    )
    by_page: dict[int, list[AssessmentFinding]] = {}
    for finding in findings.defer("places").annotate(first_places=first).order_by("check_id"):
        finding.places = finding.first_places
        by_page.setdefault(finding.page_id, []).append(finding)
    clause = criterion.clause(Standard(assessment.standard))
    rows = [
        ResultRow(result.page, criterion, clause, result, _worst_first(by_page.get(result.page_id, ())), BY_CRITERION)
        for result in shown
    ]
    return rows, len(found) > ROWS_PER_PART


def rows_by_criterion(assessment: Assessment, page: AssessmentPage, show: str) -> list[ResultRow]:
    """Return a page's rows by criterion. Executes two queries."""
    results = page.results.all()
    if show in FILTERS:
        results = results.filter(FILTERS[show][1])
    by_criterion = {result.criterion: result for result in results}
    findings = list(page.findings.order_by("check_id"))
    return [
        ResultRow(
            page,
            criterion,
            criterion.clause(Standard(assessment.standard)),
            by_criterion[criterion.number],
            _worst_first([finding for finding in findings if criterion.number in finding.criteria]),
            BY_PAGE,
        )
        for criterion in standard_criteria(assessment)
        if criterion.number in by_criterion
    ]


def row_of(
    assessment: Assessment,
    page: AssessmentPage,
    criterion: SuccessCriterion,
    view: str,
    *,
    entered: Entered | None = None,
    problem: Problem | None = None,
    is_saved: bool = False,
) -> ResultRow:
    """Return one row with the stored result. Executes two queries."""
    return ResultRow(
        page,
        criterion,
        criterion.clause(Standard(assessment.standard)),
        page.results.get(criterion=criterion.number),
        _worst_first(page.findings.filter(criteria__contains=[criterion.number]).order_by("check_id")),
        view,
        entered,
        problem,
        is_saved,
    )


def _worst_first(findings: Iterable[AssessmentFinding]) -> list[AssessmentFinding]:
    """Sort findings: open failures, findings to review, disputed ones, then fixed ones."""
    return sorted(
        findings,
        key=lambda finding: (finding.fixed_at is not None, finding.is_disputed, not finding.has_failed),
    )
