"""Disputes of automatic findings in words, for documents.

Documents may be public, so that they contain no e-mail addresses of members.
"""

from __future__ import annotations

from collections.abc import Sequence

from django.contrib.postgres.aggregates import ArrayAgg
from django.db.models import Case, Count, F, Func, QuerySet, When
from django.db.models.functions import Left
from msgspec import Struct

from sites.assessments.documents.texts import one_line, sentence
from sites.assessments.schemas import AssessmentFindingJson
from sites.models import Assessment, AssessmentFinding
from website_scan.messages import SHOWN, counted, some

MAX_TITLE, MAX_PAGE_TITLE = 300, 120
MAX_DISPUTES = 500
API_KEY = "API key "


class Dispute(Struct, frozen=True):
    """Automatic finding that a person disputed with the same reason on some pages, of which `titles` are the first."""

    criteria: Sequence[str]
    title: str
    has_failed: bool
    by: str
    reason: str
    titles: Sequence[str]
    pages: int

    def sentences(self) -> str:
        """Return who disputed what, where and why, and what would count without the dispute."""
        where = some([one_line(title, MAX_PAGE_TITLE) for title in self.titles], "; ", self.pages)
        return _sentences(self.title, self.by, self.reason, f" on {where}", has_failed=self.has_failed)


def disputes_of(assessment: Assessment) -> list[Dispute]:
    """Return the disputed findings that are not fixed, by check, each with its first pages. Executes one query."""
    title = Case(When(page__name="", then=Left("page__url", MAX_PAGE_TITLE)), default=F("page__name"))
    rows = (
        _disputed(assessment)
        .order_by()
        .values("check_id", "criteria", "title", "has_failed", "disputed_by_name", "dispute_reason")
        .annotate(pages=Count("id"), all_titles=ArrayAgg(title, order_by="page__number"))
        .annotate(titles=F(f"all_titles__0_{SHOWN}"))
    )
    columns = ("criteria", "title", "has_failed", "disputed_by_name", "dispute_reason", "titles", "pages")
    ordered = rows.order_by("check_id", "title", "disputed_by_name", "dispute_reason").values_list(*columns)
    return [Dispute(*row) for row in ordered[:MAX_DISPUTES]]


def disputes_by_criterion(assessment: Assessment) -> dict[str, list[Dispute]]:
    """Return the disputed findings by the number of each criterion that they concern. Executes one query."""
    by_criterion: dict[str, list[Dispute]] = {}
    for dispute in disputes_of(assessment):
        for number in dispute.criteria:
            by_criterion.setdefault(number, []).append(dispute)
    return by_criterion


def criteria_with_disputes(assessment: Assessment) -> frozenset[str]:
    """Return the numbers of the criteria that a disputed finding concerns. Executes one query."""
    numbers = _disputed(assessment).values_list(Func(F("criteria"), function="unnest"), flat=True)
    return frozenset(numbers.distinct())


def _disputed(assessment: Assessment) -> QuerySet[AssessmentFinding]:
    return assessment.findings.filter(fixed_at=None, disputed_at__isnull=False)


def dispute_of_finding(finding: AssessmentFindingJson) -> str:
    """Return the dispute of a finding on one page in words, as `Dispute.sentences`."""
    title, by, reason = finding["title"], finding["disputed_by"], finding["dispute_reason"]
    return _sentences(title, by, reason, "", has_failed=finding["has_failed"])


def further_disputes(number: int) -> str:
    """Return a sentence about the disputes that a document leaves out."""
    return f"{counted(number, 'more disputed finding is', 'more disputed findings are')} in the assessment."


def _sentences(title: str, by: str, reason: str, where: str, *, has_failed: bool) -> str:
    # On other pages, the criterion may fail nevertheless.
    fails = "the criterion fails there" if where else "the criterion fails"
    kind, otherwise = ("failure", fails) if has_failed else ("finding", "a person has to review this")
    parts = (
        f"Automatic {kind}{where}, disputed by {_person(by)}: {sentence(title, MAX_TITLE)}",
        f"Reason: {sentence(reason)}",
        f"Without the dispute, {otherwise}.",
    )
    return " ".join(parts)


def _person(name: str) -> str:
    """Return the name and the role. An address in place of a name is left out."""
    name = one_line(name)
    if not name or "@" in name:
        return "a member of the organization"
    return f"the {name}" if name.startswith(API_KEY) else f"{name}, a member of the organization"
