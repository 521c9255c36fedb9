"""Browser tests that fill in the forms of settings, quiet hours, maintenance and webhooks, with and without scripts."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.conf import settings
from playwright.sync_api import expect

from tests.e2e.test_journeys import Journey, Person, has_javascript, run_journey, sign_up  # noqa: F401  # fixtures
from tests.targets.server import Answer, Site

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("service")]

LOGO = settings.BASE_DIR / "static" / "img" / "icon-192.png"


def test_settings_are_changed_and_show_a_logo(run_journey: Callable[[Journey], None]) -> None:  # noqa: F811
    def journey(new_person: Callable[[], Person]) -> None:
        ada = new_person()
        sign_up(ada)
        ada.open_section("Settings")
        form = ada.page.get_by_role("form", name="Shared reports and prints")
        name = form.locator("[name=name]")
        name.fill("Larkspur Web")
        form.get_by_label("Logo", exact=True).set_input_files(LOGO)
        form.get_by_role("button", name="Save").click()
        logo = ada.page.locator("main img[src^='/logo/']")
        expect(logo).to_be_visible()
        expect(name).to_have_value("Larkspur Web")
        form.get_by_label("Remove the logo").check()
        form.get_by_role("button", name="Save").click()
        expect(logo).to_have_count(0)

    run_journey(journey)


def test_quiet_hours_are_set_and_removed(run_journey: Callable[[Journey], None]) -> None:  # noqa: F811
    def journey(new_person: Callable[[], Person]) -> None:
        ada = new_person()
        sign_up(ada)
        ada.open("/account/quiet-hours/")
        ada.page.get_by_label("From", exact=True).fill("22:00")
        ada.page.get_by_label("To", exact=True).fill("07:00")
        ada.page.get_by_label("Time zone").select_option("Europe/Berlin")
        ada.press("Save")
        ada.open("/account/quiet-hours/")
        expect(ada.page.get_by_label("From", exact=True)).to_have_value("22:00")
        expect(ada.page.get_by_label("Time zone")).to_have_value("Europe/Berlin")
        ada.press("Remove")
        ada.open("/account/quiet-hours/")
        expect(ada.page.get_by_role("button", name="Remove")).to_have_count(0)

    run_journey(journey)


def test_maintenance_window_is_planned_and_deleted(run_journey: Callable[[Journey], None]) -> None:  # noqa: F811
    def journey(new_person: Callable[[], Person]) -> None:
        ada = new_person()
        sign_up(ada)
        ada.page.goto(f"{ada.page.url.split('?')[0]}maintenance/")
        ada.follow_link("New window")
        page = ada.page
        page.get_by_label("Name", exact=True).fill("Deployment")
        page.get_by_label("From", exact=True).fill("2035-03-01T22:00")
        page.get_by_label("To", exact=True).fill("2035-03-01T21:00")
        page.get_by_label("Time zone").select_option("Europe/Berlin")
        ada.press("Save")
        expect(page.locator(".problem").first).to_be_visible()
        expect(page.get_by_label("Name", exact=True)).to_have_value("Deployment")
        expect(page.get_by_label("Time zone")).to_have_value("Europe/Berlin")
        page.get_by_label("To", exact=True).fill("2035-03-02T02:00")
        ada.press("Save")
        row = page.get_by_role("row", name="Deployment")
        expect(row).to_contain_text("2035-03-01 22:00 Europe/Berlin")
        row.get_by_role("link", name="Change Deployment").click()
        ada.press("Delete the window")
        ada.expect_text("No maintenance windows")

    run_journey(journey)


def test_slack_webhook_is_set_up_and_tested(run_journey: Callable[[Journey], None]) -> None:  # noqa: F811
    with Site({"*": Answer("ok")}) as slack:

        def journey(new_person: Callable[[], Person]) -> None:
            ada = new_person()
            sign_up(ada)
            ada.open_section("Webhooks")
            ada.page.get_by_role("link", name="Slack").click()
            # The events of monitors are preselected, and no signing secret is shown.
            expect(ada.page.get_by_role("checkbox", name="monitor.alert")).to_be_checked()
            expect(ada.page.get_by_role("checkbox", name="scan.completed")).not_to_be_checked()
            ada.page.get_by_label("Address", exact=True).fill(f"{slack.url}/services/T0/B0/x")
            ada.press("Add and send a test")
            ada.expect_text("The test was accepted")
            ada.follow_link("Done")
            expect(ada.page.get_by_role("heading", name="Slack").first).to_be_visible()
            assert "whsec_" not in ada.page.content()

        run_journey(journey)
        assert [request.path for request in slack.requests] == ["/services/T0/B0/x"]


def test_member_changes_roles_that_the_page_explains(run_journey: Callable[[Journey], None]) -> None:  # noqa: F811
    def journey(new_person: Callable[[], Person]) -> None:
        ada = new_person()
        sign_up(ada)
        ada.open_section("Members")
        table = ada.page.get_by_role("table").filter(has_text="Owner").filter(has_text="Viewer")
        expect(table.last).to_be_visible()
        ada.page.get_by_label("E-mail address").fill("bert@people.test")
        ada.page.get_by_label("Role", exact=True).select_option("admin")
        ada.press("Send invitation")
        ada.expect_text("bert@people.test has been invited.")
        ada.page.get_by_role("button", name="Revoke").first.click()
        expect(ada.page.get_by_role("button", name="Revoke")).to_have_count(0)

    run_journey(journey)
