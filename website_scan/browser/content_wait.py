"""Time limit for a page to show content after its load."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

from website_scan.browser.evidence import Screen
from website_scan.browser.network_log import NetworkLog
from website_scan.browser.processes import Usage

PATIENCE_S = 5.0


class ContentWait:
    """Wait for a page that shows no content yet, for at most `limit_s` seconds from the navigation on."""

    def __init__(self, usage: Callable[[], Usage], log: NetworkLog, limit_s: float) -> None:
        self._usage = usage
        self._log = log
        self._navigated = self._loaded = time.monotonic()
        self._deadline = self._navigated + limit_s
        self._busy_s = 0.0

    def mark_loaded(self) -> None:
        """Start the wait now that the page has loaded."""
        self._loaded, self._busy_s = time.monotonic(), self._usage().waited_s

    def add_wait(self, screen: Screen) -> Screen:
        """Add to a screen how long the wait was, and whether the page had enough time."""
        return replace(screen, waited_s=time.monotonic() - self._navigated, had_time=self._had_enough_time())

    def is_over(self) -> bool:
        """Return True after the time limit, or if the page had enough time and has no requests in flight."""
        return time.monotonic() >= self._deadline or (self._had_enough_time() and not self._log.in_flight)

    def _had_enough_time(self) -> bool:
        """Return True if the page had enough time since the load, minus the time in which the machine was busy."""
        busy_s = self._usage().waited_s - self._busy_s
        return time.monotonic() - self._loaded - busy_s >= PATIENCE_S
