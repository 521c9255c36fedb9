"""Comparison of a report with the previous one, in a sentence below its score."""

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
    """Comparison with the previous report.

    `obstacle` says why the scores cannot be compared. Without one, `points` is the difference, and `counts` are the
    changes of findings, with those that explain the difference first. `explained` is False if all of them point the
    other way.
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
    worsened = [*_count(changes.new, "new finding"), *_count(changes.worse, "worse")]
    improved = [*_count(changes.fixed, "fixed"), *_count(changes.better, "better")]
    counts = (*improved, *worsened) if points > 0 else (*worsened, *improved)
    rest = ""
    if changes.is_empty:
        rest = "the same findings, apart from muted ones" if changes.muted else "the same findings"
    return Since(
        when, "", points, counts, explained=not points or bool(improved if points > 0 else worsened), rest=rest
    )


def _count(changes: tuple[Change, ...], word: str) -> list[Count]:
    text = counted(len(changes), word) if word.endswith("finding") else f"{len(changes)} {word}"
    return [Count(text, changes[0], len(changes) > 1)] if changes else []


def _obstacle(changes: Diff[ExportJson]) -> str:
    """Return why the scores do not come from the same checks, or an empty string if they do."""
    if not changes.same_rules:
        return "the rules changed"
    if not changes.same_browser:
        return "only one of the two was made in a browser"
    if _skipped(changes.before) != _skipped(changes.after):
        return "not the same checks could run"
    return ""


def _skipped(export: ExportJson) -> set[str]:
    return {check["id"] for check in export["skipped_checks"]}


def when_before(before: datetime, after: datetime) -> str:
    """Return the date of the previous report as text, or its time if both reports are of the same day."""
    if before.date() == after.date():
        return f"{before:%H:%M} UTC"
    return f"{before:%-d %B}" if before.year == after.year else f"{before:%-d %B %Y}"
