"""Compare two results of a page."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from msgspec import Struct

from website_scan.library.errors import InvalidOption
from website_scan.library.options import ScanType
from website_scan.library.results import PageResult, Report
from website_scan.report import diff as engine
from website_scan.report_json import ExportJson


class ChangedPlace(Struct, frozen=True):
    """Place that only one of the two results has. `text` describes it."""

    fingerprint: str
    text: str


class Change(Struct, frozen=True):
    """Finding that changed, or that only one of the results has.

    Statuses and severities are None in the result without the finding. All other fields are from the newer result.
    """

    type: ScanType
    category: str
    check: str
    name: str
    outcome: str
    title: str
    message: str
    old_status: str | None
    new_status: str | None
    old_severity: str | None
    new_severity: str | None
    new_places: tuple[ChangedPlace, ...]
    fixed_places: tuple[ChangedPlace, ...]


class NotCompared(Struct, frozen=True):
    """Finding of one result. In the other, its check has no verdict, for a `reason`.

    `is_new` is True if the newer result has the finding.
    """

    type: ScanType
    category: str
    check: str
    name: str
    title: str
    severity: str
    is_new: bool
    reason: str


class Diff(Struct, frozen=True):
    """Changes from an older to a newer result of a page, by priority within each type.

    `points` is the change of the score by type. A type with other rules in one of the results is left out there. Types
    that only one of the results has, and failed scans, are in `not_compared_types`.
    """

    new: tuple[Change, ...]
    worse: tuple[Change, ...]
    fixed: tuple[Change, ...]
    better: tuple[Change, ...]
    same: tuple[Change, ...]
    not_compared: tuple[NotCompared, ...]
    points: Mapping[ScanType, int]
    not_compared_types: tuple[ScanType, ...]

    @property
    def is_worse(self) -> bool:
        """True if a finding is new or worse."""
        return bool(self.new or self.worse)


def diff(old: PageResult, new: PageResult) -> Diff:
    """Compare two results of the same page, or of the same page on two origins.

    Raises InvalidOption if no type was scanned successfully in both.
    """
    if not isinstance(old, PageResult) or not isinstance(new, PageResult):
        raise InvalidOption("diff compares two results of pages.")
    before = {report.type: report for report in old.reports if report.error is None}
    after = {report.type: report for report in new.reports if report.error is None}
    compared = {type: _compare(before[type], after[type]) for type in before if type in after}
    if not compared:
        raise InvalidOption("The results have no report of the same type that could be compared.")
    points = {type: one.points for type, one in compared.items()}

    def changes(kind: Callable[[engine.Diff[ExportJson]], Iterable[engine.Change]]) -> tuple[Change, ...]:
        return tuple(_change(type, change) for type, one in compared.items() for change in kind(one))

    return Diff(
        new=changes(lambda one: one.new),
        worse=changes(lambda one: one.worse),
        fixed=changes(lambda one: one.fixed),
        better=changes(lambda one: one.better),
        same=changes(lambda one: one.same),
        not_compared=tuple(
            _not_compared(type, finding) for type, one in compared.items() for finding in one.not_compared
        ),
        points={type: change for type, change in points.items() if change is not None},
        not_compared_types=tuple(type for type in dict.fromkeys([*old.types, *new.types]) if type not in compared),
    )


def _compare(old: Report, new: Report) -> engine.Diff[ExportJson]:
    return engine.diff(old._source.export, new._source.export)


def _change(type: ScanType, change: engine.Change) -> Change:
    return Change(
        type=type,
        category=change.category,
        check=change.id,
        name=change.name,
        outcome=change.outcome,
        title=change.title,
        message=change.message,
        old_status=change.before.status if change.before else None,
        new_status=change.after.status if change.after else None,
        old_severity=change.before.severity if change.before else None,
        new_severity=change.after.severity if change.after else None,
        new_places=tuple(ChangedPlace(place.fingerprint, place.text) for place in change.new_places),
        fixed_places=tuple(ChangedPlace(place.fingerprint, place.text) for place in change.fixed_places),
    )


def _not_compared(type: ScanType, finding: engine.NotCompared) -> NotCompared:
    return NotCompared(
        type=type,
        category=finding.category,
        check=finding.id,
        name=finding.name,
        title=finding.title,
        severity=finding.severity,
        is_new=finding.found_in == "to",
        reason=finding.said,
    )
