"""Timer that limits the wait for a loaded page to show content."""

from __future__ import annotations

import time
from collections.abc import Callable

from msgspec.structs import replace

from website_scan.browser.evidence import Screen
from website_scan.browser.network_log import NetworkLog
from website_scan.browser.processes import Usage

MIN_CONTENT_WAIT_S = 5.0


class ContentWait:
    """Timer that limits the wait for a page's content.

    The wait ends at most `limit_s` seconds after the navigation.
    """

    def __init__(self, usage: Callable[[], Usage], log: NetworkLog, limit_s: float) -> None:
        self._usage = usage
        self._log = log
        self._navigated = self._loaded = time.monotonic()
        self._deadline = self._navigated + limit_s
        self._busy_s = 0.0

    def mark_loaded(self) -> None:
        """Start the wait for content when the page has loaded."""
        self._loaded, self._busy_s = time.monotonic(), self._usage().waited_s

    def record_wait(self, screen: Screen) -> Screen:
        """Return the screen with the time spent waiting for content.

        `had_enough_time` is True if the page had enough time to show content.
        """
        return replace(screen, waited_s=time.monotonic() - self._navigated, had_enough_time=self._had_enough_time())

    def is_wait_over(self) -> bool:
        """Return True if the page needs no more waiting.

        The time limit has passed, or the page had enough time for content and has no pending requests.
        """
        return time.monotonic() >= self._deadline or (self._had_enough_time() and not self._log.in_flight)

    def _had_enough_time(self) -> bool:
        """Return True if `MIN_CONTENT_WAIT_S` have passed since the load.

        Time when the machine was busy does not count.
        """
        machine_busy_s = self._usage().waited_s - self._busy_s
        return time.monotonic() - self._loaded - machine_busy_s >= MIN_CONTENT_WAIT_S
