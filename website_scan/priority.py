"""Priority of findings.

Reports, exports, audits, notifications and the gate sort findings by priority.
"""

from __future__ import annotations

from typing import NamedTuple

from website_scan.findings import Severity
from website_scan.report_json import ExportedCheck, ExportJson, ReducedFinding, checks_of
from website_scan.result import CheckResult

SEVERITY_RANK = {str(severity): rank for rank, severity in enumerate(Severity)}
STATUS_RANK = {"fail": 0, "warn": 1, "pass": 2}


class Priority(NamedTuple):
    """Sort key of a check.

    The most urgent finding has the lowest key.
    """

    passes: bool
    is_not_emergency: bool
    is_under_no_cap: bool
    negative_points: float
    negative_later_points: float
    severity_rank: int
    status_rank: int

    def combine_with(self, other: Priority) -> Priority:
        """Return the combined priority of a finding on two pages.

        It has the more urgent ranks, and the sums of the points.
        """
        return Priority(
            min(self.passes, other.passes),
            min(self.is_not_emergency, other.is_not_emergency),
            min(self.is_under_no_cap, other.is_under_no_cap),
            self.negative_points + other.negative_points,
            self.negative_later_points + other.negative_later_points,
            min(self.severity_rank, other.severity_rank),
            min(self.status_rank, other.status_rank),
        )


def priority(
    *,
    status: str,
    severity: str | None,
    holds: bool,
    points: float,
    later: float,
) -> Priority:
    """Return the sort key of a check (docs/scoring.md, "Order").

    Critical failures come first, because their risk does not depend on the score. Next come the failures that hold the
    score under a cap (`holds`), then findings by the points that a fix gains now (`points`), then findings by the
    points that a fix gains once no cap applies (`later`).
    """
    return Priority(
        status == "pass",
        not is_emergency(status, severity),
        not holds,
        -points,
        -later,
        SEVERITY_RANK.get(severity or "", len(SEVERITY_RANK)),
        STATUS_RANK[status],
    )


def priority_of(check: ExportedCheck | ReducedFinding) -> Priority:
    """Return the sort key of a check in a JSON export."""
    return priority(
        status=check["status"],
        severity=check["severity"],
        holds=check["holds"],
        points=check["points"],
        later=check["later"],
    )


def priority_of_result(result: CheckResult) -> Priority:
    """Return the sort key of a check in the result of a scan."""
    return priority(
        status=result.status, severity=result.severity, holds=result.holds, points=result.points, later=result.later
    )


def by_priority(document: ExportJson) -> list[tuple[str, ExportedCheck]]:
    """Return (category name, check) for all checks of a JSON export.

    The most urgent check comes first.
    """
    return sorted(checks_of(document), key=lambda pair: priority_of(pair[1]))


def is_emergency(status: str, severity: str | None) -> bool:
    """Return True for a failed critical check.

    It is urgent even if it costs few points.
    """
    return status == "fail" and severity == Severity.CRITICAL
