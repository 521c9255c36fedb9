"""Results of a success criterion on each page of an assessment's sample, as all documents use them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sites.assessments.schemas import (
    AssessmentFindingJson,
    AssessmentPageJson,
    AssessmentReport,
    AssessmentResultJson,
    CriterionReport,
)
from website_scan.messages import counted


@dataclass(frozen=True, slots=True)
class PageResult:
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
    def failures(self) -> list[AssessmentFindingJson]:
        """Return the open automatic findings that fail the criterion."""
        return [finding for finding in self.open_findings if finding["has_failed"]]

    @property
    def is_outdated(self) -> bool:
        """Return True if the page has changed since a person found no failure on it."""
        return (
            self.result is not None
            and self.result["is_older_than_page"]
            and self.outcome in ("passed", "not_applicable")
        )


@dataclass(frozen=True, slots=True)
class CriterionResults:
    """Results of a criterion on all pages of the sample."""

    criterion: CriterionReport
    pages: Sequence[PageResult]

    @property
    def failed(self) -> list[PageResult]:
        return self._with("failed")

    @property
    def passed(self) -> list[PageResult]:
        return self._with("passed")

    @property
    def not_applicable(self) -> list[PageResult]:
        return self._with("not_applicable")

    @property
    def undecided(self) -> list[PageResult]:
        """Return the pages that a person still has to test: untested, cannot tell, or changed since the test."""
        return [one for one in self.pages if one.outcome in ("untested", "cannot_tell") or one.is_outdated]

    @property
    def is_decided(self) -> bool:
        """Return True if there are pages, and the result on each of them is known."""
        return bool(self.pages) and not self.undecided

    @property
    def is_applicable(self) -> bool:
        """Return False if the criterion is not applicable on any page."""
        return len(self.not_applicable) < len(self.pages) or not self.pages

    def _with(self, outcome: str) -> list[PageResult]:
        return [one for one in self.pages if one.outcome == outcome and not one.is_outdated]

    def summary(self) -> str:
        """Return sentences with the number of pages by result, such as "Failed on 1 page. Passed on 2 pages."."""
        untested = [one for one in self.undecided if one.outcome == "untested"]
        uncertain = [one for one in self.undecided if one.outcome == "cannot_tell"]
        outdated = [one for one in self.undecided if one.is_outdated]
        sentences = [
            f"{words} {counted(len(pages), 'page')}."
            for words, pages in (
                ("Failed on", self.failed),
                ("Passed on", self.passed),
                ("Not applicable on", self.not_applicable),
                ("The testers could not tell on", uncertain),
                ("Not tested on", untested),
                ("To be tested again, because of changes since the test, on", outdated),
            )
            if pages
        ]
        return " ".join(sentences) or "No page is in the sample."


def results_by_criterion(report: AssessmentReport) -> list[CriterionResults]:
    """Return the results of all criteria in the order of the standard."""
    return [_results_of(report, criterion) for criterion in report["criteria"]]


def _results_of(report: AssessmentReport, criterion: CriterionReport) -> CriterionResults:
    results = {result["page"]: result for result in criterion["results"]}
    findings: dict[int, list[AssessmentFindingJson]] = {}
    for finding in criterion["findings"]:
        findings.setdefault(finding["page"], []).append(finding)
    pages = [
        PageResult(page, results.get(page["number"]), findings.get(page["number"], ())) for page in report["sample"]
    ]
    return CriterionResults(criterion, pages)


def method_sentences(report: AssessmentReport) -> str:
    """Return sentences about the size of the sample, and about what people and automatic checks did."""
    results = [result["result"] for criterion in report["criteria"] for result in criterion["results"]]
    has_tests = any(result != "untested" for result in results)
    people = "People tested a sample of the website." if has_tests else "No person has tested the website yet."
    sample = report["sample"]
    states = sum(page["is_state"] for page in sample)
    parts = []
    if pages := len(sample) - states:
        parts.append(counted(pages, "page"))
    if states:
        parts.append(counted(states, "state of a page", "states of pages"))
    automatic = sum(bool(page["scan_id"]) for page in sample)
    checks = f" Automatic checks examined {counted(automatic, 'page')} of it." if automatic else ""
    return f"{people} The sample has {' and '.join(parts) or 'no pages'}.{checks}"


def evaluators_of(report: AssessmentReport) -> list[str]:
    """Return the names of the people who evaluate: as the assessment says, else of those who tested a page."""
    named = [line.strip() for line in report["assessment"]["evaluators"].splitlines() if line.strip()]
    testers = (
        result["tested_by"]
        for criterion in report["criteria"]
        for result in criterion["results"]
        if result["tested_by"]
    )
    return named or list(dict.fromkeys(testers))
