"""Life of a monitor in a real browser: created, run, edited, paused, shown as a badge, deleted."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import Running
from tests.e2e.test_audit_journeys import shop
from tests.e2e.test_journeys import (  # noqa: F401  # fixtures
    SCAN_S,
    Journey,
    Person,
    sign_up,
    travel,
    with_scripts,
)

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("service")]


def test_monitor_of_a_page_from_first_run_to_deletion(
    running: Running,
    travel: Callable[[Journey], None],  # noqa: F811
) -> None:
    def journey(bring: Callable[[], Person]) -> None:
        ada, visitor = bring(), bring()
        sign_up(ada)
        ada.section("Monitors")
        ada.go("Create a monitor")
        page = ada.page
        page.get_by_label("Address", exact=True).fill(shop(running.site))
        for other in ("Performance", "Accessibility", "SEO"):
            page.get_by_role("checkbox", name=other).uncheck()
        expect(page.get_by_label("Every hour")).to_be_disabled()
        page.get_by_label("Name", exact=True).fill("Bread")
        page.get_by_label("Every week").check()
        page.get_by_label("On", exact=True).first.select_option("Monday")
        ada.press("Create monitor")
        ada.told("Choose a time as well")
        page.get_by_label("At", exact=True).fill("06:00")
        ada.press("Create monitor")
        ada.told("Every week on Monday at 06:00")
        address = page.url

        ada.press("Run now")
        expect(page.get_by_role("heading", name="Running now")).to_be_visible()
        expect(page.get_by_role("heading", name="Running now")).to_be_hidden(timeout=1000 * SCAN_S)
        expect(page.get_by_role("link", name="Security: ")).to_be_visible()

        ada.go("Edit")
        page.get_by_label("Name", exact=True).fill("Fresh bread")
        ada.press("Save")
        ada.told("The monitor was changed.")
        expect(page.get_by_role("heading", name="Fresh bread")).to_be_visible()
        ada.press("Pause")
        ada.told("It does not run until you resume it.")
        ada.press("Resume")
        ada.told("Resumed.")

        ada.press("Turn on")
        picture = page.get_by_alt_text("Preview of the badge")
        expect(picture).to_be_visible()
        source = f"{ada.base}{picture.get_attribute('src')}"
        shown = visitor.page.goto(source)
        assert shown is not None
        assert shown.status == 200
        assert "Security: grade" in shown.text()
        ada.press("Turn off")
        ada.told("The badge is off.")
        gone = visitor.page.request.get(source)
        assert gone.status == 404

        page.goto(address)
        ada.go("Delete …")
        ada.press("Delete")
        ada.told("The monitor Fresh bread was deleted.")
        ada.told("No monitors yet")

    travel(journey)
