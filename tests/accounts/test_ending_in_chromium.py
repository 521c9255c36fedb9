"""Browser tests for data exports and deletions."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import TypeVar

import pytest
import pytest_django
from django.db import connection
from django.utils import timezone
from playwright.sync_api import BrowserContext, Page, expect

from accounts.closing.deletion import GRACE_PERIOD, delete_closed
from accounts.models import Membership, Organization, User
from scans.models import Scan
from tests.accounts.conftest import Visit
from tests.accounts.identity.people import EMAIL, PASSWORD
from tests.accounts.test_closing import remaining_row_counts
from tests.factories import Member, browser_of, finished_scan, make_scan, member_of, person_of

pytestmark = [pytest.mark.django_db(transaction=True, serialized_rollback=True), pytest.mark.slow]

LiveServer = pytest_django.live_server_helper.LiveServer
T = TypeVar("T")


@pytest.fixture
def home(db: None) -> Member:
    return member_of("Home")


@pytest.fixture
def ada(home: Member) -> User:
    """Return an owner who must reauthenticate on sensitive pages."""
    user = person_of(home, "owner", EMAIL)
    user.set_password(PASSWORD)
    user.save()
    return user


@pytest.fixture(params=[True, False], ids=["with scripts", "without scripts"])
def has_scripts(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


def restore_session(context: BrowserContext, user: User, base: str) -> None:
    session = run_in_thread(lambda: browser_of(user).cookies["sessionid"].value)
    context.add_cookies([{"name": "sessionid", "value": session, "url": base}])


def run_in_thread(action: Callable[[], T]) -> T:
    """Run database code in another thread.

    Django's ORM does not work in Playwright's event loop.
    """

    def act() -> T:
        try:
            return action()
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as thread:
        return thread.submit(act).result(60)


def reauthenticate(page: Page, base: str) -> None:
    page.wait_for_url(f"{base}/account/again/**")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Confirm").click()


def follow_link(page: Page, name: str) -> None:
    page.get_by_role("main").get_by_role("link", name=name).click()


def press_button(page: Page, name: str) -> None:
    page.get_by_role("main").get_by_role("button", name=name).click()


def delete_rows() -> bool:
    return delete_closed(timezone.now() + GRACE_PERIOD + timedelta(seconds=1), time_limit_s=60)


def test_organization_is_deleted_beside_a_second_tab(
    visit: Visit, home: Member, ada: User, live_server: LiveServer, has_scripts: bool
) -> None:
    """The second tab of the browser shows the other organization."""
    other = member_of("Orchard")
    Membership.objects.create(organization=other.organization, user=ada, role=Membership.Role.OWNER)
    for member in (home, other):
        finished_scan(member)
        make_scan(member)
    before = remaining_row_counts(other.organization.id)
    base = live_server.url

    def walk(context: BrowserContext, page: Page) -> None:
        restore_session(context, ada, base)
        beside = context.new_page()
        beside.goto(f"{base}/o/orchard/scans/")
        page.goto(f"{base}/o/home/settings/")
        follow_link(page, "Delete the organization")
        page.get_by_label("Name of the organization").fill("Orchard")
        press_button(page, "Delete")
        # Reauthentication comes before the validation of the typed name.
        reauthenticate(page, base)
        expect(page.get_by_role("heading", name="Delete Home?")).to_be_visible()
        expect(page.get_by_text("This does not match Home.")).to_be_visible()
        assert run_in_thread(lambda: home.api.get("/v1/usage").status_code) == 200
        page.get_by_label("Name of the organization").fill("Home")
        press_button(page, "Delete")
        page.wait_for_url(f"{base}/organizations/")
        expect(page.get_by_text("Home has been deleted.")).to_be_visible()
        expect(page.get_by_role("main").get_by_role("rowheader")).to_have_text(["Orchard"])
        # API keys, queued scans and memberships end immediately.
        assert run_in_thread(lambda: home.api.get("/v1/usage").json()["code"]) == "KEY_REVOKED"
        unfinished = Scan.objects.exclude(status__in=("completed", "failed"))
        assert run_in_thread(lambda: list(unfinished.values_list("organization", flat=True))) == [other.organization.id]
        not_found = page.goto(f"{base}/o/home/scans/")
        assert not_found is not None
        assert not_found.status == 404
        assert run_in_thread(delete_rows)
        # The second tab still works without a reauthentication.
        beside.reload()
        expect(beside.get_by_role("main").get_by_role("rowheader")).to_have_count(2)

    visit(walk, java_script_enabled=has_scripts)
    assert remaining_row_counts(home.organization.id) == {}
    assert not Organization.objects.filter(id=home.organization.id).exists()
    assert remaining_row_counts(other.organization.id) == before


def test_account_is_deleted_after_a_change_of_owner(
    visit: Visit, home: Member, ada: User, live_server: LiveServer, has_scripts: bool
) -> None:
    base = live_server.url
    person_of(home, "member", "bert@people.test")

    def walk(context: BrowserContext, page: Page) -> None:
        restore_session(context, ada, base)
        page.goto(f"{base}/account/")
        follow_link(page, "Delete your account")
        expect(page.get_by_role("main").get_by_role("button")).to_have_count(0)
        follow_link(page, "Members of Home")
        page.get_by_label("Role of bert@people.test", exact=True).select_option("owner")
        press_button(page, "Change the role of bert@people.test")
        reauthenticate(page, base)
        page.goto(f"{base}/account/delete")
        page.get_by_label("Your e-mail address").fill("somebody@else.test")
        press_button(page, "Delete")
        expect(page.get_by_text("This does not match")).to_be_visible()
        page.get_by_label("Your e-mail address").fill(EMAIL)
        press_button(page, "Delete")
        page.wait_for_url(f"{base}/")
        expect(page.get_by_text("Your account has been deleted.")).to_be_visible()
        page.goto(f"{base}/login/")
        page.get_by_label("E-mail address").fill(EMAIL)
        page.get_by_label("Password").fill(PASSWORD)
        page.get_by_role("button", name="Log in", exact=True).click()
        expect(page.get_by_text("The e-mail address or the password is wrong.")).to_be_visible()

    visit(walk, java_script_enabled=has_scripts)
    assert delete_rows()
    assert not User.objects.filter(id=ada.pk).exists()
    assert home.api.get("/v1/usage").status_code == 200, "the organization is Bert's now"
