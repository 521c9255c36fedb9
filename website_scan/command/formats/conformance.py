"""Output formats conformance and earl: results of the accessibility checks by success criterion, over all pages."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator, Sequence

from website_scan.command.gate import CommandReport, CommandResult
from website_scan.command.terminal import printable
from website_scan.findings import ScanType
from website_scan.messages import counted
from website_scan.report.conformance import CriterionResult, Result, conformance_of_reports
from website_scan.report.earl import earl_of_pages

WIDTH = 79
# A failed criterion names its checks; more pages than this are counted only.
MAX_PAGES = 3


def conformance_text(result: CommandResult) -> str:
    """Return the criteria that fail or need review, with their checks and pages, as text for terminals."""
    return "".join(f"{line}\n" for line in _lines(result))


def earl_document(result: CommandResult) -> str:
    """Return EARL 1.0 of the W3C as JSON-LD, with an assertion for each page and criterion."""
    pages = (
        (
            report.url,
            report.export["completed_at"],
            conformance_of_reports([report.export], result.standard, result.level),
        )
        for report in _judged(result)
    )
    return json.dumps(earl_of_pages(pages), indent=2) + "\n"


def _judged(result: CommandResult) -> list[CommandReport]:
    """Return the reports of accessibility that have results."""
    return [report for report in result.reports if report.type == ScanType.ACCESSIBILITY and report.error is None]


def _lines(result: CommandResult) -> Iterator[str]:
    reports = _judged(result)
    failed = sum(report.type == ScanType.ACCESSIBILITY for report in result.reports) - len(reports)
    if failed:
        yield f"{counted(failed, 'page')} could not be scanned."
    if not reports:
        yield "There are no results of accessibility."
        return
    conformance = conformance_of_reports([report.export for report in reports], result.standard, result.level)
    pages = reports[0].url if len(reports) == 1 else counted(len(reports), "page")
    yield from _wrap(f"{conformance['standard_name']}, level {conformance['level']}: {pages}")
    yield ""
    yield from _wrap(conformance["statement"])
    rows = conformance["criteria"]
    for wanted in (Result.FAILS, Result.NEEDS_REVIEW):
        if of_result := [row for row in rows if row["result"] == wanted]:
            yield ""
            yield wanted.label
            for row in of_result:
                yield from _criterion(row, shows_pages=len(reports) > 1)
    yield ""
    for quiet in (Result.NO_FAILURE, Result.NOT_TESTED):
        numbers = [row["clause"] for row in rows if row["result"] == quiet]
        if numbers:
            yield from _wrap(f"{quiet.label}: {', '.join(numbers)}", hanging=2)


def _criterion(row: CriterionResult, *, shows_pages: bool) -> Iterator[str]:
    yield ""
    yield from _wrap(f"{row['clause']} {row['name']} ({row['level']})", 2)
    for finding in row["failed"] or row["needs_review"]:
        places = f", {counted(finding['places'], 'place')}" if finding["places"] else ""
        yield from _wrap(f"{finding['title']}{places}", 4, hanging=2)
        if shows_pages:
            yield from _pages(finding["pages"], finding["pages_affected"])


def _pages(urls: Sequence[str], number: int) -> Iterator[str]:
    yield from (f"      {printable(url)}" for url in urls[:MAX_PAGES])
    if number > MAX_PAGES:
        yield f"      and {counted(number - MAX_PAGES, 'more page', 'more pages')}"


def _wrap(sentence: str, indent: int = 0, hanging: int = 0) -> list[str]:
    first, others = " " * indent, " " * (indent + hanging)
    return textwrap.wrap(
        printable(sentence),
        WIDTH,
        initial_indent=first,
        subsequent_indent=others,
        break_long_words=False,
        break_on_hyphens=False,
    )
