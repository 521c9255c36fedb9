"""Summary of the changes since the previous report, shown below the score."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from website_scan.messages import counted
from website_scan.report.diff import Change, Diff
from website_scan.report_json import ExportJson


@dataclass(frozen=True, slots=True)
class ChangeCount:
    """Number of findings that are new, worse, fixed or better, with the first finding."""

    text: str
    first: Change
    more: bool


@dataclass(frozen=True, slots=True)
class Comparison:
    """Comparison with the previous report.

    `obstacle` says why the scores cannot be compared. Without one, `points` is the difference, and `counts` are the
    changes of findings, with those that explain the difference first. `explained` is False if all of them point the
    other way.
    """

    when: str
    obstacle: str
    points: int
    counts: tuple[ChangeCount, ...]
    explained: bool
    rest: str


def since(changes: Diff[ExportJson]) -> Comparison:
    when = previous_report_time(changes.before_at, changes.after_at)
    if obstacle := _obstacle(changes):
        return Comparison(when, obstacle, 0, (), explained=True, rest="")
    points = changes.points or 0
    worsened = [*_change_count(changes.new, "new finding"), *_change_count(changes.worse, "worse")]
    improved = [*_change_count(changes.fixed, "fixed"), *_change_count(changes.better, "better")]
    counts = (*improved, *worsened) if points > 0 else (*worsened, *improved)
    rest = ""
    if changes.is_empty:
        rest = "the same findings, apart from muted ones" if changes.muted else "the same findings"
    return Comparison(
        when, "", points, counts, explained=not points or bool(improved if points > 0 else worsened), rest=rest
    )


def _change_count(changes: tuple[Change, ...], word: str) -> list[ChangeCount]:
    text = counted(len(changes), word) if word.endswith("finding") else f"{len(changes)} {word}"
    return [ChangeCount(text, changes[0], len(changes) > 1)] if changes else []


def _obstacle(changes: Diff[ExportJson]) -> str:
    """Return why the scores are not comparable, or an empty string if they are."""
    if not changes.same_rules:
        return "the rules changed"
    if not changes.same_browser:
        return "only one of the two was made in a browser"
    if _skipped_check_ids(changes.before) != _skipped_check_ids(changes.after):
        return "not the same checks could run"
    return ""


def _skipped_check_ids(export: ExportJson) -> set[str]:
    return {check["id"] for check in export["skipped_checks"]}


def previous_report_time(before: datetime, after: datetime) -> str:
    """Return the date of the previous report as text.

    Returns the time instead if both reports are from the same day.
    """
    if before.date() == after.date():
        return f"{before:%H:%M} UTC"
    return f"{before:%-d %B}" if before.year == after.year else f"{before:%-d %B %Y}"
