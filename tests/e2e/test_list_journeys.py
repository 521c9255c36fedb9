"""Life of a list in a real browser: made, filled by pasting, run twice, filtered, compared, shared, deleted."""

from __future__ import annotations

import re
import uuid
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
from tests.targets.server import Answer, Site

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("service")]

HEADERS = {"Content-Type": "text/html; charset=utf-8"}
TITLED = "<!doctype html><html lang='en'><title>{}</title><body><h1>Bread and cakes</h1></body></html>"
UNTITLED = "<!doctype html><html lang='en'><body><h1>Bread and cakes</h1></body></html>"


def untitled(site: Site) -> tuple[str, str]:
    """Add a page without a title; return its path and its address."""
    path = f"/untitled-{uuid.uuid4().hex}"
    site.routes[path] = Answer(UNTITLED, headers=HEADERS)
    return path, site.url_as("localhost") + path


def tab(person: Person, name: str) -> None:
    person.page.get_by_role("navigation", name="Pages of the list").get_by_role("link", name=name, exact=True).click()


def judge(person: Person, sites: int) -> None:
    """Run the list and wait for the end; without scripts the page is reloaded by hand."""
    person.press("Run now")
    person.told(f"The run has begun: {sites} sites.")
    heading = person.page.get_by_role("heading", name="Running now")
    expect(heading).to_be_visible()
    if person.with_scripts:
        expect(heading).to_be_hidden(timeout=1000 * SCAN_S)
        return
    for _ in range(10 * SCAN_S):
        person.page.reload()
        if not heading.is_visible():
            return
    raise AssertionError("the run goes on")


def test_list_of_sites_is_scanned_compared_and_shared(
    running: Running,
    travel: Callable[[Journey], None],  # noqa: F811
) -> None:
    def journey(bring: Callable[[], Person]) -> None:
        ada, visitor = bring(), bring()
        page = ada.page
        bakery, (path, nameless) = shop(running.site), untitled(running.site)
        sign_up(ada)
        ada.section("Lists")
        ada.told("No lists yet")
        page.get_by_label("Name", exact=True).fill("Bakeries")
        for other in ("Security", "Performance", "Accessibility"):
            page.get_by_role("checkbox", name=other).uncheck()
        page.get_by_label("Spread over, in hours").fill("0")
        ada.press("Create list")
        ada.told("The list was created. Add its sites now.")

        # A bad line is named, and nothing is lost.
        page.get_by_label("Paste sites").fill(f"{bakery}\tnorth\tThe first\n{nameless}\tsouth\nftp://nowhere.example/")
        ada.press("Preview")
        ada.told("1 line cannot be read")
        expect(page.get_by_role("row", name=re.compile("^3 "))).to_be_visible()
        page.get_by_label("Paste sites").fill(f"{bakery}\tnorth\tThe first\n{nameless}\tsouth")
        ada.press("Preview")
        ada.told("2 sites were read. Nothing has been saved yet.")
        ada.press("Add 2 sites")
        ada.told("Imported: 2 added.")
        ada.told("No site has been judged yet.")

        judge(ada, 2)
        page.get_by_label("Fails the check").select_option("title")
        ada.press("Filter")
        table = page.get_by_role("table", name="Sites")
        expect(table.get_by_role("rowheader")).to_have_count(1)
        expect(table).to_contain_text(path)
        ada.go("Clear")
        expect(table.get_by_role("rowheader")).to_have_count(2)

        tab(ada, "Common problems")
        item = page.get_by_role("listitem").filter(has=page.get_by_role("heading", name="title", exact=False)).first
        expect(item).to_contain_text("1 of 2 sites")
        item.get_by_role("link", name=re.compile("1 of 2 sites")).click()
        expect(page.get_by_role("main")).to_contain_text(path)

        # The title is mended, and the next snapshot says so. That of the other page is short, which is a warning.
        running.site.routes[path] = Answer(TITLED.format("A bakery by the sea with a title"), headers=HEADERS)
        tab(ada, "Sites")
        judge(ada, 2)
        tab(ada, "Runs")
        ada.page.get_by_role("link", name=re.compile("^Compare the snapshot")).first.click()
        expect(page.get_by_role("table", name="Sites that got better")).to_contain_text(path)
        expect(page.get_by_role("table", name="Checks that fail on fewer sites")).to_contain_text("1")
        tab(ada, "Over time")
        page.get_by_label("Check", exact=True).select_option("title")
        ada.press("Show")
        ada.told("50 % of 2 sites")
        expect(page.get_by_role("img", name=re.compile("0 % at first, 50 % most recently"))).to_be_visible()

        tab(ada, "Sharing")
        ada.told("Nothing is shared")
        page.get_by_label("With the table of all sites").check()
        ada.press("Share")
        ada.told("The page is public.")
        address = page.locator("#address-1").inner_text()
        if ada.with_scripts:
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
        ada.told("Revoked.")
        assert visitor.page.request.get(f"{visitor.base}/{public}").status == 404

        tab(ada, "Settings")
        ada.go("Delete …")
        ada.press("Delete")
        ada.told("The list Bakeries was deleted.")

    travel(journey)
