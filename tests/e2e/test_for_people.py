"""Tests for what owners pass on to others: prints of audits, and text for web developers."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Page, expect

from tests.e2e.test_axe_of_pages import (  # noqa: F401  # fixtures
    ALL_RULES,
    VIEWS,
    PageBrowser,
    page_browser,
    rendered_pages,
)
from tests.printed import PrintedPage, printed_pages

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("pages"), pytest.mark.django_db]

PRINTED = (
    *("audit-site", "audit-page", "audit-site-pages", "audit-conformance"),
    *("sample-site", "report-of-audit", "report-browser", "report-conformance"),
    "list-conformance",
)
WITH_MENU = ("report-browser", "audit-site")
MAX_BLANK_SHARE = 1 / 3
# Headings with content below them. Of passed checks and of milder findings of audits, only the title is printed.
HEADINGS = """() => [...document.querySelectorAll(
  "main h2, main h4:not(.is-pass h4), main h3:not(.finding:not(.of-critical, .of-high) h3), .consequence")]
  .filter(each => each.checkVisibility()).map(each => each.innerText.trim().toUpperCase())"""
# The open menu covers controls that are below it.
VIOLATIONS = """options => axe.run(".drop[open]", options).then(({ violations }) => violations.map(
  each => `${each.id}: ${each.nodes.map(node => node.html)}`))"""
REPEAT_ROWS = """() => {
  const body = document.querySelector(".printed tbody");
  for (const row of [...body.rows, ...body.rows, ...body.rows]) body.append(row.cloneNode(true));
}"""


def print_page(page: Page) -> list[PrintedPage]:
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    return printed_pages(page.pdf(format="A4"))


@pytest.mark.parametrize("name", PRINTED)
def test_print_has_no_blank_halves(page_browser: PageBrowser, name: str) -> None:  # noqa: F811
    """Regression test: of the 15 printed pages of an audit, several were half blank."""

    def inspect_page(page: Page) -> tuple[list[float], list[str], list[str]]:
        pages = print_page(page)
        last_lines = [printed.lines[-1].text.strip().upper() for printed in pages[:-1]]
        return [printed.blank_share for printed in pages], last_lines, page.evaluate(HEADINGS)

    shares, last_lines, headings = page_browser.window.run_on_page(page_browser.rendering, name, inspect_page)
    assert [share for share in shares[:-1] if share > MAX_BLANK_SHARE] == []
    assert set(last_lines) & set(headings) == set()


def test_printed_table_repeats_its_head(page_browser: PageBrowser) -> None:  # noqa: F811
    def inspect_page(page: Page) -> list[list[str]]:
        page.evaluate(REPEAT_ROWS)
        return [[line.text for line in printed.lines] for printed in print_page(page)]

    pages = page_browser.window.run_on_page(page_browser.rendering, "audit-site", inspect_page)
    with_head = [number for number, lines in enumerate(pages) if "PAGE SECURITY" in " ".join(lines).upper()]
    assert len(with_head) > 1
    assert all(second == first + 1 for first, second in pairwise(with_head))
    assert "PAGE SECURITY" in " ".join(pages[with_head[1]][:2]).upper()


@pytest.mark.parametrize("name", WITH_MENU)
def test_keyboard_copies_text_for_a_developer(page_browser: PageBrowser, name: str) -> None:  # noqa: F811
    def inspect_page(page: Page) -> tuple[str, str]:
        status = page.get_by_role("status").filter(has_text="Copied")
        expect(status).to_have_count(0)
        page.locator("summary", has_text="Export").focus()
        page.keyboard.press("Enter")
        page.keyboard.press("Tab")
        button = page.get_by_role("button", name="Copy for my web developer")
        expect(button).to_be_focused()
        address = button.get_attribute("data-copy-from")
        page.keyboard.press("Enter")
        # The button has the focus, so that screen readers announce the message only once, politely.
        expect(status).to_have_text("Copied")
        expect(page.locator("[data-copy-from] strong")).to_have_text("Copied")
        expect(page.get_by_role("button", name="Copy for my web developer")).to_be_visible()
        expect(status).to_have_count(0)
        copied = page.evaluate("navigator.clipboard.readText()")
        return copied, page.evaluate("address => fetch(address).then(response => response.text())", address)

    permissions = ["clipboard-read", "clipboard-write"]
    copied, text = page_browser.window.run_on_page(page_browser.rendering, name, inspect_page, permissions=permissions)
    assert copied.splitlines() == text.splitlines()
    assert copied.startswith("Website scan\n")
    assert "\n1. " in copied


def test_failed_copy_says_so(page_browser: PageBrowser) -> None:  # noqa: F811
    def inspect_page(page: Page) -> None:
        button = page.locator("[data-copy-from]")
        page.evaluate("window.fetch = () => Promise.resolve(new Response('', { status: 404 }))")
        page.locator("summary", has_text="Export").click()
        button.click()
        expect(page.get_by_role("status").filter(has_text="Not copied")).to_have_count(1)

    permissions = ["clipboard-read", "clipboard-write"]
    page_browser.window.run_on_page(page_browser.rendering, "audit-site", inspect_page, permissions=permissions)


@pytest.mark.parametrize("name", WITH_MENU)
def test_text_for_a_developer_needs_no_scripts(page_browser: PageBrowser, name: str) -> None:  # noqa: F811
    def inspect_page(page: Page) -> None:
        page.locator("summary", has_text="Export").click()
        link = page.get_by_role("link", name="For my web developer")
        expect(link).to_be_visible()
        assert (link.get_attribute("href") or "").endswith("/for-developer.txt")
        expect(page.locator("[data-copy-from]")).to_be_hidden()
        expect(page.locator("[data-print]")).to_be_hidden()

    page_browser.window.run_on_page(page_browser.rendering, name, inspect_page, java_script_enabled=False)


@pytest.mark.parametrize("name", WITH_MENU)
def test_open_menu_is_accessible(page_browser: PageBrowser, name: str) -> None:  # noqa: F811
    def inspect_page(page: Page) -> dict[str, Any]:
        problems: dict[str, Any] = {}
        page.locator("summary", has_text="Export").click()
        page.evaluate(AXE_SCRIPT)
        for theme, width, _ in (*VIEWS, ("light", 320, None)):
            page.set_viewport_size({"width": width, "height": 900})
            page.emulate_media(color_scheme=theme)
            if page.evaluate("document.scrollingElement.scrollWidth") > width:
                problems[f"scrolls at {width}"] = True
            if broken := page.evaluate(VIOLATIONS, ALL_RULES):
                problems[f"axe, {theme} at {width}"] = broken
        return problems

    assert page_browser.window.run_on_page(page_browser.rendering, name, inspect_page) == {}
