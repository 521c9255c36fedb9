"""Load assessments as JSON, with a bounded number of queries for any number of pages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from django.db.models import Case, CharField, Count, F, Func, Q, QuerySet, Sum, Value, When
from msgspec import Struct

from scans.schemas import timestamp_or_none
from sites.assessments.progress import progress_of
from sites.assessments.schemas import (
    AssessmentCriterionJson,
    AssessmentEventJson,
    AssessmentFindingJson,
    AssessmentJson,
    AssessmentPageJson,
    AssessmentResultJson,
)
from sites.models import (
    Assessment,
    AssessmentCount,
    AssessmentEvent,
    AssessmentFinding,
    AssessmentPage,
    AssessmentResult,
)
from website_scan.accessibility.standards import Standard, SuccessCriterion, required_criteria
from website_scan.messages import agreeing, counted
from website_scan.timestamps import timestamp

Result = AssessmentResult.Result
# The worst result first. An untested page leaves the whole criterion open, unless another page fails.
SEVEREST_FIRST = (Result.FAILED, Result.UNTESTED, Result.CANNOT_TELL, Result.PASSED, Result.NOT_APPLICABLE)
FAILED = Value(Result.FAILED.value)
# The result that counts, as `AssessmentResult.outcome`, and the same for rows of AssessmentCount.
OUTCOME = Case(When(open_failures__gt=0, then=FAILED), default=F("result"), output_field=CharField())
COUNTED_OUTCOME = Case(When(is_failing=True, then=FAILED), default=F("result"), output_field=CharField())

# A person's result is older than a change of the page.
OLDER_THAN_PAGE = Q(tested_at__lt=F("page__changed_at"))


class OlderResults(Struct, frozen=True):
    """Numbers of results that are older than changes of their pages, of those without a failure, and of the pages."""

    results: int
    without_failure: int
    pages: int

    @property
    def sentence(self) -> str:
        """Return the numbers in words, or an empty string if there is no such result."""
        if not self.results:
            return ""
        verb, changes = agreeing(self.results, "is", "are"), agreeing(self.results, "a change", "changes")
        return f"{counted(self.results, 'result')} {verb} older than {changes} of {counted(self.pages, 'page')}."


def standard_criteria(assessment: Assessment) -> tuple[SuccessCriterion, ...]:
    """Return the criteria that the assessment's standard requires at its level, in order."""
    return required_criteria(Standard(assessment.standard), assessment.level)


def criteria_rows(assessment: Assessment) -> list[AssessmentCriterionJson]:
    """Return the result of each criterion over all pages. Executes one query."""
    counts: dict[str, dict[str, int]] = {}
    rows = assessment.counts.order_by().annotate(counted_as=COUNTED_OUTCOME).values_list("criterion", "counted_as")
    for criterion, outcome, number in rows.annotate(number=Sum("count")):
        counts.setdefault(criterion, {})[outcome] = number
    return _criteria_rows(assessment, counts)


def assessment_json_of(
    assessment: Assessment, criteria: Sequence[AssessmentCriterionJson] | None = None
) -> AssessmentJson:
    """Return an assessment. `criteria` are its rows, if the caller has loaded them."""
    rows = criteria_rows(assessment) if criteria is None else criteria
    return _assessment_json(assessment, [row["pages"] for row in rows])


def assessments_json(assessments: Sequence[Assessment]) -> list[AssessmentJson]:
    """Return several assessments. Executes one query."""
    counts = AssessmentCount.objects.filter(assessment__in=[one.id for one in assessments]).order_by()
    rows = counts.annotate(counted_as=COUNTED_OUTCOME).values_list("assessment_id", "criterion", "counted_as")
    numbers: dict[tuple[str, str], dict[str, int]] = {}
    for assessment_id, criterion, outcome, number in rows.annotate(number=Sum("count")):
        numbers.setdefault((assessment_id, criterion), {})[outcome] = number
    return [
        _assessment_json(one, [numbers.get((one.id, row.number), {}) for row in standard_criteria(one)])
        for one in assessments
    ]


def counts_by_page(assessment: Assessment, pages: Iterable[AssessmentPage]) -> dict[int, dict[str, int]]:
    """Return the number of criteria by outcome for each page, by row ID. Executes one query."""
    counts: dict[int, dict[str, int]] = {}
    results = assessment.results.filter(page__in=among(page.id for page in pages)).order_by()
    rows = results.annotate(counted_as=OUTCOME).values_list("page_id", "counted_as").annotate(number=Count("id"))
    for page_id, outcome, number in rows:
        counts.setdefault(page_id, {})[outcome] = number
    return counts


def outdated_counts(assessment: Assessment) -> dict[str, dict[str, int]]:
    """Return the number of results that are older than a change of their pages, by criterion and outcome.

    Executes one query, which reads only the results of pages that have changed.
    """
    counts: dict[str, dict[str, int]] = {}
    results = assessment.results.filter(OLDER_THAN_PAGE).order_by()
    rows = results.annotate(counted_as=OUTCOME).values_list("criterion", "counted_as").annotate(number=Count("id"))
    for criterion, outcome, number in rows:
        counts.setdefault(criterion, {})[outcome] = number
    return counts


def older_results(assessment: Assessment) -> OlderResults:
    """Count the results that are older than changes of their pages. Executes one query."""
    numbers = assessment.results.filter(OLDER_THAN_PAGE).aggregate(
        results=Count("id"),
        without_failure=Count("id", filter=Q(result__in=(Result.PASSED, Result.NOT_APPLICABLE))),
        pages=Count("page_id", distinct=True),
    )
    return OlderResults(**numbers)


