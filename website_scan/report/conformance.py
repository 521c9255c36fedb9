"""What automatic checks say about each success criterion of a standard.

A machine proves failures only. No sentence here says that a page conforms: a criterion without an automatic failure
still needs a person.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from functools import cache
from importlib.resources import files
from typing import Any, TypedDict

from website_scan.accessibility.standards import LEVELS, Standard, SuccessCriterion, required_criteria
from website_scan.json_types import Count, component
from website_scan.messages import counted
from website_scan.report.references import criterion
from website_scan.report.spreadsheets import cell
from website_scan.report_json import ExportJson, checks_of

MAX_PAGES = 5
DEFAULT_STANDARD, DEFAULT_LEVEL = Standard.WCAG_22, "AA"


class Result(StrEnum):
    """Result of the automatic checks of a success criterion."""

    FAILS = "fails"
    NEEDS_REVIEW = "needs-review"
    NO_FAILURE = "no-automatic-failure"
    NOT_TESTED = "not-tested"

    @property
    def label(self) -> str:
        return RESULT_LABELS[self]


RESULT_LABELS: Mapping[Result, str] = {
    Result.FAILS: "Fails",
    Result.NEEDS_REVIEW: "Needs review",
    Result.NO_FAILURE: "No automatic failure",
    Result.NOT_TESTED: "Not tested automatically",
}


@component("ConformanceCheck")
class CheckOfCriterion(TypedDict):
    """Check that concerns a success criterion, with the pages on which it has the result."""

    id: str
    title: str
    message: str
    places: Count
    pages_affected: Count
    pages: list[str]


@component("ConformanceCriterion")
class CriterionResult(TypedDict):
    """Result of a success criterion. `passed` are the IDs of checks that found no failure; they prove nothing."""

    number: str
    name: str
    level: str
    clause: str
    url: str
    result: str
    failed: list[CheckOfCriterion]
    needs_review: list[CheckOfCriterion]
    passed: list[str]
    could_not_run: list[str]


@component("Conformance")
class Conformance(TypedDict):
    """Results of all criteria that a standard requires at a level, for one or more pages."""

    standard: str
    standard_name: str
    level: str
    pages: Count
    statement: str
    failed_criteria: dict[str, list[str]]
    criteria: list[CriterionResult]


class ConformanceOfPages:
    """Joins results of accessibility checks on one or more pages by success criterion."""

    def __init__(self, pages: int = 0) -> None:
        self._pages = pages
        # Checks by ID, for each criterion.
        self._failed: dict[str, dict[str, CheckOfCriterion]] = {}
        self._undecided: dict[str, dict[str, CheckOfCriterion]] = {}
        self._passed: dict[str, dict[str, None]] = {}
        self._skipped: dict[str, None] = {}

    def add(self, report: ExportJson) -> None:
        """Add the accessibility report of a page."""
        self._pages += 1
        for _, check in checks_of(report):
            if check["status"] == "pass":
                self.add_pass(check["id"], check["references"])
                continue
            result: CheckOfCriterion = {
                "id": check["id"],
                "title": check["title"],
                "message": check["message"],
                "places": sum(table["total"] for table in check["places"]),
                "pages_affected": 1,
                "pages": [report["url"]],
            }
            self.add_finding(result, check["references"], has_failed=check["status"] == "fail")
        for skipped in report["skipped_checks"]:
            self._skipped[skipped["id"]] = None

    def add_pass(self, id: str, references: Iterable[str]) -> None:
        """Add a check that found nothing on a page."""
        for number in criteria_of(references):
            self._passed.setdefault(number, {})[id] = None

    def add_finding(self, finding: CheckOfCriterion, references: Iterable[str], *, has_failed: bool) -> None:
        """Add a finding of one or more pages. A warning leaves the criterion undecided."""
        for number in criteria_of(references):
            findings = (self._failed if has_failed else self._undecided).setdefault(number, {})
            known = findings.get(finding["id"])
            if known is None:
                findings[finding["id"]] = {**finding, "pages": finding["pages"][:MAX_PAGES]}
            else:
                known["places"] += finding["places"]
                known["pages_affected"] += finding["pages_affected"]
                known["pages"] = [*known["pages"], *finding["pages"]][:MAX_PAGES]

    def conformance(self, standard: Standard = DEFAULT_STANDARD, level: str = DEFAULT_LEVEL) -> Conformance:
        """Return the results of all criteria that the standard requires at this level."""
        level = LEVELS[min(LEVELS.index(level), LEVELS.index(standard.highest_level))]
        results = [self._result(one, standard) for one in required_criteria(standard, level)]
        failed = {
            level: [row["number"] for row in results if row["result"] == Result.FAILS and row["level"] == level]
            for level in LEVELS[: LEVELS.index(level) + 1]
        }
        return {
            "standard": standard.value,
            "standard_name": standard.label,
            "level": level,
            "pages": self._pages,
            "statement": statement(standard, failed, results) if self._pages else "No page was tested.",
            "failed_criteria": failed,
            "criteria": results,
        }

    def _result(self, one: SuccessCriterion, standard: Standard) -> CriterionResult:
        failed = list(self._failed.get(one.number, {}).values())
        undecided = list(self._undecided.get(one.number, {}).values())
        passed = list(self._passed.get(one.number, {}))
        if failed:
            result = Result.FAILS
        elif undecided:
            result = Result.NEEDS_REVIEW
        else:
            result = Result.NO_FAILURE if passed else Result.NOT_TESTED
        return {
            "number": one.number,
            "name": one.name,
            "level": one.level,
            "clause": one.clause(standard),
            "url": one.url,
            "result": result.value,
            "failed": failed,
            "needs_review": undecided,
            "passed": passed,
            "could_not_run": self._skipped_checks(one) if self._skipped else [],
        }

    def _skipped_checks(self, one: SuccessCriterion) -> list[str]:
        return [id for id in checks_by_criterion().get(one.number, ()) if id in self._skipped]


def criteria_of(references: Iterable[str]) -> list[str]:
    """Return the numbers of the success criteria among a check's references."""
    links = map(criterion, references)
    return [link.number for link in links if link is not None]


