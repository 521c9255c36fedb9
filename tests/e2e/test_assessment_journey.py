"""Browser test for an assessment by keyboard, in which two people judge the same page at once."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import RunningService
from tests.e2e.test_audit_journeys import add_shop, wait_for_text
from tests.e2e.test_journeys import (  # noqa: F401  # fixtures
    PASSWORD,
    Journey,
    Person,
    has_javascript,
    run_journey,
    sign_up,
)
from tests.operations.stack.processes import wait_until

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("service")]

CRITERION = "2.4.3 Focus Order"
REFRESH_TIMEOUT_S = 60


def log_in_again(person: Person, email: str) -> None:
    person.open("/login/")
    person.page.get_by_label("E-mail address").fill(email)
    person.page.get_by_label("Password").fill(PASSWORD)
    person.page.keyboard.press("Enter")
    expect(person.page.get_by_role("heading", name="Overview")).to_be_visible()


def judge_by_keyboard(page: Page, result: str, note: str) -> None:
    """Choose a result in the first row, write a note and save, with keys only."""
    page.get_by_label("Result of").first.focus()
    page.keyboard.type(result)
    page.keyboard.press("Tab")
    page.keyboard.press("Control+A")
    page.keyboard.type(note)
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Save of").first).to_be_focused()
    page.keyboard.press("Enter")


def has_copied_results(person: Person) -> bool:
    person.page.reload()
    return person.page.get_by_text("are being copied").count() == 0


def test_two_people_judge_a_page_by_keyboard(running: RunningService, run_journey: Callable[[Journey], None]) -> None:  # noqa: F811
    def journey(new_person: Callable[[], Person]) -> None:
        ada, bert = new_person(), new_person()
        sign_up(ada)
        ada.follow_link("Options")
        ada.page.get_by_label("Address", exact=True).fill(add_shop(running.site))
        for other in ("Security", "Performance", "SEO"):
            ada.page.get_by_label(other).uncheck()
        ada.press("Start scan")
        wait_for_text(ada, "Fix first")
        ada.follow_link("Assess")
        ada.press("Create the assessment")
        ada.expect_text("The assessment was created.")
        wait_until(lambda: has_copied_results(ada), REFRESH_TIMEOUT_S)
        untested = ada.page.get_by_text("criteria decided").first.inner_text()
        ada.page.get_by_role("link", name=CRITERION).focus()
        ada.page.keyboard.press("Enter")
        expect(ada.page.get_by_role("heading", name=CRITERION)).to_be_visible()
        log_in_again(bert, ada.email)
        bert.page.goto(ada.page.url)

        judge_by_keyboard(ada.page, "Passed", "The order makes sense.")
        expect(ada.page.get_by_role("status").filter(has_text="Saved: 2.4.3")).to_be_visible()
        expect(ada.page.get_by_text("criteria decided").first).not_to_have_text(untested)
        assert "1 of 55" in ada.page.get_by_text("criteria decided").first.inner_text()

        judge_by_keyboard(bert.page, "Failed", "The footer comes first.")
        conflict = bert.page.get_by_role("alert")
        expect(conflict).to_contain_text("saved this while you were editing")
        expect(conflict).to_contain_text("The order makes sense.")
        expect(bert.page.get_by_label("Note of")).to_have_value("The footer comes first.")
        expect(bert.page.get_by_label("Result of")).to_have_value("failed")
        bert.page.get_by_role("button", name="Save of").focus()
        bert.page.keyboard.press("Enter")
        expect(bert.page.get_by_role("status").filter(has_text="Saved: 2.4.3")).to_be_visible()
        bert.page.get_by_role("link", name="Log", exact=True).click()
        bert.expect_text("from passed to failed")
        bert.expect_text("The footer comes first.")

    run_journey(journey)
