"""Conformance report of an assessment for reading and print, with a bounded number of notes per criterion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from django.contrib.postgres.aggregates import ArrayAgg
from django.db.models import Case, Count, Q, When, Window
from django.db.models.functions import Left, RowNumber
from msgspec import Struct, field

from sites.assessments.documents.disputes import disputes_by_criterion, further_disputes
from sites.assessments.loading import OUTCOME, among, assessment_json_of, criteria_rows, older_results
from sites.assessments.progress import undecided_words
from sites.assessments.schemas import AssessmentCriterionJson, AssessmentJson
from sites.models import Assessment, AssessmentResult
from website_scan.accessibility.standards import Standard
from website_scan.messages import SHOWN, agreeing, counted
from website_scan.report.references import safe_link
from website_scan.urls import Url

Result = AssessmentResult.Result
MAX_NOTES_PER_CRITERION = 10
# The template cuts texts to 2,000 characters, and adds an ellipsis to longer ones.
MAX_TEXT = 2_001
# Results that the report explains, and those with a note.
RANK = Case(When(result=Result.FAILED, then=0), When(result=Result.CANNOT_TELL, then=1), default=2)
EXPLAINED = Q(result__in=(Result.FAILED, Result.CANNOT_TELL)) | ~Q(note="") | ~Q(remedy="")


class SamplePage(NamedTuple):
    number: int
    name: str
    url: str
    is_state: bool

    @property
    def link(self) -> str | None:
        return safe_link(self.url)

    @property
    def label(self) -> str:
        """Return the name, or else the address without the host."""
        url = Url.parse(self.url)
        return self.name or (url.path_and_query if url else self.url)


class AutomaticFailure(Struct, frozen=True):
    """Automatic finding that fails a criterion, with its first pages, and the number of its other pages."""

    title: str
    pages: Sequence[SamplePage]
    more_pages: int


class Note(Struct, frozen=True):
    """Result with the same texts, which are shortened, on these pages."""

    result: Result
    outcome: str
    note: str
    remedy: str
    pages: list[int]

    @property
    def where(self) -> str:
        """Return the pages in words, such as "Pages 1, 2, 5"."""
        return f"{agreeing(len(self.pages), 'Page', 'Pages')} {', '.join(map(str, self.pages))}"


class ReportRow(Struct):
    criterion: AssessmentCriterionJson
    failures: list[AutomaticFailure] = field(default_factory=list)
    disputes: list[str] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    omitted: int = 0


class ConformanceReport(Struct, frozen=True):
    document: AssessmentJson
    rows: list[ReportRow]
    sample: Sequence[SamplePage]
    summary: str
    limits: str
    older: str


def conformance_report(assessment: Assessment) -> ConformanceReport:
    """Return the report. Executes seven queries, whatever the size of the assessment."""
    criteria = criteria_rows(assessment)
    document = assessment_json_of(assessment, criteria)
    rows = {criterion["number"]: ReportRow(criterion) for criterion in criteria}
    sample = [SamplePage(*row) for row in assessment.pages.order_by("number").values_list(*SamplePage._fields)]
    _add_failures(assessment, rows, {page.number: page for page in sample})
    _add_disputes(assessment, rows)
    _add_notes(assessment, rows)
    older = older_results(assessment)
    summary = summary_of(document, criteria, older.without_failure)
    return ConformanceReport(document, list(rows.values()), sample, summary, limits_of(document), older.sentence)


def summary_of(document: AssessmentJson, criteria: Sequence[AssessmentCriterionJson], outdated: int) -> str:
    """Return a sentence about conformance.

    It claims conformance only if people have tested everything, and no page has changed since: `outdated` is the number
    of results without a failure that are older than the change of their page.
    """
    standard = Standard(document["standard"]).at_level(document["level"])
    total = len(criteria)
    failed = [row["clause"] for row in criteria if row["outcome"] == Result.FAILED]
    if failed:
        verb = agreeing(len(failed), "fails", "fail")
        return f"The tested pages do not conform to {standard}: {len(failed)} of {total} criteria {verb}."
    if any(row["pages"][Result.UNTESTED] for row in criteria):
        return f"It is not known yet whether the pages conform to {standard}: no failure is recorded so far."
    if unclear := sum(row["outcome"] == Result.CANNOT_TELL for row in criteria):
        verb = agreeing(unclear, "is", "are")
        return (
            f"It is not known whether the pages conform to {standard}: {unclear} of {total} criteria {verb} undecided."
        )
    if outdated:
        return (
            f"It is not known any more whether the pages conform to {standard}: pages have changed since people "
            "tested them."
        )
    pages = counted(document["pages"], "page")
    return f"The sample of {pages} conforms to {standard}: people tested all {total} criteria on each page."


def limits_of(document: AssessmentJson) -> str:
    """Return a sentence about what has not been tested, which belongs beside the summary."""
    progress = document["progress"]
    undecided = progress["criteria"] - progress["criteria_decided"]
    sample = f"The report is about a sample of {counted(document['pages'], 'page')}, not about every page of the site."
    if not undecided:
        return sample
    number = counted(undecided, "criterion is", "criteria are")
    return f"{number} not decided on every page of the sample: {undecided_words(progress)}. {sample}"


def _add_failures(assessment: Assessment, rows: dict[str, ReportRow], pages: Mapping[int, SamplePage]) -> None:
    """Add the open automatic failures with their first pages, by check."""
    findings = assessment.findings.filter(has_failed=True, fixed_at=None, disputed_at=None).order_by()
    titles = findings.values_list("check_id", "title", "criteria").annotate(
        total=Count("page_id", distinct=True), numbers=ArrayAgg("page__number", order_by="page__number")
    )
    for _, title, criteria, total, numbers in titles.order_by("-total", "check_id", "title")[: 10 * len(rows)]:
        # Somebody may have added a page since the sample was read.
        first = [pages[number] for number in numbers[:SHOWN] if number in pages]
        for number in criteria:
            if number in rows:
                rows[number].failures.append(AutomaticFailure(title, first, total - len(first)))


def _add_disputes(assessment: Assessment, rows: dict[str, ReportRow]) -> None:
    """Add sentences about the disputed findings of each criterion."""
    for number, disputes in disputes_by_criterion(assessment).items():
        if number in rows:
            sentences = [dispute.sentences() for dispute in disputes[:MAX_NOTES_PER_CRITERION]]
            more = len(disputes) - len(sentences)
            rows[number].disputes = [*sentences, further_disputes(more)] if more else sentences


def _add_notes(assessment: Assessment, rows: dict[str, ReportRow]) -> None:
    """Add each criterion's first results with a note. Failures come first, then the order is that of pages."""
    explained = assessment.results.filter(EXPLAINED)
    # IDs of pages have the order of their numbers.
    place = Window(RowNumber(), partition_by="criterion", order_by=[RANK, "page_id"])
    total = Window(Count("id"), partition_by="criterion")
    numbered = explained.annotate(place=place, total=total).filter(place__lte=MAX_NOTES_PER_CRITERION)
    totals = dict(numbered.order_by().values_list("id", "total"))
    results = assessment.results.filter(id__in=among(totals)).order_by(RANK, "page_id").annotate(counted_as=OUTCOME)
    for id, criterion, number, *texts in results.values_list(
        "id", "criterion", "page__number", "result", "counted_as", Left("note", MAX_TEXT), Left("remedy", MAX_TEXT)
    ):
        row = rows[criterion]
        result, outcome, note, remedy = texts
        new = Note(Result(result), outcome, note, remedy, [number])
        same = next((each for each in row.notes if _has_same_texts(each, new)), None)
        if same:
            same.pages.append(number)
        else:
            row.notes.append(new)
        row.omitted = max(0, totals[id] - MAX_NOTES_PER_CRITERION)


def _has_same_texts(one: Note, other: Note) -> bool:
    return (one.result, one.outcome, one.note, one.remedy) == (other.result, other.outcome, other.note, other.remedy)
