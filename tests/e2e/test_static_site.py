"""The static site in a real browser, opened from file: URLs, and scanned by our own command."""

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

# One of each kind of page. 404.html is for hosts: its links begin at their root.
SHOWN = (
    *("index.html", "docs/index.html", "docs/webhooks.html", "docs/comparison.html"),
    *("docs/operations.html", "docs/api/scans.html", "docs/checks/index.html", "docs/checks/type-seo.html"),
    *("docs/checks/hsts.html", "samples/index.html", "samples/site.html", "samples/list.html"),
    *("report/sample/performance.html", "report/sample/council-accessibility.html", "report/sample/leak-security.html"),
)
# Those of the scan, as paths that a host of static sites serves. Sample reports ask not to be indexed, which is a
# finding of SEO, because their sites do not exist.
SCANNED = ("/", "/docs/", "/docs/webhooks", "/docs/checks/", "/docs/checks/hsts", "/samples/")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_site(tmp_path_factory.mktemp("site") / "built")


@pytest.fixture(scope="module")
def opened() -> Iterator[Window]:
    with window() as browser:
        yield browser


def look(opened: Window, file: Path, action: Any, **options: Any) -> Any:
    """Open a file in a browser and return what the action finds there."""

    def act(chromium: Browser) -> Any:
        context = chromium.new_context(**options)
        page = context.new_page()
        try:
            page.goto(file.as_uri())
            return action(page)
        finally:
            context.close()

    return opened.do(act)


@pytest.mark.parametrize("name", SHOWN)
def test_static_page_from_a_file_is_accessible_and_fits(opened: Window, site: Path, name: str) -> None:
    def examined(page: Page) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 900})
            if (wide := page.evaluate("document.scrollingElement.scrollWidth")) > width:
                found[f"scrolls at {width}"] = wide
        page.evaluate(AXE_SCRIPT)
        for theme, width, rules in VIEWS:
            page.set_viewport_size({"width": width, "height": 900})
            page.emulate_media(color_scheme=theme)
            if broken := violations(page, rules):
                found[f"axe, {theme} at {width}"] = broken
        return found

    assert look(opened, site / name, examined, reduced_motion="reduce") == {}


def test_search_of_the_static_site_works_by_keyboard(opened: Window, site: Path) -> None:
    def searched(page: Page) -> tuple[str, list[str], str]:
        field = page.get_by_role("searchbox", name="Search")
        field.focus()
        page.keyboard.type("rotate secret")
        page.get_by_role("search").get_by_role("link", name="Rotate the secret Webhooks").wait_for()
        told = page.get_by_role("search").get_by_role("status").text_content() or ""
        links = page.locator(".docs-search ol a").all_inner_texts()
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        page.wait_for_url("**/docs/webhooks.html#rotate-the-secret")
        return told, links, page.locator("h1").inner_text()

    told, links, title = look(opened, site / "docs" / "checks" / "hsts.html", searched)
    assert told.endswith(("result", "results"))
    assert links[0].startswith("Rotate the secret")
    assert title == "Webhooks"


def test_search_without_results_shows_a_message(opened: Window, site: Path) -> None:
    def searched(page: Page) -> str:
        page.get_by_role("searchbox", name="Search").fill("zebra crossing")
        page.locator(".docs-search [role=status]", has_text="No results").wait_for()
        return page.locator(".docs-search ol").inner_html()

    assert look(opened, site / "docs" / "index.html", searched) == ""


def test_search_field_is_hidden_without_javascript(opened: Window, site: Path) -> None:
    def without(page: Page) -> tuple[bool, str]:
        hidden = page.locator(".docs-search").is_hidden()
        page.get_by_role("link", name="Command line").first.click()
        return hidden, page.locator("h1").inner_text()

    assert look(opened, site / "docs" / "index.html", without, java_script_enabled=False) == (True, "Command line")


def test_own_scan_of_the_static_site_has_no_finding_above_low(site: Path) -> None:
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
    found = json.loads(ran.stdout)
    assert len(found["reports"]) == 4 * len(SCANNED)
    assert found["gate"]["passed"]
