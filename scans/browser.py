"""Browser of this process: one instance, started by the first scan that needs it; `SCAN_BROWSER` selects it."""

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
    """Return the Chromium that scans of this process use; None if it or Playwright is missing."""
    return browser_to_drive(settings.SCAN_BROWSER)


def browser() -> Browser | None:
    """Return the browser for scans; it closes when the process ends. Processes of a pool need `close_browser`."""
    return _warm()


def close_browser() -> None:
    """Close the browser if it was ever started."""
    if (found := _started()) is not None:
        found.close()
        _count_ends(found)


class Spent:
    """Meter of the processor time of this process and its browser from now on; a process does one visit at a time.

    Without a browser, it includes the ended processes in which markup was tried (`website_scan.page.bounded_parser`).
    With one, these cannot be told from those of the browser, which the meter of the browser has counted already.
    """

    def __init__(self) -> None:
        self._began_s = self._now_s()
        self._ended_began_s = _ended_s()

    def cpu_s(self) -> float:
        """Return the processor time in seconds; also count the browsers that started and ended meanwhile."""
        if (found := _started()) is not None:
            _count_ends(found)
            return self._now_s() - self._began_s
        return self._now_s() - self._began_s + _ended_s() - self._ended_began_s

    def _now_s(self) -> float:
        found = _started()
        return time.process_time() + (0.0 if found is None else found.history.cpu_s)


def _ended_s() -> float:
    """Return the processor time of this process' children that have ended, in seconds."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return ended.ru_utime + ended.ru_stime


_counted = History(0, {}, 0.0)


def _count_ends(of: WarmBrowser) -> None:
    global _counted
    now, before = of.history, _counted
    _counted = now
    if now.starts > before.starts:
        count(BROWSER_STARTS, by=now.starts - before.starts)
    for reason, ends in now.ends.items():
        if ends > before.ends.get(reason, 0):
            count(BROWSER_ENDS, reason, by=ends - before.ends.get(reason, 0))


def _started() -> WarmBrowser | None:
    return _warm() if _warm.cache_info().currsize else None


@cache
def _warm() -> WarmBrowser | None:
    program = browser_program()
    if program is None:
        return None
    from website_scan.browser.warm import WarmBrowser  # importable only with the extra `browser`

    found = WarmBrowser(
        program,
        memory_mib=settings.SCAN_BROWSER_MEMORY_MIB,
        sandbox=settings.SCAN_BROWSER_SANDBOX,
        ca_bundle=settings.SCAN_CA_BUNDLE,
    )
    atexit.register(found.close)
    return found
