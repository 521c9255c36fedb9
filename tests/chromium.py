"""Chromium for tests, restricted as in the service.

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
    """A running browser.

    Its `visit` method runs an action in a new context with a proxy.
    """

    def __init__(self, thread: ThreadPoolExecutor, browser: Browser) -> None:
        self._thread = thread
        self._browser = browser

    def visit(self, proxy: BrowserProxy, action: Callable[[BrowserContext], T], **options: Any) -> T:
        """Run `action` in a new browser context and return its result.

        The context is closed afterwards.
        """

        def run_action() -> T:
            context = self._browser.new_context(**context_options(proxy), **options)
            try:
                return action(context)
            finally:
                context.close()

        return self._thread.submit(run_action).result(60)


@contextlib.contextmanager
def chromium(options: Mapping[str, Any] | None = None) -> Iterator[Chromium]:
    """Start Chromium.

    Tests pass other launch `options` to show which attacks the usual options prevent.
    """
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
