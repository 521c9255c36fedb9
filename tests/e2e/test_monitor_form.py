"""Browser tests for the choice between pages and a journey in the form of monitors, with and without scripts."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.test_axe_of_pages import PageBrowser, page_browser, rendered_pages  # noqa: F401  # fixtures

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("pages"), pytest.mark.django_db]


@pytest.mark.parametrize("has_scripts", [True, False])
def test_keyboard_switches_between_a_page_and_a_journey(
    page_browser: PageBrowser,  # noqa: F811
    has_scripts: bool,
) -> None:
    def switch(page: Page) -> None:
        scope = page.get_by_role("group", name="Pages to scan")
        address, journey = page.get_by_label("Address", exact=True), page.get_by_label("Journey", exact=True)
        types, widths = page.get_by_role("group", name="What to check"), page.get_by_text("Options: widths")
        expect(journey).to_be_hidden()
        scope.get_by_label("The whole site").focus()
        scope.get_by_label("The whole site").check()
        page.keyboard.press("ArrowRight")
        expect(scope.get_by_label("A journey")).to_be_checked()
        expect(journey).to_be_visible()
        for field in (address, types, widths):
            expect(field).to_be_hidden()
        expect(page.get_by_text("Each run uses up to one scan for every type of every state")).to_be_visible()
        page.keyboard.press("Tab")
        expect(journey).to_be_focused()
        scope.get_by_label("This page").check()
        expect(journey).to_be_hidden()
        expect(address).to_be_visible()

    page_browser.window.run_on_page(page_browser.rendering, "monitor-new", switch, java_script_enabled=has_scripts)


def test_estimate_counts_only_the_states_of_the_chosen_journey(page_browser: PageBrowser) -> None:  # noqa: F811
    def choose(page: Page) -> None:
        cost = page.locator(".cost.for-journey")
        numbers, general = cost.locator("[data-numbers]"), cost.locator("[data-general]")
        expect(numbers).to_be_visible()
        expect(general).to_be_hidden()
        journey = page.get_by_label("Journey", exact=True)
        chosen = journey.input_value()
        journey.select_option("")
        expect(numbers).to_be_hidden()
        expect(general).to_be_visible()
        journey.select_option(chosen)
        expect(numbers).to_be_visible()
        expect(general).to_be_hidden()

    page_browser.window.run_on_page(page_browser.rendering, "monitor-journey-new", choose)
