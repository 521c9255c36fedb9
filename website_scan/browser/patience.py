"""Time that a page has to show something after its load."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

from website_scan.browser.evidence import Screen
from website_scan.browser.network_log import NetworkLog
from website_scan.browser.processes import Usage

PATIENCE_S = 5.0


class Patience:
    """Waiting for a page that shows nothing yet. The page has at most `limit_s` from its navigation on."""

    def __init__(self, usage: Callable[[], Usage], log: NetworkLog, limit_s: float) -> None:
        self._usage = usage
        self._log = log
        self._navigated = self._loaded = time.monotonic()
        self._ends = self._navigated + limit_s
        self._starved_s = 0.0

    def begin(self) -> None:
        """Count the time from now on: the page has loaded."""
        self._loaded, self._starved_s = time.monotonic(), self._usage().waited_s

    def timed(self, seen: Screen) -> Screen:
        """Add how long the page was given to show something, and whether that was enough."""
        return replace(seen, waited_s=time.monotonic() - self._navigated, had_time=self._had_time())

    def is_over(self) -> bool:
        """Return True if the page had its time to show something, or no more is left. Requests may take all of it."""
        return time.monotonic() >= self._ends or (self._had_time() and not self._log.in_flight)

    def _had_time(self) -> bool:
        """Return True if enough time has passed since the load, without the time in which the machine was busy."""
        starved_s = self._usage().waited_s - self._starved_s
        return time.monotonic() - self._loaded - starved_s >= PATIENCE_S
