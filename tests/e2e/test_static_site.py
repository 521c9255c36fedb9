"""Browser tests for the static site from file: URLs.

`website-scan` also scans the site.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from django.conf import settings
from playwright.sync_api import Browser, Page

from tests.documentation.test_static_site import build_site
from tests.e2e.pages import Window, window
from tests.e2e.test_axe_of_pages import VIEWS, WIDTHS, violations

pytestmark = [pytest.mark.slow]

# Links of 404.html work only on a web server, so it is not in this list.
OPENED_FILES = (
    *("index.html", "docs/index.html", "docs/webhooks.html", "docs/statement.html", "docs/comparison.html"),
    *("docs/operations.html", "docs/api/scans.html", "docs/checks/index.html", "docs/checks/type-seo.html"),
    *("docs/checks/hsts.html", "samples/index.html", "samples/site.html", "samples/list.html"),
    *("report/sample/performance.html", "report/sample/council-accessibility.html", "report/sample/leak-security.html"),
)
# Sample reports are not scanned, because their noindex is an SEO finding.
SCANNED = ("/", "/docs/", "/docs/webhooks", "/docs/checks/", "/docs/checks/hsts", "/samples/")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_site(tmp_path_factory.mktemp("site") / "built")


@pytest.fixture(scope="module")
def site_browser() -> Iterator[Window]:
    with window() as browser:
        yield browser


def open_file(site_browser: Window, file: Path, action: Any, **options: Any) -> Any:
    """Open a file in a browser and return the result of the action."""

    def run_in_browser(chromium: Browser) -> Any:
        context = chromium.new_context(**options)
        page = context.new_page()
        try:
            page.goto(file.as_uri())
            return action(page)
        finally:
            context.close()

    return site_browser.do(run_in_browser)


@pytest.mark.parametrize("name", OPENED_FILES)
def test_page_from_a_file_is_accessible(site_browser: Window, site: Path, name: str) -> None:
    def inspect_page(page: Page) -> dict[str, Any]:
        problems: dict[str, Any] = {}
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 900})
            if (wide := page.evaluate("document.scrollingElement.scrollWidth")) > width:
                problems[f"scrolls at {width}"] = wide
        page.evaluate(AXE_SCRIPT)
        for theme, width, rules in VIEWS:
            page.set_viewport_size({"width": width, "height": 900})
            page.emulate_media(color_scheme=theme)
            if broken := violations(page, rules):
                problems[f"axe, {theme} at {width}"] = broken
        return problems

    assert open_file(site_browser, site / name, inspect_page, reduced_motion="reduce") == {}


def test_static_site_is_searched_by_keyboard(site_browser: Window, site: Path) -> None:
    def search_by_keyboard(page: Page) -> tuple[str, list[str], str]:
        field = page.get_by_role("searchbox", name="Search")
        field.focus()
        page.keyboard.type("rotate secret")
        page.get_by_role("search").get_by_role("link", name="Rotate the secret Webhooks").wait_for()
        status_text = page.get_by_role("search").get_by_role("status").text_content() or ""
        links = page.locator(".docs-search ol a").all_inner_texts()
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        page.wait_for_url("**/docs/webhooks.html#rotate-the-secret")
        return status_text, links, page.locator("h1").inner_text()

    status_text, links, title = open_file(site_browser, site / "docs" / "checks" / "hsts.html", search_by_keyboard)
    assert status_text.endswith(("result", "results"))
    assert links[0].startswith("Rotate the secret")
    assert title == "Webhooks"


def test_search_without_results_shows_a_message(site_browser: Window, site: Path) -> None:
    def search_without_results(page: Page) -> str:
        page.get_by_role("searchbox", name="Search").fill("zebra crossing")
        page.locator(".docs-search [role=status]", has_text="No results").wait_for()
        return page.locator(".docs-search ol").inner_html()

    assert open_file(site_browser, site / "docs" / "index.html", search_without_results) == ""


def test_search_field_is_hidden_without_javascript(site_browser: Window, site: Path) -> None:
    def inspect_page(page: Page) -> tuple[bool, str]:
        hidden = page.locator(".docs-search").is_hidden()
        page.get_by_role("link", name="Command line").first.click()
        return hidden, page.locator("h1").inner_text()

    assert open_file(site_browser, site / "docs" / "index.html", inspect_page, java_script_enabled=False) == (
        True,
        "Command line",
    )


def test_static_site_has_only_minor_findings(site: Path) -> None:
    command = [sys.executable, "manage.py", "scan", "--serve", str(site), *SCANNED, "--fail-on", "medium"]
    ran = subprocess.run(
        [*command, "--format", "json"],
        cwd=settings.BASE_DIR,
        env={**os.environ, "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    output = json.loads(ran.stdout)
    assert len(output["reports"]) == 4 * len(SCANNED)
    assert output["gate"]["passed"]
