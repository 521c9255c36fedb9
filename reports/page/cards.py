"""A check as a card of the report page.

A report has a hundred of them, so their HTML is made with `reports.page.markup`, not by a template.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.safestring import SafeString

from reports.page.evidence import Table, tables
from reports.page.markup import NOTHING, fill, fill_each
from reports.page.references import Criterion, Reference, criterion, reference

EXTERNAL = SafeString('rel="noopener noreferrer nofollow"')

CARD = (
    '<li class="check is-{}" id="{}"><svg class="icon" aria-hidden="true"><use href="#icon-{}"/></svg>'
    '<div class="check-body"><div class="check-head"><h4 id="name-{}">{}</h4>{}</div><p class="message">{}</p>{}{}'
    '<p class="sources"><code>{}</code>{}</p></div></li>'
)
# The button is static/js/site.js's; what it copies can be selected as well.
FIX = (
    '<div class="fix"><p><strong>How to fix it</strong> <span id="fix-{}">{}</span></p>'
    '<button class="copy" type="button" data-copy="fix-{}" aria-describedby="{}" hidden>Copy</button></div>'
)
EVIDENCE = '<details><summary>Evidence <span class="count">{}</span></summary>{}</details>'
TABLE = (
    '<div class="scroll" role="region" aria-label="Evidence of {}{}" tabindex="0"><table><thead><tr>{}</tr></thead>'
    "<tbody>{}</tbody></table></div>"
)


@dataclass(frozen=True, slots=True)
class Check:
    """One check."""

    id: str
    name: str
    status: str
    severity: str | None
    message: str
    fix: str | None
    points: float
    evidence: tuple[Table, ...]
    criteria: tuple[Criterion, ...]
    references: tuple[Reference, ...]

    @property
    def anchor(self) -> str:
        """The card's ID on the page."""
        return f"check-{self.id}"

    @property
    def card(self) -> SafeString:
        """The card: a list item."""
        return fill(
            CARD,
            *(self.status, self.anchor, self.status, self.id, self.name, self.tags, self.message),
            fill(FIX, self.id, self.fix, self.id, f"name-{self.id}") if self.fix else NOTHING,
            _evidence(self.name, self.evidence) if self.evidence else NOTHING,
            self.id,
            fill_each("{}", map(_reference, self.references)),
        )

    @property
    def tags(self) -> SafeString:
        """Severity, points to win, and success criteria."""
        found = []
        if self.severity:
            found.append(fill('<span class="tag {}">{}</span>', self.severity, self.severity.capitalize()))
        if self.points > 0:
            found.append(fill('<span class="tag points">+{}</span>', points(self.points)))
        found += (_criterion(each) for each in self.criteria)
        return fill('<p class="tags">{}</p>', fill_each("{}", found)) if found else NOTHING


def check_of(exported: Mapping[str, Any]) -> Check:
    """From a check of the JSON export."""
    named = [(text, criterion(text)) for text in exported["references"]]
    criteria = tuple(found for _, found in named if found)
    return Check(
        id=exported["id"],
        name=exported["title"],
        status=exported["status"],
        severity=exported["severity"],
        message=exported["message"],
        fix=exported.get("fix"),
        points=exported["points"],
        evidence=tables(exported["evidence"], without=("wcag", "level") if criteria else ()),
        criteria=criteria,
        references=tuple(reference(text) for text, found in named if not found),
    )


def points(value: float) -> str:
    """Such as "1 point" and "2.5 points"."""
    return f"{value:g} point{'' if value == 1 else 's'}"


def _evidence(name: str, found: tuple[Table, ...]) -> SafeString:
    count = sum(len(table.rows) for table in found)
    return fill(EVIDENCE, count, fill_each("{}", (_table(name, table, at) for at, table in enumerate(found, 1))))


def _table(name: str, table: Table, number: int) -> SafeString:
    pairs = table.pairs
    if pairs is not None:
        body = fill_each("{}", (fill("<div><dt>{}</dt><dd>{}</dd></div>", *pair) for pair in pairs))
        return fill('<dl class="pairs">{}</dl>', body) if pairs else NOTHING
    rows = (fill_each("<td>{}</td>", row) for row in table.rows)
    part = f", part {number}" if number > 1 else ""
    return fill(TABLE, name, part, fill_each('<th scope="col">{}</th>', table.columns), fill_each("<tr>{}</tr>", rows))


def _criterion(found: Criterion) -> SafeString:
    text = f"WCAG {found.number} {found.level}"
    if found.url is None:
        return fill('<span class="tag">{}</span>', text)
    return fill('<a class="tag" href="{}" title="{}" {}>{}</a>', found.url, found.name, EXTERNAL, text)


def _reference(source: Reference) -> SafeString:
    if source.url is None:
        return fill(" <span>{}</span>", source.text)
    return fill(' <a href="{}" {}>{}</a>', source.url, EXTERNAL, source.text)
