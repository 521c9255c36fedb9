"""Detection of changes that two scan types report for the same fact.

No I/O.

A notification reports the fact only once.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from sites.models.stored_json import Direction
from website_scan.findings import ScanType
from website_scan.repeats import REPEATS, CheckKey, Reporters, reported_elsewhere
from website_scan.report.diff import Change
from website_scan.report_json import ReducedJson

# A fact that is new for one type may be worse for the other, for example if other places had it before.
BAD: frozenset[Direction] = frozenset({"new", "worse"})
GOOD: frozenset[Direction] = frozenset({"fixed", "better"})

Changed = Mapping[ScanType, Collection[tuple[Direction, Change]]]


def repeated_changes(
    changed: Changed, reports: Mapping[ScanType, tuple[ReducedJson | None, ReducedJson]]
) -> dict[ScanType, list[tuple[Direction, Change]]]:
    """Return the changes that repeat a change of another scan type in the same direction.

    `changed` are the changes without muted ones. `reports` are the former and the new report of each type.
    """
    repeated: dict[ScanType, list[tuple[Direction, Change]]] = {scan_type: [] for scan_type in changed}
    for directions in (BAD, GOOD):
        reporters_of = {
            scan_type: _reporters(
                scan_type, [change.id for direction, change in changes if direction in directions], report
            )
            for scan_type, changes in changed.items()
            if (report := reports[scan_type][directions is BAD]) is not None
        }
        for key in reported_elsewhere(reporters_of):
            repeated[key.type] += [
                (direction, change)
                for direction, change in changed[key.type]
                if change.id == key.id and direction in directions
            ]
    return repeated


def _reporters(scan_type: ScanType, ids: Iterable[str], report: ReducedJson) -> Reporters:
    """Map the IDs of changed and suppressed checks to the check that reports them."""
    own = {id: id for id in ids}
    suppressed = {check["id"] for check in report.get("repeated_checks", ())}
    return own | {
        repeat.check.id: repeat.told_by.id
        for repeat in REPEATS
        if repeat.is_within_type
        and repeat.check == CheckKey(scan_type, repeat.check.id)
        and repeat.check.id in suppressed
        and repeat.told_by.id in own
    }