def failure_of(report: ExportJson) -> str:
    """Return a sentence about the criteria of WCAG 2.2 that an accessibility report's failed checks prove to fail.

    Empty if there are none at levels A and AA.
    """
    return failure_of_checks(check["references"] for _, check in checks_of(report) if check["status"] == "fail")


def failure_of_checks(
    references: Iterable[Sequence[str]], standard: Standard = DEFAULT_STANDARD, level: str = DEFAULT_LEVEL
) -> str:
    """Return a sentence about the criteria, up to the level, that failed checks with these references prove to fail.

    Empty if there are none.
    """
    failed = {number for texts in references for number in criteria_of(texts)}
    required = [one for one in required_criteria(standard, level) if one.number in failed]
    return _failure(standard, {level: [one.number for one in required if one.level == level] for level in LEVELS})


def without_failure(standard: Standard = DEFAULT_STANDARD, level: str = DEFAULT_LEVEL) -> str:
    """Return sentences for pages on which no check failed: what checks cover of the criteria, and what people test."""
    required = required_criteria(standard, level)
    covered = sum(one.number in checks_by_criterion() for one in required)
    return (
        f"{_nothing_failed(standard, level)} Checks cover parts of {covered} of its {len(required)} criteria; "
        f"a person still has to test all {len(required)}."
    )


def _nothing_failed(standard: Standard, level: str) -> str:
    return f"No automatic check found a failure of {standard.at_level(level)}."


def conformance_of_reports(
    reports: Iterable[ExportJson], standard: Standard = DEFAULT_STANDARD, level: str = DEFAULT_LEVEL
) -> Conformance:
    """Return what the accessibility reports of pages say about the criteria of a standard."""
    pages = ConformanceOfPages()
    for report in reports:
        pages.add(report)
    return pages.conformance(standard, level)


@cache
def references_by_check() -> Mapping[str, Sequence[str]]:
    """Return the references of all accessibility checks by check ID."""
    return {check["id"]: check["references"] for check in _catalogue()}


@cache
def _catalogue() -> Sequence[Mapping[str, Any]]:
    """Return the accessibility checks of the generated catalogue, because importing the checks takes long."""
    catalogue = json.loads((files("website_scan") / "checks.json").read_text(encoding="utf-8"))
    return [check for check in catalogue["checks"] if check["type"] == "accessibility"]


@cache
def checks_by_criterion() -> Mapping[str, Sequence[str]]:
    """Return the IDs of the accessibility checks of pages that refer to each success criterion, by its number.

    Checks of journeys only are left out, because they say nothing about a page.
    """
    ids: dict[str, list[str]] = {}
    for check in _catalogue():
        for number in () if check["journeys_only"] else criteria_of(check["references"]):
            ids.setdefault(number, []).append(check["id"])
    return ids


def statement(standard: Standard, failed: Mapping[str, Sequence[str]], results: Sequence[CriterionResult]) -> str:
    """Return sentences about the criteria that fail, lowest level first, and about those that remain to be tested."""
    untested = sum(row["result"] != Result.FAILS for row in results)
    remaining = f"{counted(untested, 'criterion', 'criteria')} of {len(results)} still need a person's test."
    if untested == 1:
        remaining = remaining.replace("need", "needs")
    return f"{_failure(standard, failed) or _nothing_failed(standard, list(failed)[-1])} {remaining}"


def _failure(standard: Standard, failed: Mapping[str, Sequence[str]]) -> str:
    """Return a sentence about the criteria that fail, by level, or an empty string."""
    levels = [f"level {level}: {', '.join(numbers)}" for level, numbers in failed.items() if numbers]
    return f"Fails {standard.label}, {'; '.join(levels)}." if levels else ""


CSV_COLUMNS = ("clause", "name", "level", "result", "checks", "pages", "url")


def conformance_csv(conformance: Conformance) -> str:
    """Return the results as CSV, with one line for each criterion. Cells are safe from formula injection."""
    output = io.StringIO()
    writer = csv.writer(output, lineterminator="\r\n")
    writer.writerow(CSV_COLUMNS)
    for row in conformance["criteria"]:
        findings = row["failed"] or row["needs_review"]
        cells: dict[str, object] = {
            **row,
            "result": Result(row["result"]).label,
            "checks": "\n".join(f"{finding['title']}: {finding['message']}" for finding in findings),
            "pages": " ".join(dict.fromkeys(page for finding in findings for page in finding["pages"])),
        }
        writer.writerow([cell(cells[column]) for column in CSV_COLUMNS])
    return output.getvalue()
