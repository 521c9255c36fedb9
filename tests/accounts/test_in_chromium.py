"""Browser tests for the accessibility of the accounts pages.

The pages also work without scripts.
"""

from __future__ import annotations

import pytest
import pytest_django
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import BrowserContext, Page, expect

from accounts.models import Membership, Organization, User
from tests.accounts.conftest import Visit
from tests.factories import browser_of, member_of, person_of

PHONE = {"width": 390, "height": 844}

pytestmark = [pytest.mark.django_db(transaction=True, serialized_rollback=True), pytest.mark.slow]


@pytest.fixture
def ada() -> User:
    """Return an owner of an organization with data in all tables.

    The owner also belongs to another organization.
    """
    home = member_of("Home")
    ada = person_of(home, "owner", "ada@people.test")
    person_of(home, "viewer", "viewer@people.test")
    Membership.objects.create(organization=member_of("Stranger").organization, user=ada, role="viewer")
    return ada


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_open_menus_are_accessible(
    visit: Visit, ada: User, live_server: pytest_django.live_server_helper.LiveServer, scheme: str
) -> None:
    session = browser_of(ada).cookies["sessionid"].value

    def open_page(context: BrowserContext, page: Page) -> dict[str, list[str]]:
        context.add_cookies([{"name": "sessionid", "value": session, "url": live_server.url}])
        page.goto(f"{live_server.url}/o/home/members/")
        problems = {}
        for button in (".menu-button", ".switch-button", ".person"):
            page.click(button)
            flaws = Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
            wide = page.evaluate("document.documentElement.scrollWidth") > PHONE["width"]
            problems[button] = [flaw["nodes"][0]["html"] for flaw in flaws] + ["scrolls sideways"] * wide
            page.keyboard.press("Escape")
        return problems

    problems = visit(open_page, color_scheme=scheme, viewport=PHONE)
    assert problems == {".menu-button": [], ".switch-button": [], ".person": []}


@pytest.mark.parametrize("name", ["Home", "Städtische Bibliotheken und Archive am Niederrhein", "W" * 60])
def test_header_fits_a_phone_with_a_long_organization_name(
    visit: Visit, ada: User, live_server: pytest_django.live_server_helper.LiveServer, name: str
) -> None:
    """Regression test: a long name pushed the menu of the person out of the header."""
    Organization.objects.filter(slug="home").update(name=name)
    session = browser_of(ada).cookies["sessionid"].value

    def measure(context: BrowserContext, page: Page) -> tuple[int, list[float]]:
        context.add_cookies([{"name": "sessionid", "value": session, "url": live_server.url}])
        page.goto(f"{live_server.url}/o/home/members/")
        boxes = [page.locator(button).bounding_box() for button in (".menu-button", ".switch-button", ".person")]
        ends = [box["x"] + box["width"] for box in boxes if box is not None]
        return page.evaluate("document.documentElement.scrollWidth"), ends

    width, ends = visit(measure, viewport=PHONE)
    assert width <= PHONE["width"]
    assert len(ends) == 3
    assert ends == sorted(ends)
    assert ends[-1] <= PHONE["width"]


@pytest.mark.parametrize(
    "path", ["/account/quiet-hours/", "/o/home/maintenance/new", "/o/home/monitors/new", "/o/home/lists/new"]
)
def test_new_form_proposes_the_time_zone_of_the_browser(
    visit: Visit, ada: User, live_server: pytest_django.live_server_helper.LiveServer, path: str
) -> None:
    """Regression test: new forms started with UTC."""
    session = browser_of(ada).cookies["sessionid"].value

    def open_page(context: BrowserContext, page: Page) -> None:
        context.add_cookies([{"name": "sessionid", "value": session, "url": live_server.url}])
        page.goto(live_server.url + path)
        expect(page.get_by_label("Time zone")).to_have_value("Asia/Tokyo")

    visit(open_page, timezone_id="Asia/Tokyo")


def test_menus_work_by_keyboard_without_scripts(
    visit: Visit, ada: User, live_server: pytest_django.live_server_helper.LiveServer
) -> None:
    session = browser_of(ada).cookies["sessionid"].value

    def walk(context: BrowserContext, page: Page) -> list[str]:
        context.add_cookies([{"name": "sessionid", "value": session, "url": live_server.url}])
        page.goto(f"{live_server.url}/o/home/members/")
        assert not page.get_by_role("link", name="Activity log").is_visible()
        page.locator(".menu-button").press("Enter")
        page.get_by_role("link", name="Activity log").press("Enter")
        page.wait_for_url("**/o/home/activity/")
        page.locator(".switch-button").press("Enter")
        page.get_by_role("button", name="Stranger").press("Enter")
        page.wait_for_url("**/o/stranger/")
        page.goto(f"{live_server.url}/organizations/")
        page.locator(".person").press("Enter")
        page.get_by_role("button", name="Log out").press("Enter")
        page.wait_for_url(f"{live_server.url}/")
        return [cookie["name"] for cookie in context.cookies()]

    names = visit(walk, java_script_enabled=False, viewport=PHONE)
    assert "sessionid" not in names


def test_last_day_field_needs_an_expiry_date(
    visit: Visit, ada: User, live_server: pytest_django.live_server_helper.LiveServer
) -> None:
    session = browser_of(ada).cookies["sessionid"].value

    def open_page(context: BrowserContext, page: Page) -> None:
        context.add_cookies([{"name": "sessionid", "value": session, "url": live_server.url}])
        page.goto(f"{live_server.url}/o/home/keys/")
        expect(page.get_by_label("Last day")).to_be_hidden()
        page.get_by_label("Expires", exact=True).select_option("On a date")
        expect(page.get_by_label("Last day")).to_be_visible()

    visit(open_page)
