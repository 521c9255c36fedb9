"""Browser test that creates, compares, shares and deletes a list."""

from __future__ import annotations

import re
import uuid
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
from tests.targets.server import Answer, Site

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("service")]

HEADERS = {"Content-Type": "text/html; charset=utf-8"}
TITLED = "<!doctype html><html lang='en'><title>{}</title><body><h1>Bread and cakes</h1></body></html>"
UNTITLED = "<!doctype html><html lang='en'><body><h1>Bread and cakes</h1></body></html>"


def add_untitled_page(site: Site) -> tuple[str, str]:
    """Add a page without a title to the site.

    Returns its path and its URL.
    """
    path = f"/untitled-{uuid.uuid4().hex}"
    site.routes[path] = Answer(UNTITLED, headers=HEADERS)
    return path, site.url_as("localhost") + path


def open_tab(person: Person, name: str) -> None:
    person.page.get_by_role("navigation", name="Pages of the list").get_by_role("link", name=name, exact=True).click()


def run_list(person: Person, sites: int) -> None:
    """Run the list and wait until the run ends.

    Without JavaScript, the page is reloaded meanwhile.
    """
    person.press("Run now")
    person.expect_text(f"The run has begun: {sites} sites.")
    heading = person.page.get_by_role("heading", name="Running now")
    expect(heading).to_be_visible()
    if person.has_javascript:
        expect(heading).to_be_hidden(timeout=1000 * SCAN_TIMEOUT_S)
        return
    for _ in range(10 * SCAN_TIMEOUT_S):
        person.page.reload()
        if not heading.is_visible():
            return
    raise AssertionError("the run goes on")


def test_list_is_scanned_compared_and_shared(
    running: RunningService,
    run_journey: Callable[[Journey], None],  # noqa: F811
) -> None:
    def journey(new_person: Callable[[], Person]) -> None:
        ada, visitor = new_person(), new_person()
        page = ada.page
        bakery, (path, nameless) = add_shop(running.site), add_untitled_page(running.site)
        sign_up(ada)
        ada.open_section("Lists")
        ada.expect_text("No lists yet")
        page.get_by_label("Name", exact=True).fill("Bakeries")
        for other in ("Security", "Performance", "Accessibility"):
            page.get_by_role("checkbox", name=other).uncheck()
        page.get_by_label("Spread over, in hours").fill("0")
        ada.press("Create list")
        ada.expect_text("The list was created. Add its sites now.")

        # The preview reports the invalid line.
        page.get_by_label("Paste sites").fill(f"{bakery}\tnorth\tThe first\n{nameless}\tsouth\nftp://nowhere.example/")
        ada.press("Preview")
        ada.expect_text("1 line cannot be read")
        expect(page.get_by_role("row", name=re.compile("^3 "))).to_be_visible()
        page.get_by_label("Paste sites").fill(f"{bakery}\tnorth\tThe first\n{nameless}\tsouth")
        ada.press("Preview")
        ada.expect_text("2 sites were read. Nothing has been saved yet.")
        ada.press("Add 2 sites")
        ada.expect_text("Imported: 2 added.")
        ada.expect_text("No site has been judged yet.")

        run_list(ada, 2)
        page.get_by_label("Fails the check").select_option("title")
        ada.press("Filter")
        table = page.get_by_role("table", name="Sites")
        expect(table.get_by_role("rowheader")).to_have_count(1)
        expect(table).to_contain_text(path)
        ada.follow_link("Clear")
        expect(table.get_by_role("rowheader")).to_have_count(2)

        open_tab(ada, "Common problems")
        item = page.get_by_role("listitem").filter(has=page.get_by_role("heading", name="title", exact=False)).first
        expect(item).to_contain_text("1 of 2 sites")
        item.get_by_role("link", name=re.compile("1 of 2 sites")).click()
        expect(page.get_by_role("main")).to_contain_text(path)

        # A missing title is a failure, and a short title a warning.
        running.site.routes[path] = Answer(TITLED.format("A bakery by the sea with a title"), headers=HEADERS)
        open_tab(ada, "Sites")
        run_list(ada, 2)
        open_tab(ada, "Runs")
        ada.page.get_by_role("link", name=re.compile("^Compare the snapshot")).first.click()
        expect(page.get_by_role("table", name="Sites that got better")).to_contain_text(path)
        expect(page.get_by_role("table", name="Checks that fail on fewer sites")).to_contain_text("1")
        open_tab(ada, "Over time")
        page.get_by_label("Check", exact=True).select_option("title")
        ada.press("Show")
        ada.expect_text("50 % of 2 sites")
        expect(page.get_by_role("img", name=re.compile("0 % at first, 50 % most recently"))).to_be_visible()

        open_tab(ada, "Sharing")
        ada.expect_text("Nothing is shared")
        page.get_by_label("With the table of all sites").check()
        ada.press("Share")
        ada.expect_text("The page is public.")
        address = page.locator("#address-1").inner_text()
        if ada.has_javascript:
            page.get_by_role("button", name="Copy", exact=True).first.click()
            assert page.evaluate("navigator.clipboard.readText()") == address
        page.get_by_text("Badge to embed").click()
        page.get_by_label("Number to show").select_option("title")
        ada.press("Show the code")
        expect(page.get_by_alt_text(re.compile("^Preview of the badge: 50 % of 2 sites"))).to_be_visible()
        public = address.removeprefix("http://").partition("/")[2]
        visitor.open(f"/{public}")
        expect(visitor.page.get_by_role("main")).to_contain_text(path)
        ada.press("Revoke")
        ada.expect_text("Revoked.")
        assert visitor.page.request.get(f"{visitor.base}/{public}").status == 404

        open_tab(ada, "Settings")
        ada.follow_link("Delete …")
        ada.press("Delete")
        ada.expect_text("The list Bakeries was deleted.")

    run_journey(journey)
