"""Time and request limits of a visit."""

from __future__ import annotations

import time
from collections.abc import Callable

from msgspec import Struct

from website_scan.browser.evidence import BrowserLoad
from website_scan.browser.processes import Usage
from website_scan.net.budget import Meter


class VisitLimits(Struct):
    """Time and request limits of a visit.

    All its loads share them. axe-core has its own deadline.
    """

    deadline: float  # Both deadlines are values of `time.monotonic()`.
    axe_deadline: float
    time_limit_s: float
    usage: Callable[[], Usage]
    meter: Meter
    save_evidence: Callable[[BrowserLoad | None], None]

    def remaining_s(self) -> float:
        """Return the seconds until the deadline."""
        return self.deadline - time.monotonic()
