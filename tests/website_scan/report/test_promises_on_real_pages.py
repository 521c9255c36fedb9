"""Tests for points and sentences about caps on the reports of real pages, which npm downloads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pytest

from benchmarks.real_pages import PackageUnavailable, RealPage, packages, pages_of, scan_page
from benchmarks.static_host import authority
from tests.promises import assert_promises_come_true, page_of
from website_scan.browser.warm import WarmBrowser
from website_scan.findings import ScanType
from website_scan.net.browser import find_browser

# Only npm packages, because their versions are pinned. Those of Debian depend on the machine's release.
PACKAGES = [package for package in packages() if "npm" in package]
NAMES = [f"{package['npm']} {page['path']}" for package in PACKAGES for page in package["page"]]
# A scan with a browser takes three seconds or more.
NAMES_FOR_BROWSER = NAMES[::4]


@pytest.fixture(scope="module")
def pages() -> Mapping[str, RealPage]:
    """Download the packages and return their pages by name. Skips the tests if the first download fails."""
    pages_by_name: dict[str, RealPage] = {}
    for package in PACKAGES:
        try:
            pages_by_name |= {page.name: page for page in pages_of(package)}
        except PackageUnavailable as error:
            if pages_by_name:
                raise
            pytest.skip(f"npm cannot download packages: {error}")
    return pages_by_name


@pytest.fixture(scope="module")
def chromium() -> Iterator[WarmBrowser]:
    program = find_browser("auto")
    assert program is not None, "no browser; `make browser` installs one"
    with WarmBrowser(program, ca_bundle=authority()) as browser:
        yield browser


def test_there_are_forty_pages() -> None:
    assert len(set(NAMES)) >= 40


@pytest.mark.parametrize("name", NAMES)
def test_promises_of_a_real_page_come_true(pages: Mapping[str, RealPage], name: str) -> None:
    assert_promises_of_page_come_true(pages[name], None)


@pytest.mark.parametrize("name", NAMES_FOR_BROWSER)
def test_promises_of_a_real_page_come_true_after_a_scan_with_browser(
    pages: Mapping[str, RealPage], chromium: WarmBrowser, name: str
) -> None:
    assert_promises_of_page_come_true(pages[name], chromium)


def assert_promises_of_page_come_true(page: RealPage, browser: WarmBrowser | None) -> None:
    """Scan the page for all types, and fix the findings in the order of each report."""
    results = scan_page(page, browser)
    assert [result.type for result in results] == list(ScanType)
    for result in results:
        assert result.score is not None, result.error
        assert_promises_come_true(result)
    assert any(page_of(result).first_raise for result in results)
