"""The browser of this process: one, started with the first scan that needs it; `SCAN_BROWSER` says which."""

from __future__ import annotations

import atexit
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from django.conf import settings

from scans.net.browser import browser_to_drive

if TYPE_CHECKING:
    from scans.engine.browser.visit import Browser
    from scans.engine.browser.warm import WarmBrowser


def browser_program() -> Path | None:
    """The Chromium that scans of this process use; None where there is none, or nothing to drive it with."""
    return browser_to_drive(settings.SCAN_BROWSER)


def browser() -> Browser | None:
    """For scans. It is closed when the process ends, or by `close_browser`, which a pool's processes need."""
    return _warm()


def close_browser() -> None:
    """End it, if it was ever started."""
    if _warm.cache_info().currsize and (found := _warm()) is not None:
        found.close()


@cache
def _warm() -> WarmBrowser | None:
    program = browser_program()
    if program is None:
        return None
    from scans.engine.browser.warm import WarmBrowser  # needs the extra

    found = WarmBrowser(program, memory_mib=settings.SCAN_BROWSER_MEMORY_MIB, sandbox=settings.SCAN_BROWSER_SANDBOX)
    atexit.register(found.close)
    return found
