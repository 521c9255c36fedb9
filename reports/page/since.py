"""The difference of a report to the one before, in a sentence for its verdict."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from website_scan.messages import counted
from website_scan.report.diff import Change, Diff
from website_scan.report_json import ExportJson


@dataclass(frozen=True, slots=True)
class Count:
    """Number of findings that changed in one way, in words, and those of highest priority."""

    text: str
    first: Change
    more: bool


@dataclass(frozen=True, slots=True)
class Since:
    """Difference to the report before.

    `obstacle` tells why the scores cannot be compared; without one, `points` is the difference, and `counts` are the
    changes of findings, first those that explain it. `explained` is False if they all point the other way.
    """

    when: str
    obstacle: str
    points: int
    counts: tuple[Count, ...]
    explained: bool
    rest: str


def since(changes: Diff[ExportJson]) -> Since:
    when = when_before(changes.before_at, changes.after_at)
    if obstacle := _obstacle(changes):
        return Since(when, obstacle, 0, (), explained=True, rest="")
    points = changes.points or 0
    bad = [*_count(changes.new, "new finding"), *_count(changes.worse, "worse")]
    good = [*_count(changes.fixed, "fixed"), *_count(changes.better, "better")]
    counts = (*good, *bad) if points > 0 else (*bad, *good)
    rest = ""
    if changes.is_empty:
        rest = "the same findings, apart from muted ones" if changes.muted else "the same findings"
    return Since(when, "", points, counts, explained=not points or bool(good if points > 0 else bad), rest=rest)


def _count(changes: tuple[Change, ...], word: str) -> list[Count]:
    text = counted(len(changes), word) if word.endswith("finding") else f"{len(changes)} {word}"
    return [Count(text, changes[0], len(changes) > 1)] if changes else []


def _obstacle(changes: Diff[ExportJson]) -> str:
    """Return why the scores do not come from the same checks; empty if they do."""
    if not changes.same_rules:
        return "the rules changed"
    if not changes.same_browser:
        return "only one of the two was made in a browser"
    if _skipped(changes.before) != _skipped(changes.after):
        return "not the same checks could run"
    return ""


def _skipped(document: ExportJson) -> set[str]:
    return {each["id"] for each in document["skipped_checks"]}


def when_before(before: datetime, after: datetime) -> str:
    """Return when the report before was made: the day, or the time if it is the same day."""
    if before.date() == after.date():
        return f"{before:%H:%M} UTC"
    return f"{before:%-d %B}" if before.year == after.year else f"{before:%-d %B %Y}"
