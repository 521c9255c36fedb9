"""Text for a site: each finding once with its pages, then a table of the pages, and a line for each type."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

from website_scan.command.formats.text import (
    MAX_PLACES,
    TYPE_WIDTH,
    Paint,
    TextLines,
    browser_sentences,
    finding_lines,
    score_style,
    section,
    totals,
)
from website_scan.command.gate import CommandReport, CommandResult
from website_scan.command.reported_page import ReportedPage, count_pages, noun_of, short_name
from website_scan.command.site_findings import SiteFinding, group_findings
from website_scan.command.terminal import printable
from website_scan.findings import ScanType

NO_SCORE = "-"
Item = TypeVar("Item")


def site_text(result: CommandResult, paint: Paint, width: int, *, is_quiet: bool = False) -> Iterator[str]:
    """Yield the lines of a site's reports, wrapped at `width` except for URLs and code.

    `is_quiet` omits accepted findings, checks that were left out, and the table of the pages.
    """
    lines = TextLines(paint, width)
    site = result.site
    start = site.start if site else result.reports[0].url
    judged = [report for report in result.reports if report.error is None]
    findings = group_findings(judged)
    for scan_type in dict.fromkeys(report.type for report in judged):
        yield from _type_lines([report for report in judged if report.type == scan_type], findings, lines, is_quiet)
    yield from _failures(result, lines)
    if not judged:
        return
    pages = list(dict.fromkeys(report.page for report in result.reports))
    yield ""
    yield paint("bold", f"{start}  {count_pages(pages)}")
    if not is_quiet:
        yield from _page_table(result.reports, pages, paint)
        yield ""
    yield from _type_summaries(judged, findings, paint)


def _type_lines(
    reports: Sequence[CommandReport], findings: Sequence[SiteFinding], lines: TextLines, is_quiet: bool
) -> Iterator[str]:
    scan_type = reports[0].type
    all_pages = [report.page for report in reports]
    own = [finding for finding in findings if finding.report.type == scan_type]
    yield ""
    counts = totals([finding.finding for finding in own]) or "no findings"
    yield lines.paint("bold", f"{scan_type}  {count_pages(all_pages)}  {counts}")
    if not is_quiet:
        for sentence in browser_sentences(reports[0].export):
            yield from lines.wrap(sentence, 2, "dim")
    for notice, noticed in _group((report.notice, report.page) for report in reports):
        yield from lines.wrap(f"{_capitalized(_where(noticed, all_pages))}: {notice}", 2, "warn")
    for finding in own:
        yield ""
        pages = f"{_capitalized(_where(finding.pages, all_pages))}."
        yield from finding_lines(finding.category, finding.finding, finding.duplicate, lines, pages)
    skipped = [
        (f"{check['name']}: {check['reason']}", report.page)
        for report in reports
        for check in report.export["skipped_checks"]
    ]
    entries = [f"{reason} ({_where(pages, all_pages)})" for reason, pages in _group(skipped)]
    yield from section("Could not run", "?", entries, lines)
    if is_quiet:
        return
    accepted = [
        (f"{check['title']} ({report.accepted[check['id']]})", report.page)
        for report in reports
        for _, check in report.findings(accepted=True)
    ]
    entries = [f"{title}, {_where(pages, all_pages)}" for title, pages in _group(accepted)]
    yield from section("Accepted", "-", entries, lines, "dim")
    omitted = dict.fromkeys(check["name"] for report in reports for check in report.export["omitted_checks"])
    yield from section("Left out without a browser", "-", list(omitted), lines, "dim")


def _failures(result: CommandResult, lines: TextLines) -> Iterator[str]:
    """Yield the errors of failed scans, each once with its pages."""
    failed = [report for report in result.reports if report.error is not None]
    for message, reports in _group((report.error["message"], report) for report in failed if report.error):
        pages = list(dict.fromkeys(report.page for report in reports))
        types = ", ".join(dict.fromkeys(report.type for report in reports))
        yield ""
        names = str(pages[0]) if len(pages) == 1 else f"{count_pages(pages)}, such as {pages[0]}"
        yield lines.paint("fail", f"{names}  {types}  not scanned")
        yield from lines.wrap(message, 2)


def _page_table(reports: Sequence[CommandReport], pages: Sequence[ReportedPage], paint: Paint) -> Iterator[str]:
    """Yield a line for each page, with its scores. Names are last, because they are not cut."""
    types = [scan_type for scan_type in ScanType if any(report.type == scan_type for report in reports)]
    scores = {
        (report.page, report.type): f"{report.score}{_grade(report)}" if report.error is None else NO_SCORE
        for report in reports
    }
    columns = [*(f"{scan_type:>{_column_width(scan_type)}}" for scan_type in types), noun_of(pages)]
    yield paint("dim", f"  {'  '.join(columns)}")
    for page in pages:
        row = "  ".join(f"{scores.get((page, scan_type), NO_SCORE):>{_column_width(scan_type)}}" for scan_type in types)
        yield printable(f"  {row}  {short_name(page, pages)}")


def _type_summaries(reports: Sequence[CommandReport], findings: Sequence[SiteFinding], paint: Paint) -> Iterator[str]:
    for scan_type in dict.fromkeys(report.type for report in reports):
        own = [finding.finding for finding in findings if finding.report.type == scan_type]
        lowest = min((report for report in reports if report.type == scan_type), key=lambda report: report.score or 0)
        score = paint(score_style(lowest), f"{f'lowest score {lowest.score:>3}/100{_grade(lowest)}':<23}")
        yield f"  {scan_type:<{TYPE_WIDTH}}  {score}  {totals(own) or 'no findings'}"


def _column_width(scan_type: str) -> int:
    return max(len(scan_type), len("100 A+"))


def _grade(report: CommandReport) -> str:
    """Return a space and the grade; empty if accepted findings have changed the score."""
    return f" {report.export['grade']}" if report.accepted_score is None else ""


def _capitalized(words: str) -> str:
    return words[:1].upper() + words[1:]


def _group(pairs: Iterable[tuple[str, Item]]) -> list[tuple[str, list[Item]]]:
    """Return items by text, in order, without those that have an empty text."""
    groups: dict[str, list[Item]] = {}
    for words, item in pairs:
        if words:
            groups.setdefault(words, []).append(item)
    return list(groups.items())


def _where(pages: Sequence[ReportedPage], all_pages: Sequence[ReportedPage]) -> str:
    """Return a text such as "on 5 of 20 pages: /, /a, /b and 2 more"."""
    if len(all_pages) == 1:
        return f"on {short_name(pages[0], all_pages)}"
    if len(pages) == len(all_pages):
        return f"on all {count_pages(all_pages)}, such as {short_name(pages[0], all_pages)}"
    names = ", ".join(short_name(page, all_pages) for page in pages[:MAX_PLACES])
    more = f" and {len(pages) - MAX_PLACES} more" if len(pages) > MAX_PLACES else ""
    return f"on {len(pages)} of {count_pages(all_pages)}: {names}{more}"
