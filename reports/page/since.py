"""Summary of the changes since the previous report, shown below the score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Generic, TypeVar

from msgspec import Struct

from infrastructure.web.time_zones import in_zone, with_zone
from website_scan.report.diff import Change, Diff
from website_scan.report_json import ExportJson

T = TypeVar("T")

MAX_NAMED = 3
DAY = "%Y-%m-%d"


class NamedFindings(Struct, Generic[T], frozen=True):
    """Findings with the same fate: the first by name, and the number of all others.

    `label` is "Fixed", "Left" or "New".
    """

    label: str
    named: tuple[T, ...]
    more: int

    @property
    def total(self) -> int:
        return len(self.named) + self.more


def name_first(findings_by_label: Mapping[str, Sequence[T]]) -> tuple[NamedFindings[T], ...]:
    """Return the groups that are not empty, with their first three findings by name."""
    return tuple(
        NamedFindings(label, tuple(findings[:MAX_NAMED]), max(0, len(findings) - MAX_NAMED))
        for label, findings in findings_by_label.items()
        if findings
    )


class Comparison(Struct, frozen=True):
    """Comparison with the previous report.

    `obstacle` says why the scores cannot be compared. Without one, `points` is the difference, and `groups` are the
    fixed, remaining and new findings without muted ones. Empty groups are left out.
    """

    when: str
    obstacle: str
    points: int
    groups: tuple[NamedFindings[Change], ...]


def since(changes: Diff[ExportJson]) -> Comparison:
    when = previous_report_time(changes.before_at, changes.after_at)
    if obstacle := _obstacle(changes):
        return Comparison(when, obstacle, 0, ())
    left = sorted((*changes.worse, *changes.better, *changes.same), key=lambda change: change.priority)
    groups = name_first({"Fixed": changes.fixed, "Left": left, "New": changes.new})
    return Comparison(when, "", changes.points or 0, groups)


def _obstacle(changes: Diff[ExportJson]) -> str:
    """Return why the scores are not comparable, or an empty string if they are."""
    if not changes.same_rules:
        return "the rules changed"
    if not changes.same_categories:
        return "not the same categories were judged"
    if not changes.same_browser:
        return "only one of the two was made in a browser"
    if _skipped_check_ids(changes.before) != _skipped_check_ids(changes.after):
        return "not the same checks could run"
    return ""


def _skipped_check_ids(export: ExportJson) -> set[str]:
    return {check["id"] for check in export["skipped_checks"]}


def previous_report_time(before: datetime, after: datetime) -> str:
    """Return the date of the previous report in the reader's time zone as text.

    Returns the time and the zone's name instead if both reports are from the same day.
    """
    if in_zone(before, DAY) == in_zone(after, DAY):
        return with_zone(before, "%H:%M")
    return in_zone(before, "%-d %B" if in_zone(before, "%Y") == in_zone(after, "%Y") else "%-d %B %Y")
