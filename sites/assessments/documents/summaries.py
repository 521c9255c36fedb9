"""Summary of an assessment for documents with a bounded length: numbers, and the first pages with notes.

The database counts and chooses, so that a summary of a thousand pages takes no more memory and time than one of ten.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from enum import IntEnum
from typing import Any

from django.contrib.postgres.aggregates import BoolOr
from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import Case, Count, Exists, F, IntegerField, OuterRef, Q, Value, When, Window
from django.db.models.functions import JSONObject, Left, RowNumber
from msgspec import Struct

from sites.assessments.documents.disputes import Dispute, disputes_of
from sites.assessments.loading import (
    OLDER_THAN_PAGE,
    among,
    assessment_json_of,
    criteria_rows,
    outdated_counts,
)
from sites.assessments.schemas import AssessmentCriterionJson, AssessmentJson
from sites.models import Assessment, AssessmentFinding, AssessmentResult
from website_scan.messages import SHOWN, counted

Result = AssessmentResult.Result
# Excerpts of a group of pages. `messages.some` lists as many.
MAX_EXCERPTS = SHOWN
MAX_FINDINGS, MAX_TITLES, MAX_TESTERS = 3, 50, 100
# Documents cut texts to fewer characters, after they have removed spaces.
MAX_TEXT = 1_000


class Group(IntEnum):
    """Pages of a criterion, in the order in which documents describe them. UNDECIDED: a person has to test them."""

    FAILED = 0
    UNDECIDED = 1
    PASSED = 2


class FindingExcerpt(Struct, frozen=True):
    """Open automatic finding of a page."""

    title: str
    has_failed: bool


class Excerpt(Struct, frozen=True):
    """Page with a criterion's result. Texts are shortened.

    `findings` are the first ones of `finding_count`, with failures before others. `failure_count` of them are failures.
    """

    number: int
    title: str
    note: str
    remedy: str
    findings: Sequence[FindingExcerpt]
    finding_count: int
    failure_count: int

    @property
    def has_content(self) -> bool:
        return bool(self.note or self.remedy or self.finding_count)


class CriterionSummary(Struct, frozen=True):
    """Numbers of pages by result, and the first pages.

    Results that are older than a change of their page count as outdated instead, except for failures. `excerpts` has
    the first pages of each group by number, and `with_content` the number of pages that have a note, a remedy or an
    open finding.
    """

    criterion: AssessmentCriterionJson
    passed: int
    not_applicable: int
    outdated: int
    excerpts: Mapping[Group, Sequence[Excerpt]]
    with_content: Mapping[Group, int]
    disputes: Sequence[Dispute] = ()

    @property
    def failed(self) -> int:
        return self.criterion["pages"]["failed"]

    @property
    def untested(self) -> int:
        return self.criterion["pages"]["untested"]

    @property
    def uncertain(self) -> int:
        return self.criterion["pages"]["cannot_tell"]

    @property
    def pages(self) -> int:
        return sum(self.criterion["pages"].values())

    @property
    def is_decided(self) -> bool:
        """Return True if there are pages, and the result on each of them is known."""
        return bool(self.pages) and not (self.untested or self.uncertain or self.outdated)

    @property
    def is_applicable(self) -> bool:
        """Return False if the criterion is not applicable on any page."""
        return self.not_applicable < self.pages or not self.pages

    def sentences(self) -> str:
        """Return sentences with the number of pages by result, such as "Failed on 1 page. Passed on 2 pages."."""
        sentences = [
            f"{words} {counted(number, 'page')}."
            for words, number in (
                ("Failed on", self.failed),
                ("Passed on", self.passed),
                ("Not applicable on", self.not_applicable),
                ("The testers could not tell on", self.uncertain),
                ("Not tested on", self.untested),
                ("To be tested again, because of changes since the test, on", self.outdated),
            )
            if number
        ]
        return " ".join(sentences) or "No page is in the sample."


class Summary(Struct, frozen=True):
    """Summary of an assessment. `titles` are those of the first pages; `examined` pages have automatic results."""

    assessment: AssessmentJson
    criteria: Sequence[CriterionSummary]
    pages: int
    states: int
    examined: int
    titles: Sequence[str]
    has_tests: bool
    evaluators: Sequence[str]
    disputes: Sequence[Dispute]

    def method_sentences(self) -> str:
        """Return sentences about the size of the sample, and about what people and automatic checks did."""
        people = "People tested a sample of the website." if self.has_tests else "No person has tested the website yet."
        parts = []
        if pages := self.pages - self.states:
            parts.append(counted(pages, "page"))
        if self.states:
            parts.append(counted(self.states, "state of a page", "states of pages"))
        checks = f" Automatic checks examined {counted(self.examined, 'page')} of it." if self.examined else ""
        return f"{people} The sample has {' and '.join(parts) or 'no pages'}.{checks}"


def summary_of(assessment: Assessment, groups: Collection[Group] = tuple(Group)) -> Summary:
    """Return the summary with excerpts of these groups of pages. Executes at most eight queries."""
    rows = criteria_rows(assessment)
    outdated = outdated_counts(assessment)
    excerpts, with_content = _excerpts(assessment, groups)
    tests = assessment.counts.exclude(result=Result.UNTESTED).filter(count__gt=0)
    numbers = assessment.pages.aggregate(
        pages=Count("id"),
        states=Count("id", filter=Q(is_state=True)),
        examined=Count("id", filter=~Q(scan_id="")),
        has_tests=BoolOr(Exists(tests), default=False),
    )
    disputes = disputes_of(assessment)
    first = assessment.pages.order_by("number").annotate(address=Left("url", MAX_TEXT))
    return Summary(
        assessment=assessment_json_of(assessment, rows),
        criteria=[
            _criterion_summary(
                row,
                outdated.get(row["number"], {}),
                {group: excerpts.get((row["number"], group), ()) for group in Group},
                {group: with_content.get((row["number"], group), 0) for group in Group},
                [dispute for dispute in disputes if row["number"] in dispute.criteria],
            )
            for row in rows
        ],
        **numbers,
        titles=[name or address for name, address in first.values_list("name", "address")[:MAX_TITLES]],
        evaluators=_evaluators(assessment),
        disputes=disputes,
    )


def _evaluators(assessment: Assessment) -> list[str]:
    """Return the names of the people who evaluate: as the assessment says, else of those who tested a page, by name.

    E-mail addresses of members are left out, because the documents are public.
    """
    if named := [line.strip() for line in assessment.evaluators.splitlines() if line.strip()]:
        return named
    results = assessment.results.exclude(tested_by_name="").exclude(tested_by_name__contains="@")
    results = results.order_by("tested_by_name")
    return list(results.values_list("tested_by_name", flat=True).distinct()[:MAX_TESTERS])


def _criterion_summary(
    row: AssessmentCriterionJson,
    outdated: Mapping[str, int],
    excerpts: Mapping[Group, Sequence[Excerpt]],
    with_content: Mapping[Group, int],
    disputes: Sequence[Dispute],
) -> CriterionSummary:
    passed, not_applicable = outdated.get(Result.PASSED, 0), outdated.get(Result.NOT_APPLICABLE, 0)
    return CriterionSummary(
        criterion=row,
        passed=row["pages"]["passed"] - passed,
        not_applicable=row["pages"]["not_applicable"] - not_applicable,
        outdated=passed + not_applicable,
        excerpts=excerpts,
        with_content=with_content,
        disputes=disputes,
    )


Cell = tuple[str, Group]


def _excerpts(assessment: Assessment, groups: Collection[Group]) -> tuple[dict[Cell, list[Excerpt]], dict[Cell, int]]:
    """Return the first pages, and the number of pages with content, by criterion and group. Executes two queries.

    Of each group, these are the first pages with content and, of those that failed, also the first pages without.
    """
    has_content = ~Q(note="") | ~Q(remedy="") | Q(open_failures__gt=0) | Q(open_reviews__gt=0)
    is_undecided = Q(result__in=(Result.UNTESTED, Result.CANNOT_TELL)) | (
        Q(result__in=(Result.PASSED, Result.NOT_APPLICABLE)) & OLDER_THAN_PAGE
    )
    group = Case(
        When(Q(open_failures__gt=0) | Q(result=Result.FAILED), then=Value(Group.FAILED.value)),
        When(is_undecided, then=Value(Group.UNDECIDED.value)),
        When(result=Result.PASSED, then=Value(Group.PASSED.value)),
        output_field=IntegerField(),
    )
    rows = assessment.results.annotate(group=group, has_content=Case(When(has_content, then=True), default=False))
    rows = rows.filter(Q(has_content=True) | Q(group=Group.FAILED), group__in=groups).order_by()
    parts: dict[str, Any] = {"partition_by": ["criterion", "group", "has_content"]}
    # IDs of pages have the order of their numbers.
    rows = rows.annotate(
        place=Window(RowNumber(), order_by="page_id", **parts), total=Window(Count("id"), **parts)
    ).filter(place__lte=MAX_EXCERPTS)
    cells: dict[int, Cell] = {}
    with_content: dict[Cell, int] = {}
    for id, criterion, number, is_with_content, total in rows.values_list(
        "id", "criterion", "group", "has_content", "total"
    ):
        cells[id] = cell = (criterion, Group(number))
        if is_with_content:
            with_content[cell] = total
    excerpts: dict[Cell, list[Excerpt]] = {}
    for id, excerpt in _texts(assessment, cells):
        excerpts.setdefault(cells[id], []).append(excerpt)
    return excerpts, with_content


def _texts(assessment: Assessment, ids: Collection[int]) -> list[tuple[int, Excerpt]]:
    """Return excerpts of these results by row ID, in the order of the pages."""
    findings = AssessmentFinding.objects.filter(
        page=OuterRef("page_id"), criteria__contains=[OuterRef("criterion")], fixed_at=None, disputed_at=None
    ).order_by("-has_failed", "check_id")
    finding = JSONObject(title=Left("title", MAX_TEXT), has_failed="has_failed")
    rows = (
        assessment.results.filter(id__in=among(ids))
        .order_by("page_id")
        .annotate(first_findings=ArraySubquery(findings.values(excerpt=finding)[:MAX_FINDINGS]))
    )
    return [
        (
            id,
            Excerpt(number, name or address, note, remedy, [FindingExcerpt(**one) for one in first_findings], *counts),
        )
        for id, number, name, address, note, remedy, first_findings, *counts in rows.values_list(
            "id",
            "page__number",
            "page__name",
            Left("page__url", MAX_TEXT),
            Left("note", MAX_TEXT),
            Left("remedy", MAX_TEXT),
            "first_findings",
            F("open_failures") + F("open_reviews"),
            "open_failures",
        )
    ]