def decided_results(assessment: Assessment) -> QuerySet[AssessmentResult]:
    """Return the results with a person's decision, a text or an open automatic failure, by page."""
    decided = assessment.results.exclude(result=Result.UNTESTED, note="", remedy="", open_failures=0)
    return decided.order_by("page__number")


def among(ids: Iterable[int]) -> Func:
    """Return the right side of an `in` lookup that has one parameter.

    Django and psycopg take milliseconds to write hundreds of numbers one by one.
    """
    array = Value(f"{{{','.join(map(str, ids))}}}")
    return Func(array, template="(SELECT unnest((%(expressions)s)::bigint[]))")


def page_json_of(page: AssessmentPage) -> AssessmentPageJson:
    return {
        "number": page.number,
        "url": page.url,
        "name": page.name,
        "title": page.title,
        "is_state": page.is_state,
        "reason": page.reason,
        "scan_id": page.scan_id,
        "judged_at": timestamp_or_none(page.judged_at),
        "is_missing": page.is_missing,
        "changed_at": timestamp_or_none(page.changed_at),
    }


def result_json_of(result: AssessmentResult, page: AssessmentPage) -> AssessmentResultJson:
    return {
        "page": page.number,
        "criterion": result.criterion,
        "outcome": result.outcome,
        "result": result.result,
        "note": result.note,
        "remedy": result.remedy,
        "version": result.version,
        "tested_by": result.tested_by_name,
        "tested_at": timestamp_or_none(result.tested_at),
        "is_older_than_page": result.is_older_than(page),
        "automatic": result.automatic.value,
    }


def finding_json_of(finding: AssessmentFinding, page: AssessmentPage) -> AssessmentFindingJson:
    return {
        "id": finding.id,
        "page": page.number,
        "check": finding.check_id,
        "outcome": finding.outcome,
        "has_failed": finding.has_failed,
        "severity": finding.severity,
        "title": finding.title,
        "message": finding.message,
        "fix": finding.fix,
        "criteria": finding.criteria,
        "places": [{"fingerprint": place["fingerprint"], "text": place["text"]} for place in finding.places],
        "place_count": finding.place_count,
        "state": "fixed" if finding.fixed_at else "new" if finding.is_new else "still",
        "first_seen_at": timestamp(finding.first_seen_at),
        "seen_at": timestamp(finding.seen_at),
        "fixed_at": timestamp_or_none(finding.fixed_at),
        "disputed": finding.is_disputed,
        "dispute_reason": finding.dispute_reason,
        "disputed_by": finding.disputed_by_name,
        "disputed_at": timestamp_or_none(finding.disputed_at),
    }


def events_of(assessment: Assessment) -> QuerySet[AssessmentEvent]:
    """Return the assessment's log, newest first."""
    return assessment.events.order_by("-id")


def event_json_of(event: AssessmentEvent) -> AssessmentEventJson:
    return {
        "at": timestamp(event.at),
        "actor": event.actor_name,
        "api_key": event.api_key_id,
        "action": event.action,
        "page": event.page_number,
        "page_title": event.page_title,
        "criterion": event.criterion,
        "before": event.before,
        "after": event.after,
    }


def _criteria_rows(assessment: Assessment, counts: Mapping[str, Mapping[str, int]]) -> list[AssessmentCriterionJson]:
    standard = Standard(assessment.standard)
    return [
        {
            "number": one.number,
            "name": one.name,
            "level": one.level,
            "clause": one.clause(standard),
            "url": one.url,
            "outcome": next((value for value in SEVEREST_FIRST if counts.get(one.number, {}).get(value)), "untested"),
            "pages": {value: counts.get(one.number, {}).get(value, 0) for value in Result.values},
        }
        for one in standard_criteria(assessment)
    ]


def _assessment_json(assessment: Assessment, numbers: Sequence[dict[str, int]]) -> AssessmentJson:
    """Return an assessment. `numbers` has the number of pages by result for each criterion."""
    return {
        "id": assessment.id,
        "name": assessment.name,
        "url": assessment.url,
        "standard": assessment.standard,
        "standard_name": Standard(assessment.standard).label,
        "level": assessment.level,
        "status": assessment.status,
        "pages": sum(numbers[0].values()) if numbers else 0,
        "progress": progress_of(numbers),
        "scope": assessment.scope,
        "evaluators": assessment.evaluators,
        "method": assessment.method,
        "owner_name": assessment.owner_name,
        "contact_email": assessment.contact_email,
        "contact_url": assessment.contact_url,
        "contact_phone": assessment.contact_phone,
        "burden": assessment.burden,
        "exempt_content": assessment.exempt_content,
        "alternatives": assessment.alternatives,
        "enforcement": assessment.enforcement,
        "audit_id": assessment.audit_id,
        "evidence_at": timestamp_or_none(assessment.evidence_at),
        "refreshing": assessment.is_refreshing,
        "refresh_error": assessment.refresh_error,
        "created_at": timestamp(assessment.created_at),
        "updated_at": timestamp(assessment.updated_at),
        "finished_at": timestamp_or_none(assessment.finished_at),
        "shared": assessment.shared_at is not None,
        "assessment_url": assessment.assessment_url,
    }
