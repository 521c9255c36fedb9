"""Browser test that creates, runs, edits and deletes a monitor."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import RunningService
from tests.e2e.test_audit_journeys import add_shop
from tests.e2e.test_journeys import (  # noqa: F401  # fixtures
    SCAN_TIMEOUT_S,
    Journey,
    Person,
    has_javascript,
    run_journey,
    sign_up,
)

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("service")]


def test_monitor_is_created_run_and_deleted(
    running: RunningService,
    run_journey: Callable[[Journey], None],  # noqa: F811
) -> None:
    def journey(new_person: Callable[[], Person]) -> None:
        ada, visitor = new_person(), new_person()
        sign_up(ada)
        ada.open_section("Monitors")
        ada.follow_link("Create a monitor")
        page = ada.page
        page.get_by_label("Address", exact=True).fill(add_shop(running.site))
        for other in ("Performance", "Accessibility", "SEO"):
            page.get_by_role("checkbox", name=other).uncheck()
        expect(page.get_by_label("Every hour")).to_be_disabled()
        page.get_by_label("Name", exact=True).fill("Bread")
        page.get_by_label("Every week").check()
        page.get_by_label("On", exact=True).first.select_option("Monday")
        ada.press("Create monitor")
        ada.expect_text("Choose a time as well")
        page.get_by_label("At", exact=True).fill("06:00")
        ada.press("Create monitor")
        ada.expect_text("Every week on Monday at 06:00")
        address = page.url

        expect(page.get_by_role("heading", name="First run in progress")).to_be_visible()
        expect(page.get_by_role("heading", name="First run in progress")).to_be_hidden(timeout=1000 * SCAN_TIMEOUT_S)
        ada.press("Run now")
        expect(page.get_by_role("heading", name="Running now")).to_be_visible()
        expect(page.get_by_role("heading", name="Running now")).to_be_hidden(timeout=1000 * SCAN_TIMEOUT_S)
        expect(page.get_by_role("link", name="Security: ")).to_have_count(2)

        ada.follow_link("Edit")
        page.get_by_label("Name", exact=True).fill("Fresh bread")
        ada.press("Save")
        ada.expect_text("The monitor was changed.")
        expect(page.get_by_role("heading", name="Fresh bread")).to_be_visible()
        ada.press("Pause")
        ada.expect_text("It does not run until you resume it.")
        ada.press("Resume")
        ada.expect_text("Resumed.")

        ada.press("Turn on")
        picture = page.get_by_alt_text("Preview of the badge")
        expect(picture).to_be_visible()
        source = f"{ada.base}{picture.get_attribute('src')}"
        badge_response = visitor.page.goto(source)
        assert badge_response is not None
        assert badge_response.status == 200
        assert "Security: grade" in badge_response.text()
        ada.press("Turn off")
        ada.expect_text("The badge is off.")
        gone = visitor.page.request.get(source)
        assert gone.status == 404

        page.goto(address)
        ada.follow_link("Delete …")
        ada.press("Delete")
        ada.expect_text("The monitor Fresh bread was deleted.")
        ada.expect_text("No monitors yet")

    run_journey(journey)
