"""Runs of journeys: visits in which the browser executes steps, and which may end with several pages.

The package of journeys registers their execution, so `scans` does not depend on a package above it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from msgspec import Struct

from scans.visits.claims import ScanClaim
from website_scan.journeys.journey import MAX_DURATION_S
from website_scan.net.client import Network
from website_scan.result import Progress

if TYPE_CHECKING:
    from website_scan.browser.warm import WarmBrowser

# Before the steps, the proof of control and the start of the browser need time. After the steps, the checks do.
MAX_PREPARING_S, MAX_JUDGING_S = 30.0, 60.0
TIME_LIMIT_S = MAX_DURATION_S + MAX_PREPARING_S + MAX_JUDGING_S

# Stores the results of a visit in one transaction, given its CPU time in seconds. Returns False if the claim was lost.
Finish = Callable[[float | None], bool]


class JourneyVisit(Struct, frozen=True):
    """Claimed visit that executes a journey. `browser` is None if this worker has none."""

    claim: ScanClaim
    network: Network
    browser: WarmBrowser | None
    report_progress: Callable[[Progress], None]


# Executes a journey without a transaction.
Execute = Callable[[JourneyVisit], Finish]

_execute: Execute | None = None


def register(execute: Execute) -> None:
    """Register the execution of journeys. The package of journeys calls this in `apps.ready()`."""
    global _execute
    _execute = execute


def execute_journey(visit: JourneyVisit) -> Finish:
    """Execute the journey of a claimed visit."""
    assert _execute is not None
    return _execute(visit)
