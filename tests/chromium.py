"""Real Chromium for tests, with the same restrictions as in the service.

Playwright runs an event loop in its thread. Django's ORM refuses to work in such a thread, so Playwright has its own.
"""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

from playwright.sync_api import Browser, BrowserContext, Playwright, sync_playwright

from tests.playwright_options import context_options, launch_options
from website_scan.net.browser import find_browser
from website_scan.net.proxy import BrowserProxy

T = TypeVar("T")


class Chromium:
    """Running browser. `visit` runs an action in a new context behind a proxy."""

    def __init__(self, thread: ThreadPoolExecutor, browser: Browser) -> None:
        self._thread = thread
        self._browser = browser

    def visit(self, proxy: BrowserProxy, action: Callable[[BrowserContext], T], **options: Any) -> T:
        """Run `action` in a new browser context, close the context, and return the result."""

        def act() -> T:
            context = self._browser.new_context(**context_options(proxy), **options)
            try:
                return action(context)
            finally:
                context.close()

        return self._thread.submit(act).result(60)


@contextlib.contextmanager
def chromium(options: Mapping[str, Any] | None = None) -> Iterator[Chromium]:
    """Start Chromium. With other launch `options`, a test can show what the usual options prevent."""
    program = find_browser("auto")
    assert program is not None, "no browser; `make browser` installs one"
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(1, "playwright") as thread:
        playwright: Playwright = thread.submit(lambda: sync_playwright().start()).result(60)
        try:
            all_options = {**launch_options(program, Path(folder)), **(options or {})}
            browser = thread.submit(lambda: playwright.chromium.launch(**all_options)).result(60)
            yield Chromium(thread, browser)
            thread.submit(browser.close).result(60)
        finally:
            thread.submit(playwright.stop).result(60)
