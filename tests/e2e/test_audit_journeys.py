"""Tests for page audits and site audits in a real browser."""

from __future__ import annotations

import uuid
from collections.abc import Callable

import pytest
from playwright.sync_api import Browser, expect

from tests.e2e.conftest import RunningService
from tests.e2e.pages import Window
from tests.e2e.test_journeys import (  # noqa: F401  # fixtures
    ORGANIZATION,
    SCAN_TIMEOUT_S,
    Gate,
    Journey,
    Person,
    has_javascript,
    people_with_browsers,
    run_journey,
    sign_up,
)
from tests.targets.server import Answer, Site

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("service")]

GAUGES = ("Security", "Performance", "Accessibility", "SEO")


def wait_for_text(person: Person, text: str) -> None:
    """Wait for a text on the page after the scan.

    Without JavaScript, the page reloads itself.
    """
    expect(person.page.get_by_text(text).first).to_be_visible(timeout=1000 * SCAN_TIMEOUT_S)


def add_shop(site: Site) -> str:
    """Add a small shop to the site and return the URL of its start page."""
    begin = f"/shop-{uuid.uuid4().hex}"
    links = "".join(f"<p><a href='{begin}/{name}'>{name}</a></p>" for name in ("bread", "cakes"))
    page = f"<!doctype html><html lang='en'><title>A bakery</title><body><h1>Bread</h1>{links}</body></html>"
    headers = {"Content-Type": "text/html; charset=utf-8"}
    for name in ("", "/bread", "/cakes"):
        site.routes[begin + name] = Answer(page, headers=headers)
    return site.url_as("localhost") + begin


def test_page_scan_is_started_by_keyboard(running: RunningService, browser: Window) -> None:
    """Start a scan of all four types.

    It uses only one of the two slots of the free plan.
    """
    gate = Gate(running.site)

    def run_in_browser(chromium: Browser) -> None:
        with people_with_browsers(chromium, running, has_javascript=True) as new_person:
            ada = new_person()
            sign_up(ada)
            ada.page.get_by_label("Address to scan").focus()
            ada.page.keyboard.type(gate.url)
            ada.page.keyboard.press("Enter")
            expect(ada.page.get_by_role("progressbar")).to_be_visible()
            assert "/audit/aud_" in ada.page.url
            address = ada.page.url
            gate.open()
            wait_for_text(ada, "Fix first")
            assert ada.page.url == address
            gauges = ada.page.get_by_role("navigation", name="Scores by type").get_by_role("link")
            expect(gauges).to_have_count(4)
            for name, gauge in zip(GAUGES, gauges.all(), strict=True):
                expect(gauge).to_contain_text(name)
                expect(gauge).to_contain_text("of 100")
            gauges.nth(3).focus()
            ada.page.keyboard.press("Enter")
            ada.expect_text("The whole SEO report")
            ada.open_section("Scans")
            row = ada.page.get_by_role("row", name=gate.url)
            expect(row).to_have_count(1)
            expect(row.get_by_role("link", name="of 100, the report")).to_have_count(4)

    browser.do(run_in_browser)


def test_site_scan_is_started_and_shared(
    running: RunningService,
    run_journey: Callable[[Journey], None],  # noqa: F811
) -> None:
    def journey(new_person: Callable[[], Person]) -> None:
        ada, visitor = new_person(), new_person()
        sign_up(ada)
        begin = add_shop(running.site)
        path = begin.rpartition("/")[2]
        ada.follow_link("Options")
        ada.page.get_by_label("Address", exact=True).fill(begin)
        expect(ada.page.get_by_text("Pages to include")).to_be_hidden()
        ada.page.get_by_label("The whole site").check()
        ada.page.get_by_text("Pages to include").click()
        ada.page.get_by_label("Only these pages").fill(f"/{path}*")
        for other in ("Performance", "Accessibility"):
            ada.page.get_by_label(other).uncheck()
        ada.press("Start scan")
        wait_for_text(ada, "On all")
        wait_for_text(ada, "Scan again")
        ada.page.get_by_role("navigation", name="Parts").get_by_role("link", name="Pages").click()
        row = ada.page.get_by_role("row").filter(has_text=f"/{path}/bread")
        expect(row).to_contain_text("Checked")
        expect(ada.page.get_by_role("main").get_by_role("rowheader")).to_have_count(3)

        address = ada.page.url.partition("?")[0]
        visitor.page.goto(address)
        assert visitor.page.url.startswith(f"{visitor.base}/login/?next=/audit/")
        ada.page.locator("summary", has_text="Share").click()
        ada.press("Share with a link")
        ada.expect_text("Anyone with the link can now read this page and its reports.")
        visitor.page.goto(address)
        visitor.expect_text("What to fix")
        assert ORGANIZATION not in visitor.page.content()
        visitor.page.goto(f"{address}?show=pages")
        visitor.page.get_by_role("link", name="of 100, the report").first.click()
        expect(visitor.page.get_by_role("heading", name="Fix first")).to_be_visible()
        ada.press("Stop sharing")  # The sharing panel is open because it displays the link.
        visitor.page.goto(address)
        assert "/login/" in visitor.page.url

    run_journey(journey)
