"""Browser of this process, which the first scan that needs it starts. `SCAN_BROWSER` selects the program."""

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
from website_scan.net.browser import browser_to_drive

if TYPE_CHECKING:
    from website_scan.browser.visit import Browser
    from website_scan.browser.warm import WarmBrowser


def browser_program() -> Path | None:
    """Return the path of the Chromium that scans of this process use, or None if Chromium or Playwright is missing."""
    return browser_to_drive(settings.SCAN_BROWSER)


def browser() -> Browser | None:
    """Return the browser for scans. An exit handler closes it, except in pool processes, which call `close_browser`."""
    return _warm()


def close_browser() -> None:
    """Close the browser of this process, if it was ever started."""
    if (browser := _started()) is not None:
        browser.close()
        _count_ends(browser)


class CpuMeter:
    """Meter of the processor time of this process and its browser since the meter was created, for one visit.

    Without a browser, the time includes ended child processes, which test whether markup can be parsed
    (`website_scan.page.bounded_parser`). With a browser, its ended processes are children as well, and the browser's
    own meter has already counted them.
    """

    def __init__(self) -> None:
        self._start_s = self._now_s()
        self._start_children_s = _children_s()

    def cpu_s(self) -> float:
        """Return the processor time in seconds. Also counts the browsers that have started and ended meanwhile."""
        if (browser := _started()) is not None:
            _count_ends(browser)
            return self._now_s() - self._start_s
        return self._now_s() - self._start_s + _children_s() - self._start_children_s

    def _now_s(self) -> float:
        browser = _started()
        return time.process_time() + (0.0 if browser is None else browser.history.cpu_s)


def _children_s() -> float:
    """Return the processor time of the ended child processes of this process, in seconds."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


_counted_history = History(0, {}, 0.0)


def _count_ends(browser: WarmBrowser) -> None:
    global _counted_history
    current, counted = browser.history, _counted_history
    _counted_history = current
    if current.starts > counted.starts:
        count(BROWSER_STARTS, by=current.starts - counted.starts)
    for reason, number in current.ends.items():
        if number > counted.ends.get(reason, 0):
            count(BROWSER_ENDS, reason, by=number - counted.ends.get(reason, 0))


def _started() -> WarmBrowser | None:
    return _warm() if _warm.cache_info().currsize else None


@cache  # The browser of this process, created on the first call.
def _warm() -> WarmBrowser | None:
    program = browser_program()
    if program is None:
        return None
    from website_scan.browser.warm import WarmBrowser  # Only importable with the extra `browser`.

    browser = WarmBrowser(
        program,
        memory_mib=settings.SCAN_BROWSER_MEMORY_MIB,
        sandbox=settings.SCAN_BROWSER_SANDBOX,
        ca_bundle=settings.SCAN_CA_BUNDLE,
    )
    atexit.register(browser.close)
    return browser
