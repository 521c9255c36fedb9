"""Results of pages by success criterion of an accessibility standard."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

from msgspec import Struct

from website_scan.findings import ScanType
from website_scan.library.errors import InvalidOption
from website_scan.library.options import parse_standard
from website_scan.library.results import PageResult, sources
from website_scan.report import conformance as engine

CriterionResult = Literal["fails", "needs-review", "no-automatic-failure", "not-tested"]
RESULTS: Sequence[CriterionResult] = ("fails", "needs-review", "no-automatic-failure", "not-tested")


class CriterionCheck(Struct, frozen=True):
    """Check that concerns a criterion, with the first pages that have its finding. `pages_affected` counts all."""

    check: str
    title: str
    message: str
    places: int
    pages_affected: int
    pages: tuple[str, ...]


class Criterion(Struct, frozen=True):
    """Success criterion with the result of the automatic checks.

    `clause` is its number in the standard. `passed` and `could_not_run` are IDs of checks; checks that found no failure
    prove nothing.
    """

    number: str
    name: str
    level: str
    clause: str
    url: str
    result: CriterionResult
    failed: tuple[CriterionCheck, ...]
    needs_review: tuple[CriterionCheck, ...]
    passed: tuple[str, ...]
    could_not_run: tuple[str, ...]


class Conformance(Struct, frozen=True):
    """Results of all criteria that a standard requires at a level. `pages` counts the judged pages.

    Automatic checks prove failures only: no result says that a page conforms.
    """

    standard: str
    standard_name: str
    level: str
    pages: int
    statement: str
    criteria: tuple[Criterion, ...]

    @property
    def failed(self) -> tuple[Criterion, ...]:
        """Criteria that fail."""
        return tuple(criterion for criterion in self.criteria if criterion.result == "fails")


def conformance(
    results: PageResult | Iterable[PageResult], *, standard: str = "wcag22", level: str = "AA"
) -> Conformance:
    """Return what the accessibility reports of pages say about the criteria of a standard.

    `standard` is wcag22, wcag21, wcag20, en301549 or section508, and `level` A, AA or AAA. Raises InvalidOption, also
    if no page has an accessibility report.
    """
    parsed_standard, parsed_level = parse_standard(standard, level)
    exports = [
        report.export | {"url": str(report.page)}
        for report in sources(results)
        if report.type == ScanType.ACCESSIBILITY and report.error is None
    ]
    if not exports:
        raise InvalidOption("No page was scanned for accessibility.")
    whole = engine.conformance_of_reports(exports, parsed_standard, parsed_level)
    return Conformance(
        standard=whole["standard"],
        standard_name=whole["standard_name"],
        level=whole["level"],
        pages=whole["pages"],
        statement=whole["statement"],
        criteria=tuple(map(_criterion, whole["criteria"])),
    )


def _criterion(row: engine.CriterionResult) -> Criterion:
    return Criterion(
        number=row["number"],
        name=row["name"],
        level=row["level"],
        clause=row["clause"],
        url=row["url"],
        result=next(result for result in RESULTS if result == row["result"]),
        failed=tuple(map(_check, row["failed"])),
        needs_review=tuple(map(_check, row["needs_review"])),
        passed=tuple(row["passed"]),
        could_not_run=tuple(row["could_not_run"]),
    )


def _check(check: engine.CheckOfCriterion) -> CriterionCheck:
    return CriterionCheck(
        check["id"], check["title"], check["message"], check["places"], check["pages_affected"], tuple(check["pages"])
    )
