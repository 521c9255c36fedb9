"""Output formats with the results of all pages by success criterion: text for terminals, and EARL.

Accepted findings count, because accepting a finding changes nothing on the page.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from urllib.parse import quote

from website_scan.accessibility.standards import Standard
from website_scan.command.formats.text import (
    DEFAULT_WIDTH,
    MAX_PLACES,
    Paint,
    TextLines,
    browser_sentences,
    join_lines,
    plain,
    section,
)
from website_scan.command.gate import CommandReport, CommandResult
from website_scan.command.reported_page import ReportedPage, count_pages, noun_of, short_name
from website_scan.findings import ScanType
from website_scan.messages import agreeing, counted
from website_scan.report.conformance import (
    CheckOfCriterion,
    Conformance,
    CriterionResult,
    Result,
    conformance_of_reports,
)
from website_scan.report.earl import earl_of_pages

PLACES_WIDTH = 8
NO_PLACE = "-"
STATE = "urn:x-website-scan:state:"
LISTED = (Result.FAILS, Result.NEEDS_REVIEW)


def conformance(result: CommandResult) -> str:
    """Return the results as text without colours."""
    return join_lines(conformance_lines(result, plain, DEFAULT_WIDTH))


def earl_document(result: CommandResult) -> str:
    """Return the results of all judged pages as EARL 1.0 in JSON-LD, in ASCII."""
    pages, states = [], {}
    for report in _judged(result):
        subject = report.export.get("final_url") or report.url
        if report.page.state:
            # States of a journey may share an address, so each has a URI of its own.
            names = ":".join(quote(name, safe="") for name in (report.page.journey, report.page.state))
            states[STATE + names] = (report.page.state_name, subject)
            subject = STATE + names
        pages.append((subject, report.export["completed_at"], _conformance([report], result)))
    return json.dumps(earl_of_pages(pages, states), indent=2) + "\n"


def conformance_lines(result: CommandResult, paint: Paint, width: int) -> Iterator[str]:
    """Yield the criteria that fail first, then those that need review, with their checks, places and pages."""
    lines = TextLines(paint, width)
    judged = _judged(result)
    if judged:
        yield from _judged_lines(_conformance(judged, result), judged, lines)
    else:
        yield paint("bold", "No page was scanned for accessibility.")
    for report in result.reports:
        if report.type == ScanType.ACCESSIBILITY and report.error is not None:
            yield ""
            yield paint("fail", f"{report.page}  {report.type}  not scanned")
            yield from lines.wrap(report.error["message"], 2)


def _judged_lines(conformance: Conformance, judged: Sequence[CommandReport], lines: TextLines) -> Iterator[str]:
    pages = [report.page for report in judged]
    rows = {result: [row for row in conformance["criteria"] if row["result"] == result] for result in Result}
    standard = Standard(conformance["standard"]).at_level(conformance["level"])
    yield lines.paint("bold", f"{pages[0]}  {count_pages(pages)}  {standard}")
    yield from lines.wrap(conformance["statement"], 2, "fail" if rows[Result.FAILS] else "")
    for report in judged:
        if report.notice:
            yield from lines.wrap(f"{report.addresses}: {report.notice}", 2, "warn")
    for sentence in dict.fromkeys(sentence for report in judged for sentence in browser_sentences(report.export)):
        yield from lines.wrap(sentence, 2, "dim")
    if accepted := sum(len(report.accepted) for report in judged):
        yield from lines.wrap(f"{counted(accepted, 'accepted finding')} included.", 2, "dim")
    for result in LISTED:
        yield from _table(result, rows[result], pages, lines)
    skipped = [f"{check['name']}: {check['reason']}" for report in judged for check in report.export["skipped_checks"]]
    yield from section("Could not run", "?", list(dict.fromkeys(skipped)), lines)
    yield ""
    counts = [
        f"{result.label}: {counted(len(rows[result]), 'criterion', 'criteria')}."
        for result in Result
        if result not in LISTED
    ]
    yield from lines.wrap(" ".join(counts), 0)


def _table(
    result: Result, rows: Sequence[CriterionResult], pages: Sequence[ReportedPage], lines: TextLines
) -> Iterator[str]:
    if not rows:
        return
    yield ""
    yield lines.paint("bold", f"{result.label} ({len(rows)} {agreeing(len(rows), 'criterion', 'criteria')})")
    yield lines.paint("dim", f"  {'places':>{PLACES_WIDTH}}  {_header(pages)}  check")
    style = "fail" if result is Result.FAILS else "warn"
    for row in rows:
        yield lines.paint(style, f"  {row['clause']} {row['name']} ({row['level']})")
        for check in row["failed"]:
            yield from _check_lines(check, "", pages, lines)
        for check in row["needs_review"]:
            yield from _check_lines(check, " needs review" if row["failed"] else "", pages, lines)


def _check_lines(
    check: CheckOfCriterion, suffix: str, pages: Sequence[ReportedPage], lines: TextLines
) -> Iterator[str]:
    places = f"{check['places']:,}" if check["places"] else NO_PLACE
    columns = f"{places:>{PLACES_WIDTH}}  {check['pages_affected']:>{len(_header(pages))},}  "
    by_name = {str(page): page for page in pages}
    names = ", ".join(short_name(by_name[name], pages) for name in check["pages"][:MAX_PLACES])
    unnamed = check["pages_affected"] - len(check["pages"][:MAX_PLACES])
    more = f" and {unnamed:,} more" if unnamed else ""
    yield from lines.wrap(f"{check['title']} ({check['id']}){suffix}: {names}{more}", 2, first=columns)


def _header(pages: Sequence[ReportedPage]) -> str:
    """Return the header of the column with the number of pages or states."""
    return f"{noun_of(pages)}s"


def _judged(result: CommandResult) -> list[CommandReport]:
    return [report for report in result.reports if report.type == ScanType.ACCESSIBILITY and report.error is None]


def _conformance(reports: Sequence[CommandReport], result: CommandResult) -> Conformance:
    # The results identify pages by URL, but several states of a journey may have the same one.
    exports = [report.export | {"url": str(report.page)} for report in reports]
    return conformance_of_reports(exports, result.target.standard, result.target.level)
