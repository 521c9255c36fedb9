"""Test the dashboard's forms in a real browser."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from accounts.models import Tier
from tests.e2e.pages import PageRequest, RenderedPages, render_page
from tests.factories import Member, person_of
from tests.sites.journeys.cast import make_journey

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.e2e.pages import Window


def test_estimate_changes_with_form_input(home: Member, browser: Window) -> None:
    Tier.objects.filter(name="free").update(scans_per_month=2000)
    person = person_of(home, "member", "ada@people.test")
    journey = make_journey(home, steps="open /\njudge “A”\nopen /b\njudge “B”\n", secrets={}, types=["seo"])
    pages = {
        "scan": render_page(PageRequest("/o/home/scans/new"), person, {}),
        "monitor": render_page(PageRequest("/o/home/monitors/new"), person, {}),
        "monitor of a journey": render_page(PageRequest(f"/o/home/monitors/new?journey={journey.id}"), person, {}),
    }
    rendering = RenderedPages(pages, {})

    def estimate_text(page: Page) -> str:
        text = re.sub(r"\s+", " ", page.locator("#estimate").inner_text()).strip()
        return text.replace("\N{MULTIPLICATION SIGN}", "x")

    def check_scan_form(page: Page) -> None:
        assert estimate_text(page) == "This uses 4 scans: 1 page x 4 types. 2,000 of 2,000 are left this month."
        page.get_by_label("The whole site").check()
        page.get_by_text("Pages to include").click()
        page.get_by_label("Maximum number of pages").fill("3")
        page.get_by_label("SEO").uncheck()
        assert estimate_text(page).startswith("This uses up to 9 scans: 3 pages x 3 types.")
        page.get_by_label("Maximum number of pages").fill("9999")
        assert estimate_text(page).startswith("This uses up to 30 scans: 10 pages x 3 types.")
        page.get_by_label("Maximum number of pages").fill("")
        assert estimate_text(page).startswith("This uses up to 30 scans: 10 pages x 3 types.")

    def check_monitor_form(page: Page) -> None:
        page.get_by_label("A list of pages").check()
        page.get_by_label("Pages, one per line").fill("https://a.test/\n\nb.test\n")
        assert estimate_text(page).startswith("Each run uses 8 scans: 2 pages x 4 types. A month of runs uses 248.")
        page.get_by_label("Every week").check()
        assert "A month of runs uses 40." in estimate_text(page)

    browser.run_on_page(rendering, "scan", check_scan_form)

    def check_form_of_a_journey(page: Page) -> None:
        page.get_by_label("Every week").check()
        text = "Each run uses up to 2 scans: 2 states x 1 type. A month of runs uses up to 10."
        assert estimate_text(page).startswith(text)

    browser.run_on_page(rendering, "monitor", check_monitor_form)
    browser.run_on_page(rendering, "monitor of a journey", check_form_of_a_journey)
