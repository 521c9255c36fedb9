"""Browser of this process, started by the first scan that needs it.

`SCAN_BROWSER` selects the program.
"""

from __future__ import annotations

import atexit
import resource
import time
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from django.conf import settings

from infrastructure.telemetry.counters import count
from infrastructure.telemetry.process_metrics import BROWSER_ENDS, BROWSER_STARTS
from website_scan.browser.visit import History
from website_scan.net.browser import find_supported_browser

if TYPE_CHECKING:
    from website_scan.browser.visit import Browser
    from website_scan.browser.warm import WarmBrowser


def browser_program() -> Path | None:
    """Return the path of the Chromium for this process, or None if Chromium or Playwright is missing."""
    return find_supported_browser(settings.SCAN_BROWSER)


def browser() -> Browser | None:
    """Return the browser for scans.

    It is closed at exit, except in pool processes, which call `close_browser`.
    """
    return _cached_browser()


def warm_browser() -> WarmBrowser | None:
    """Return the browser for journeys, which is the one for scans."""
    return _cached_browser()


def close_browser() -> None:
    """Close the browser of this process if it was started."""
    if (browser := _running_browser()) is not None:
        browser.close()
        _count_browser_ends(browser)


class CpuMeter:
    """Meter for the CPU time that this process and its browser use for one visit.

    The measurement starts when the meter is created. Without a browser, the time includes ended child processes, which
    test whether markup can be parsed (`website_scan.page.bounded_parser`). With a browser, its ended processes are
    children as well, and the browser's own meter has already counted them.
    """

    def __init__(self) -> None:
        self._start_s = self._total_cpu_s()
        self._start_children_s = _child_processes_cpu_s()

    def cpu_s(self) -> float:
        """Return the CPU time in seconds since the meter was created.

        Also updates the metrics of browser starts and ends.
        """
        if (browser := _running_browser()) is not None:
            _count_browser_ends(browser)
            return self._total_cpu_s() - self._start_s
        return self._total_cpu_s() - self._start_s + _child_processes_cpu_s() - self._start_children_s

    def _total_cpu_s(self) -> float:
        browser = _running_browser()
        return time.process_time() + (0.0 if browser is None else browser.history.cpu_s)


def _child_processes_cpu_s() -> float:
    """Return the CPU time of the ended child processes of this process, in seconds."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


_counted_history = History(0, {}, 0.0)


def _count_browser_ends(browser: WarmBrowser) -> None:
    global _counted_history
    current, counted = browser.history, _counted_history
    _counted_history = current
    if current.starts > counted.starts:
        count(BROWSER_STARTS, by=current.starts - counted.starts)
    for reason, number in current.ends.items():
        if number > counted.ends.get(reason, 0):
            count(BROWSER_ENDS, reason, by=number - counted.ends.get(reason, 0))


def _running_browser() -> WarmBrowser | None:
    return _cached_browser() if _cached_browser.cache_info().currsize else None


# The cache makes this one browser per process, created on the first call.
@cache
def _cached_browser() -> WarmBrowser | None:
    program = browser_program()
    if program is None:
        return None
    # The module needs the optional dependencies of the extra `browser`.
    from website_scan.browser.warm import WarmBrowser

    browser = WarmBrowser(
        program,
        memory_mib=settings.SCAN_BROWSER_MEMORY_MIB,
        sandbox=settings.SCAN_BROWSER_SANDBOX,
        ca_bundle=settings.SCAN_CA_BUNDLE,
    )
    atexit.register(browser.close)
    return browser
