"""Results of success criteria on single pages, read in batches for documents that list all of them.

Texts about a thousand pages may have hundreds of megabytes. No database cursor stays open.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from django.db.models import F, Func
from msgspec import Struct

from sites.assessments.loading import among, decided_results, finding_json_of, page_json_of, result_json_of
from sites.assessments.schemas import AssessmentFindingJson, AssessmentPageJson, AssessmentResultJson
from sites.models import Assessment, AssessmentPage

PAGES_PER_BATCH = 100


class PageResult(Struct, frozen=True):
    """Result of a criterion on a page. `result` is None if no person and no automatic check decided anything."""

    page: AssessmentPageJson
    result: AssessmentResultJson | None
    findings: Sequence[AssessmentFindingJson]

    @property
    def outcome(self) -> str:
        """Return the result that counts."""
        return self.result["outcome"] if self.result else "untested"

    @property
    def decision(self) -> str:
        """Return the result by a person."""
        return self.result["result"] if self.result else "untested"

    @property
    def note(self) -> str:
        return self.result["note"] if self.result else ""

    @property
    def remedy(self) -> str:
        return self.result["remedy"] if self.result else ""

    @property
    def open_findings(self) -> list[AssessmentFindingJson]:
        """Return the automatic findings that are neither fixed nor disputed."""
        return [finding for finding in self.findings if finding["state"] != "fixed" and not finding["disputed"]]

    @property
    def disputed_findings(self) -> list[AssessmentFindingJson]:
        """Return the disputed automatic findings that are not fixed."""
        return [finding for finding in self.findings if finding["state"] != "fixed" and finding["disputed"]]

    @property
    def failures(self) -> list[AssessmentFindingJson]:
        """Return the open automatic findings that fail the criterion."""
        return [finding for finding in self.open_findings if finding["has_failed"]]


class PageResults:
    """Reads the results of an assessment by criterion. `sample` has its pages by number."""

    def __init__(self, assessment: Assessment) -> None:
        self._assessment = assessment
        self._pages: list[AssessmentPage] = list(assessment.pages.order_by("number"))
        self.sample: list[AssessmentPageJson] = [page_json_of(page) for page in self._pages]
        self._with_findings = criteria_with_findings(assessment)
        decided = decided_results(assessment).order_by()
        self._with_decisions = frozenset(decided.values_list("criterion", flat=True).distinct())

    def of_criterion(self, criterion: str) -> Iterator[list[PageResult]]:
        """Yield the results of a criterion on all pages of the sample, by page number in batches."""
        for start in range(0, len(self._pages), PAGES_PER_BATCH):
            yield self._batch(criterion, slice(start, start + PAGES_PER_BATCH))

    def _batch(self, criterion: str, part: slice) -> list[PageResult]:
        pages = {page.id: page for page in self._pages[part]}
        results: dict[int, AssessmentResultJson] = {}
        if criterion in self._with_decisions:
            rows = decided_results(self._assessment).filter(criterion=criterion, page__in=among(pages))
            results = {row.page_id: result_json_of(row, pages[row.page_id]) for row in rows}
        findings: dict[int, list[AssessmentFindingJson]] = {}
        if criterion in self._with_findings:
            of_pages = self._assessment.findings.filter(criteria__contains=[criterion], page__in=among(pages))
            for finding in of_pages.order_by("page__number", "check_id"):
                page = pages[finding.page_id]
                findings.setdefault(finding.page_id, []).append(finding_json_of(finding, page))
        return [
            PageResult(page, results.get(page_id), findings.get(page_id, ()))
            for page_id, page in zip(pages, self.sample[part], strict=True)
        ]


def criteria_with_findings(assessment: Assessment) -> frozenset[str]:
    """Return the numbers of the criteria that an automatic finding refers to, also a fixed or disputed one."""
    numbers = assessment.findings.values_list(Func(F("criteria"), function="unnest"), flat=True)
    return frozenset(numbers.distinct())
