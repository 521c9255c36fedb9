"""Need of a finding: the one order in which reports, exports, audits, messages and the gate list findings."""

from __future__ import annotations

from typing import NamedTuple

from scanner.findings import Severity

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


def is_emergency(status: str, severity: str | None) -> bool:
    """Return True for a failed critical check: a risk for the site or its visitors, however few points it costs."""
    return status == "fail" and severity == Severity.CRITICAL
