"""Output format text of all pages of a command or of the library."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence

from website_scan.command.formats.site_text import site_text
from website_scan.command.formats.text import DEFAULT_WIDTH, Paint, join_lines, plain, summary, text
from website_scan.command.gate import CommandReport, CommandResult


def text_document(result: CommandResult, *, is_grouped: bool = False, is_quiet: bool = False) -> str:
    """Return all reports as text without colours. If `is_grouped`, each finding of a site is listed once."""
    closing = closing_text(result, plain, DEFAULT_WIDTH, is_grouped=is_grouped, is_quiet=is_quiet)
    if is_grouped:
        return closing
    pages = itertools.groupby(result.reports, lambda report: report.page)
    texts = [words for _, reports in pages for words in page_texts([*reports], plain, DEFAULT_WIDTH, is_quiet=is_quiet)]
    return "\n".join(texts) + closing


def page_texts(reports: Sequence[CommandReport], paint: Paint, width: int, *, is_quiet: bool) -> Iterator[str]:
    """Yield the reports of a page as text. Failed scans with the same error are one text."""
    for report, types in _group_failures(reports):
        yield join_lines(text(report, paint, width=width, is_quiet=is_quiet, others=reports, types=types))


def closing_text(result: CommandResult, paint: Paint, width: int, *, is_grouped: bool, is_quiet: bool) -> str:
    """Return the text after all pages: the scores, or all findings of a site. May be empty."""
    if is_grouped:
        lines = site_text(result, paint, width, is_quiet=is_quiet)
        return join_lines(itertools.dropwhile(lambda line: not line, lines))
    scores = list(summary(result.reports, paint))
    return join_lines(["", *scores]) if scores else ""


def _group_failures(reports: Iterable[CommandReport]) -> list[tuple[CommandReport, list[str]]]:
    """Return reports with their scan types.

    Failed reports of one page with the same error are merged into one.
    """
    groups: dict[object, tuple[CommandReport, list[str]]] = {}
    for report in reports:
        error = report.error
        key = (report.page, error["code"], error["message"]) if error is not None else id(report)
        groups.setdefault(key, (report, []))[1].append(report.type)
    return list(groups.values())
