"""Browser test that mutes and unmutes a finding."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import RunningService
from tests.e2e.test_audit_journeys import add_shop, wait_for_text
from tests.e2e.test_journeys import Journey, Person, has_javascript, run_journey, sign_up  # noqa: F401  # fixtures

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("service")]

CHECK, NAME = "csp-present", "Content Security Policy"


def test_finding_is_muted_and_unmuted(running: RunningService, run_journey: Callable[[Journey], None]) -> None:  # noqa: F811
    def journey(new_person: Callable[[], Person]) -> None:
        ada = new_person()
        sign_up(ada)
        ada.follow_link("Options")
        ada.page.get_by_label("Address", exact=True).fill(add_shop(running.site))
        for other in ("Performance", "Accessibility", "SEO"):
            ada.page.get_by_label(other).uncheck()
        ada.press("Start scan")
        wait_for_text(ada, "Fix first")
        ada.page.get_by_role("link", name="The whole security report").click()
        report = ada.page.url
        finding = ada.page.locator(f"#check-{CHECK}")
        title = finding.get_by_role("heading").inner_text()

        finding.get_by_role("link", name="Mute…").click()
        # The form requires a reason.
        ada.page.get_by_label("Reason").fill("The proxy sends one from next month on.")
        ada.page.get_by_role("button", name="Mute", exact=True).click()
        ada.expect_text("The report itself does not change.")
        muted = ada.page.get_by_role("region", name="Muted", exact=True)
        expect(muted.get_by_role("heading", name=title)).to_be_visible()
        expect(muted).to_contain_text("The proxy sends one from next month on.")
        expect(ada.page.get_by_role("region", name="Result")).to_contain_text("without muted findings")
        expect(ada.page.locator(f"#check-{CHECK}").get_by_role("link", name="Mute…")).to_have_count(0)

        ada.open_section("Muted")
        row = ada.page.get_by_role("row", name=NAME)
        expect(row).to_contain_text("on all of localhost")
        row.get_by_role("button", name=f"Unmute {NAME}").click()
        ada.expect_text("Unmuted. The finding is shown again.")
        ada.expect_text("Nothing is muted")
        ada.page.goto(report)
        expect(ada.page.locator(f"#check-{CHECK}").get_by_role("link", name="Mute…")).to_be_visible()
        assert "without muted findings" not in ada.page.content()

    run_journey(journey)
