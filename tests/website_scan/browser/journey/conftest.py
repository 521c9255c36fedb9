"""Fixtures for tests that execute journeys in a real Chromium."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from website_scan.browser.warm import WarmBrowser
from website_scan.net.browser import find_browser, sandbox_problem


@pytest.fixture(scope="package")
def browser() -> Iterator[WarmBrowser]:
    program = find_browser("auto")
    assert program is not None, "no browser; `make browser` installs one"
    with WarmBrowser(program, sandbox=not sandbox_problem(program)) as running:
        yield running
