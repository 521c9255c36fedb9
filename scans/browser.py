"""The browser of this process: one, started with the first scan that needs it; `SCAN_BROWSER` says which."""

from __future__ import annotations

import atexit
import importlib.util
from functools import cache
from pathlib import Path

from django.conf import settings

from scans.engine.browser import Browser
from scans.net.browser import find_browser

# What the optional extra `browser` brings.
PACKAGES = ("playwright", "axe_playwright_python")


def browser_program() -> Path | None:
    """The Chromium that scans of this process use; None where there is none, or nothing to drive it with."""
    if settings.SCAN_BROWSER == "off" or missing_packages():
        return None
    return find_browser(settings.SCAN_BROWSER)


def missing_packages() -> tuple[str, ...]:
    """Those of the extra that are not installed."""
    return tuple(each for each in PACKAGES if importlib.util.find_spec(each) is None)


@cache
def browser() -> Browser | None:
    """For scans; it is closed when the process ends."""
    program = browser_program()
    if program is None:
        return None
    from scans.engine.browser.warm import WarmBrowser  # needs the extra

    found = WarmBrowser(program)
    atexit.register(found.close)
    return found
