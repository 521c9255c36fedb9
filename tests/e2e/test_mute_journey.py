"""Muting in a real browser: a finding is muted on its report, listed apart with both scores, and shown again later."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import Running
from tests.e2e.test_audit_journeys import ended, shop
from tests.e2e.test_journeys import Journey, Person, sign_up, travel, with_scripts  # noqa: F401  # fixtures

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("service")]

CHECK, NAME = "csp-present", "Content Security Policy"


def test_finding_is_muted_and_unmuted(running: Running, travel: Callable[[Journey], None]) -> None:  # noqa: F811
    def journey(bring: Callable[[], Person]) -> None:
        ada = bring()
        sign_up(ada)
        ada.page.get_by_label("Address", exact=True).fill(shop(running.site))
        for other in ("Performance", "Accessibility", "SEO"):
            ada.page.get_by_label(other).uncheck()
        ada.press("Start scan")
        ended(ada, "Fix first")
        ada.page.get_by_role("link", name="The whole security report").click()
        report = ada.page.url
        found = ada.page.locator(f"#check-{CHECK}")
        title = found.get_by_role("heading").inner_text()

        found.get_by_role("link", name="Mute…").click()
        # The browser requires a reason.
        ada.page.get_by_label("Reason").fill("The proxy sends one from next month on.")
        ada.page.get_by_role("button", name="Mute", exact=True).click()
        ada.told("The report itself does not change.")
        muted = ada.page.get_by_role("region", name="Muted", exact=True)
        expect(muted.get_by_role("heading", name=title)).to_be_visible()
        expect(muted).to_contain_text("The proxy sends one from next month on.")
        expect(ada.page.get_by_role("region", name="Result")).to_contain_text("without muted findings")
        expect(ada.page.locator(f"#check-{CHECK}").get_by_role("link", name="Mute…")).to_have_count(0)

        ada.section("Muted")
        row = ada.page.get_by_role("row", name=NAME)
        expect(row).to_contain_text("on all of localhost")
        row.get_by_role("button", name=f"Unmute {NAME}").click()
        ada.told("Unmuted: the finding shows again.")
        ada.told("Nothing is muted")
        ada.page.goto(report)
        expect(ada.page.locator(f"#check-{CHECK}").get_by_role("link", name="Mute…")).to_be_visible()
        assert "without muted findings" not in ada.page.content()

    travel(journey)
