"""Accounts pages in a real browser: accessible in both themes and on a phone, and usable without scripts."""

from __future__ import annotations

import pytest
import pytest_django
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import BrowserContext, Page, expect

from accounts.models import Membership, User
from tests.accounts.conftest import Visit
from tests.accounts.mailbox import link_in_mail
from tests.world import Api, Member, browser_of, member_of, person_of

PASSWORD = "correct horse 9"
PHONE = {"width": 390, "height": 844}

pytestmark = [pytest.mark.django_db(transaction=True, serialized_rollback=True), pytest.mark.slow]


@pytest.fixture
def ada() -> User:
    """Owner of a furnished organization, who also belongs to another one."""
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

    def look(context: BrowserContext, page: Page) -> dict[str, list[str]]:
        context.add_cookies([{"name": "sessionid", "value": session, "url": live_server.url}])
        page.goto(f"{live_server.url}/o/home/members/")
        found = {}
        for button in (".menu-button", ".switch-button", ".person"):
            page.click(button)
            flaws = Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
            wide = page.evaluate("document.documentElement.scrollWidth") > PHONE["width"]
            found[button] = [each["nodes"][0]["html"] for each in flaws] + ["scrolls sideways"] * wide
            page.keyboard.press("Escape")
        return found

    found = visit(look, color_scheme=scheme, viewport=PHONE)
    assert found == {".menu-button": [], ".switch-button": [], ".person": []}


def test_without_scripts_the_keyboard_gets_everywhere(
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


def test_a_person_signs_up_and_copies_a_key(
    visit: Visit, live_server: pytest_django.live_server_helper.LiveServer, db: None
) -> None:
    def ask(context: BrowserContext, page: Page) -> None:
        page.goto(f"{live_server.url}/login/")
        page.get_by_role("link", name="Sign up").click()
        page.get_by_label("E-mail address").fill("ada@people.test")
        page.get_by_role("button", name="Send me the link").click()
        page.wait_for_url("**/signup/sent/")

    visit(ask)
    link = link_in_mail("ada@people.test")

    def finish(context: BrowserContext, page: Page) -> str:
        context.grant_permissions(["clipboard-read", "clipboard-write"], origin=live_server.url)
        page.goto(live_server.url + link)
        page.get_by_label("Name of the organization").fill("Engines")
        page.get_by_label("Password").fill(PASSWORD)
        page.get_by_role("button", name="Create the account").click()
        page.wait_for_url("**/o/engines*/")
        page.goto(f"{page.url}keys/")
        page.get_by_label("Name", exact=True).fill("Nightly build")
        page.get_by_role("button", name="Create key").click()
        page.get_by_role("button", name="Copy").click()
        page.get_by_role("button", name="Copied").wait_for()
        copied: str = page.evaluate("navigator.clipboard.readText()")
        return copied

    assert Api(visit(finish)).get("/v1/usage").status_code == 200


def test_a_key_is_created_renamed_and_given_another_secret(
    visit: Visit, live_server: pytest_django.live_server_helper.LiveServer, home: Member
) -> None:
    person = person_of(home, "admin", "ada@people.test")
    person.set_password(PASSWORD)
    person.save()

    def shown(page: Page) -> str:
        return page.locator("#plaintext").inner_text()

    def manage(context: BrowserContext, page: Page) -> tuple[str, str]:
        page.goto(f"{live_server.url}/login/")
        page.get_by_label("E-mail address").fill("ada@people.test")
        page.get_by_label("Password").fill(PASSWORD)
        page.get_by_role("button", name="Log in", exact=True).click()
        page.wait_for_url("**/o/home/")
        page.goto(f"{live_server.url}/o/home/keys/")
        page.get_by_label("Name", exact=True).fill("Nightly build")
        page.get_by_role("radio", name="Read").check()
        expect(page.get_by_label("Last day")).to_be_hidden()
        page.get_by_label("Expires", exact=True).select_option("On a date")
        expect(page.get_by_label("Last day")).to_be_visible()
        page.get_by_label("Expires", exact=True).select_option("In 30 days")
        page.get_by_role("button", name="Create key").click()
        first = shown(page)

        page.get_by_label("Rename the key Nightly build").click()
        row = page.get_by_role("row", name="Nightly build")
        row.get_by_label("New name").fill("Build")
        row.get_by_role("button", name="Rename").click()
        expect(page.get_by_text("The key Nightly build is now called Build.")).to_be_visible()
        assert first not in page.content()

        page.get_by_role("link", name="Regenerate the key Build").click()
        expect(page.get_by_label("Expires", exact=True)).to_have_value("30")
        page.get_by_role("button", name="Regenerate").click()
        expect(page.get_by_role("heading", name="The new secret of Build")).to_be_visible()
        return first, shown(page)

    first, second = visit(manage)
    assert [Api(each).get("/v1/usage").status_code for each in (first, second)] == [200, 200]
    assert Api(second).post("/v1/scan", {}).json()["code"] == "INSUFFICIENT_SCOPE"

    def end(context: BrowserContext, page: Page) -> None:
        context.add_cookies([{"name": "sessionid", "value": cookie, "url": live_server.url}])
        page.goto(f"{live_server.url}/o/home/keys/")
        page.get_by_role("link", name=f"End the former secret {first[:12]} now").click()
        page.get_by_role("button", name="End now").click()
        expect(page.get_by_text(f"The former secret {first[:12]}… of Build has ended.")).to_be_visible()

    cookie = browser_of(person).cookies["sessionid"].value
    visit(end)
    assert Api(first).get("/v1/usage").json()["code"] == "KEY_REVOKED"
    assert Api(second).get("/v1/usage").status_code == 200
