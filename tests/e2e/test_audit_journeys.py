"""Audits of a page and of a site in a real browser: by keyboard, with progress, cancelling and sharing."""

from __future__ import annotations

import uuid
from collections.abc import Callable

import pytest
from playwright.sync_api import Browser, expect

from tests.e2e.conftest import Running
from tests.e2e.pages import Window
from tests.e2e.test_journeys import (  # noqa: F401  # fixtures
    ORGANIZATION,
    SCAN_S,
    Gate,
    Journey,
    Person,
    people,
    sign_up,
    travel,
    with_scripts,
)
from tests.targets.server import Answer, Site

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("service")]

GAUGES = ("Security", "Performance", "Accessibility", "SEO")


def ended(person: Person, text: str) -> None:
    """Wait for a text that appears when the scan is done; without scripts the page reloads automatically."""
    expect(person.page.get_by_text(text).first).to_be_visible(timeout=1000 * SCAN_S)


def shop(site: Site) -> str:
    """Add a small shop below a path, whose pages link to each other; return the address of its start page."""
    begin = f"/shop-{uuid.uuid4().hex}"
    links = "".join(f"<p><a href='{begin}/{name}'>{name}</a></p>" for name in ("bread", "cakes"))
    page = f"<!doctype html><html lang='en'><title>A bakery</title><body><h1>Bread</h1>{links}</body></html>"
    headers = {"Content-Type": "text/html; charset=utf-8"}
    for name in ("", "/bread", "/cakes"):
        site.routes[begin + name] = Answer(page, headers=headers)
    return site.url_as("localhost") + begin


def test_page_scan_is_started_by_keyboard(running: Running, browser: Window) -> None:
    """The free plan has two slots, and all four types together take one of them."""
    gate = Gate(running.site)

    def act(chromium: Browser) -> None:
        with people(chromium, running, with_scripts=True) as bring:
            ada = bring()
            sign_up(ada)
            ada.page.get_by_label("Address", exact=True).focus()
            ada.page.keyboard.type(gate.url)
            ada.page.keyboard.press("Enter")
            expect(ada.page.get_by_role("progressbar")).to_be_visible()
            assert "/audit/aud_" in ada.page.url
            address = ada.page.url
            gate.open()
            ended(ada, "Fix first")
            assert ada.page.url == address
            gauges = ada.page.get_by_role("navigation", name="Scores by type").get_by_role("link")
            expect(gauges).to_have_count(4)
            for name, gauge in zip(GAUGES, gauges.all(), strict=True):
                expect(gauge).to_contain_text(name)
                expect(gauge).to_contain_text("of 100")
            gauges.nth(3).focus()
            ada.page.keyboard.press("Enter")
            ada.told("The whole SEO report")
            ada.section("Scans")
            row = ada.page.get_by_role("row", name=gate.url)
            expect(row).to_have_count(1)
            expect(row.get_by_role("link", name="of 100, the report")).to_have_count(4)

    browser.do(act)


def test_site_scan_is_started_followed_and_shared(running: Running, travel: Callable[[Journey], None]) -> None:  # noqa: F811
    def journey(bring: Callable[[], Person]) -> None:
        ada, visitor = bring(), bring()
        sign_up(ada)
        begin = shop(running.site)
        path = begin.rpartition("/")[2]
        ada.page.get_by_label("Address", exact=True).fill(begin)
        expect(ada.page.get_by_text("Pages to include")).to_be_hidden()
        ada.page.get_by_label("The whole site").check()
        ada.page.get_by_text("Pages to include").click()
        ada.page.get_by_label("Only these pages").fill(f"/{path}*")
        for other in ("Performance", "Accessibility"):
            ada.page.get_by_label(other).uncheck()
        ada.press("Start scan")
        ended(ada, "On all")
        ended(ada, "Scan again")
        ada.page.get_by_role("navigation", name="Parts").get_by_role("link", name="Pages").click()
        row = ada.page.get_by_role("row").filter(has_text=f"/{path}/bread")
        expect(row).to_contain_text("Checked")
        expect(ada.page.get_by_role("main").get_by_role("rowheader")).to_have_count(3)

        address = ada.page.url.partition("?")[0]
        visitor.page.goto(address)
        assert visitor.page.url.startswith(f"{visitor.base}/login/?next=/audit/")
        ada.page.locator("summary", has_text="Share").click()
        ada.press("Share with a link")
        ada.told("Anyone with the link can now read this page and its reports.")
        visitor.page.goto(address)
        visitor.told("What to fix")
        assert ORGANIZATION not in visitor.page.content()
        visitor.page.goto(f"{address}?show=pages")
        visitor.page.get_by_role("link", name="of 100, the report").first.click()
        expect(visitor.page.get_by_role("heading", name="Fix first")).to_be_visible()
        ada.press("Stop sharing")  # the panel is open: it shows the link
        visitor.page.goto(address)
        assert "/login/" in visitor.page.url

    travel(journey)
