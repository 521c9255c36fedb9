"""Error codes of runs of journeys that ended early."""

from __future__ import annotations

JOURNEY_FAILED = "JOURNEY_FAILED"  # A step failed on a site that responds.
JOURNEY_NOT_PROVEN = "JOURNEY_NOT_PROVEN"
URL_NOT_REACHABLE = "URL_NOT_REACHABLE"  # A step failed because the site did not respond.
