"""Tests for field cases that need a browser.

See tests/field/README.md.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.field.corpus import Case, assert_right, cases
from tests.targets.server import root_file
from website_scan.browser.warm import WarmBrowser
from website_scan.net.browser import find_browser


@pytest.fixture(scope="module")
def chromium() -> Iterator[WarmBrowser]:
    program = find_browser("auto")
    assert program is not None, "no browser; `make browser` installs one"
    with WarmBrowser(program, ca_bundle=root_file()) as browser:
        yield browser


@pytest.mark.parametrize("case", cases(needs_browser=True), ids=lambda case: case.name)
def test_browser_case_gets_the_expected_verdicts(
    case: Case, monkeypatch: pytest.MonkeyPatch, chromium: WarmBrowser
) -> None:
    assert_right(case, monkeypatch, chromium)
