"""Browsers of the library."""

from __future__ import annotations

import atexit
import contextlib
import queue
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING

from website_scan.library.errors import BrowserUnavailable, InvalidOption
from website_scan.library.options import MAX_WORKERS, refuse_invalid_settings
from website_scan.local_scans import new_browser, reason_without_browser

if TYPE_CHECKING:
    from website_scan.browser.warm import WarmBrowser


class Browser:
    """Chromium that many scans use one after another. Close it with `close()` or `with`. Thread-safe.

    `processes` is the number of browsers, and of scans that use them at the same time. Other scans wait, which does not
    count as time of the scan. A browser starts when a scan first needs it, and uses up to 800 MiB of memory. Raises
    BrowserUnavailable if no browser is installed.
    """

    def __init__(self, *, processes: int = 1) -> None:
        refuse_invalid_settings()
        if not 1 <= processes <= MAX_WORKERS:
            raise InvalidOption(f"processes must be 1 to {MAX_WORKERS}.")
        self._lock = threading.Lock()
        self._is_closed = False
        self._used: set[WarmBrowser] = set()
        # Browsers that no scan uses. None is a browser that still has to be created.
        self._free: queue.LifoQueue[WarmBrowser | None] = queue.LifoQueue()
        for _ in range(processes - 1):
            self._free.put(None)
        first = new_browser()
        if first is None:
            raise BrowserUnavailable(reason_without_browser())
        self._free.put(first)
        # A program that ends without closing the browser must not leave its processes.
        atexit.register(self.close)

    def __enter__(self) -> Browser:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End all browsers, also those that are loading a page. The scans of these pages lack the browser's checks."""
        with self._lock:
            self._is_closed = True
            browsers = set(self._used)
            with contextlib.suppress(queue.Empty):
                while True:
                    browsers |= {free} if (free := self._free.get_nowait()) else set()
        for browser in browsers:
            browser.abandon()
        atexit.unregister(self.close)
        # Wake up all scans that wait for a browser.
        self._free.put(None)

    @contextlib.contextmanager
    def _reserve(self) -> Iterator[WarmBrowser]:
        """Return a context manager with a browser that no other scan uses. Waits for one. Raises InvalidOption."""
        browser = self._free.get()
        with self._lock:
            if self._is_closed:
                self._free.put(None)
                raise InvalidOption("The browser is closed.")
            browser = browser or new_browser()
            if browser is None:
                self._free.put(None)
                raise BrowserUnavailable(reason_without_browser())
            self._used.add(browser)
        is_reusable = False
        try:
            yield browser
            is_reusable = True
        finally:
            if not is_reusable:
                browser.abandon()
            with self._lock:
                self._used.discard(browser)
                if not self._is_closed:
                    self._free.put(browser if is_reusable else None)


def open_browser(wanted: bool | None, processes: int) -> Browser | None:
    """Return a new browser for one call, or None for a scan without one. Raises BrowserUnavailable."""
    if wanted is False:
        return None
    try:
        return Browser(processes=processes)
    except BrowserUnavailable:
        if wanted:
            raise
        return None
