"""Accessibility statement as Markdown, which is readable as plain text, too."""

from __future__ import annotations

from collections.abc import Iterator

from sites.assessments.documents.statement import Section, Statement, accessibility_statement
from sites.models import Assessment
from website_scan.report.markup import escaped


def statement_markdown(assessment: Assessment) -> Iterator[str]:
    """Yield the draft of the statement as Markdown. Texts by people are escaped."""
    yield "\n\n".join(_blocks(accessibility_statement(assessment))) + "\n"


def _blocks(statement: Statement) -> Iterator[str]:
    yield f"# {escaped(statement.title)}"
    yield from map(escaped, statement.introduction)
    for section in statement.sections:
        yield from _section(section)


def _section(section: Section) -> Iterator[str]:
    yield f"{'#' * section.level} {escaped(section.heading)}"
    yield from map(escaped, section.paragraphs)
    if section.items:
        yield "\n".join(f"- {escaped(item.text)}" for item in section.items)
