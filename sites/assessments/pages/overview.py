"""Overview of an assessment by success criterion."""

from __future__ import annotations

from collections.abc import Mapping

from django.db.models import Q, Sum
from msgspec import Struct

from sites.assessments.documents.disputes import criteria_with_disputes
from sites.assessments.loading import criteria_rows, outdated_counts
from sites.assessments.pages.rows import FILTERS
from sites.assessments.schemas import AssessmentCriterionJson
from sites.models import Assessment, AssessmentResult
from website_scan.accessibility.standards import LEVELS
from website_scan.messages import counted

Result = AssessmentResult.Result
PRINCIPLES = {"1": "Perceivable", "2": "Operable", "3": "Understandable", "4": "Robust"}
# Words for numbers of pages by result, in the order in which they are displayed.
COUNT_WORDS = {
    Result.FAILED: "failed",
    Result.CANNOT_TELL: "cannot tell",
    Result.PASSED: "passed",
    Result.NOT_APPLICABLE: "not applicable",
    Result.UNTESTED: "untested",
}
DONE = (Result.PASSED, Result.NOT_APPLICABLE)


class OverviewRow(Struct, frozen=True):
    """A criterion with its result, the numbers of pages, and what automatic checks say."""

    criterion: AssessmentCriterionJson
    failing: int
    to_review: int
    reviewed: int
    checked: int
    older: int
    is_disputed: bool

    @property
    def counts(self) -> str:
        """Return the number of pages by result in words, such as "1 failed, 2 untested"."""
        pages = self.criterion["pages"]
        return ", ".join(f"{pages[result]:,} {word}" for result, word in COUNT_WORDS.items() if pages[result])

    @property
    def automatic(self) -> str:
        """Return what automatic checks say, in words."""
        if self.failing:
            return f"Fails on {counted(self.failing, 'page')}"
        if self.to_review:
            return f"Needs review on {counted(self.to_review, 'page')}"
        if self.is_disputed:
            return "Automatic finding disputed"
        if self.reviewed:
            return f"Reviewed on {counted(self.reviewed, 'page')}"
        return "No automatic failure" if self.checked else "Not tested automatically"

    def is_in(self, show: str) -> bool:
        """Return True if the row belongs to this filter, a key of FILTERS. Every row belongs to an unknown one."""
        pages = self.criterion["pages"]
        matches = {
            "failed": pages[Result.FAILED] > 0,
            "untested": pages[Result.UNTESTED] > 0,
            "review": self.to_review > 0 or self.older > 0,
            "cannot_tell": pages[Result.CANNOT_TELL] > 0,
            "done": self.criterion["outcome"] in DONE,
        }
        return matches.get(show, True)


class Overview(Struct, frozen=True):
    """Rows of criteria by principle, and all criteria."""

    principles: dict[str, list[OverviewRow]]
    criteria: list[AssessmentCriterionJson]
    numbers: dict[str, int]
    show: str
    level: str
    levels: list[str]


def overview_of(assessment: Assessment, query: Mapping[str, str]) -> Overview:
    """Return the criteria that match the filters `show` and `level`. Executes four queries."""
    criteria = criteria_rows(assessment)
    automatic, older = _automatic(assessment), outdated_counts(assessment)
    disputed = criteria_with_disputes(assessment)
    none = {"failing": 0, "to_review": 0, "reviewed": 0, "checked": 0}
    rows = [
        OverviewRow(
            criterion,
            **automatic.get(criterion["number"], none),
            older=sum(older.get(criterion["number"], {}).values()),
            is_disputed=criterion["number"] in disputed,
        )
        for criterion in criteria
    ]
    show = query.get("show", "")
    levels = [level for level in LEVELS if any(criterion["level"] == level for criterion in criteria)]
    level = query.get("level", "")
    rows = [row for row in rows if level not in levels or row.criterion["level"] == level]
    principles: dict[str, list[OverviewRow]] = {}
    for row in rows:
        if row.is_in(show):
            principles.setdefault(PRINCIPLES[row.criterion["number"][0]], []).append(row)
    numbers = {name: sum(row.is_in(name) for row in rows) for name in ("", *FILTERS)}
    return Overview(principles, criteria, numbers, show if show in FILTERS else "", level, levels)


def _automatic(assessment: Assessment) -> dict[str, dict[str, int]]:
    """Return numbers of pages by criterion: with automatic failures, to review, reviewed by a person, and checked."""
    rows = (
        assessment.counts.order_by()
        .values_list("criterion")
        .annotate(
            failing=Sum("count", filter=Q(is_failing=True), default=0),
            to_review=Sum("count", filter=Q(needs_review=True, result=Result.UNTESTED), default=0),
            reviewed=Sum("count", filter=Q(needs_review=True) & ~Q(result=Result.UNTESTED), default=0),
            checked=Sum("count", filter=Q(has_passes=True), default=0),
        )
    )
    return {
        number: {"failing": failing, "to_review": to_review, "reviewed": reviewed, "checked": checked}
        for number, failing, to_review, reviewed, checked in rows
    }
