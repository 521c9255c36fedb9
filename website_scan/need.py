"""Need of a finding: the one order in which reports, exports, audits, messages and the gate list findings."""

from __future__ import annotations

from typing import NamedTuple

from website_scan.findings import Severity
from website_scan.report_json import ExportedCheck, ExportJson, ReducedFinding, checks_of
from website_scan.result import CheckResult

SEVERITY_RANK = {str(severity): rank for rank, severity in enumerate(Severity)}
STATUS_RANK = {"fail": 0, "warn": 1, "pass": 2}


class Need(NamedTuple):
    """Sort key of a check; the neediest finding has the lowest."""

    passes: bool
    is_not_emergency: bool
    holds_nothing: bool
    less_points: float
    less_later: float
    severity_rank: int
    status_rank: int

    def with_other(self, other: Need) -> Need:
        """Return the need of a finding on two pages: the worst of both, and the points of both."""
        return Need(
            min(self.passes, other.passes),
            min(self.is_not_emergency, other.is_not_emergency),
            min(self.holds_nothing, other.holds_nothing),
            self.less_points + other.less_points,
            self.less_later + other.less_later,
            min(self.severity_rank, other.severity_rank),
            min(self.status_rank, other.status_rank),
        )


def need(
    *,
    status: str,
    severity: str | None,
    holds: bool,
    points: float,
    later: float,
) -> Need:
    """Return the sort key of a check from its fields in a result, an export or an audit (docs/scoring.md, Order).

    Critical failures come first, because their risk does not depend on the score. Then come the failures that hold the
    score under a cap, then the points that a fix wins now, then those that it wins once no cap holds.
    """
    return Need(
        status == "pass",
        not is_emergency(status, severity),
        not holds,
        -points,
        -later,
        SEVERITY_RANK.get(severity or "", len(SEVERITY_RANK)),
        STATUS_RANK[status],
    )


def need_of(check: ExportedCheck | ReducedFinding) -> Need:
    """Return the sort key of a check of an export."""
    return need(
        status=check["status"],
        severity=check["severity"],
        holds=check["holds"],
        points=check["points"],
        later=check["later"],
    )


def need_of_result(result: CheckResult) -> Need:
    """Return the sort key of a check of a scan's result."""
    return need(
        status=result.status, severity=result.severity, holds=result.holds, points=result.points, later=result.later
    )


def by_need(document: ExportJson) -> list[tuple[str, ExportedCheck]]:
    """Return the checks of an export with the names of their categories, the neediest first."""
    return sorted(checks_of(document), key=lambda found: need_of(found[1]))


def is_emergency(status: str, severity: str | None) -> bool:
    """Return True for a failed critical check: a risk for the site or its visitors, however few points it costs."""
    return status == "fail" and severity == Severity.CRITICAL
