"""Browser tests of second factors, passkeys (with a virtual authenticator) and an identity provider."""

from __future__ import annotations

from typing import Any

import pytest
import pytest_django
from playwright.sync_api import BrowserContext, Page, expect

from accounts.models import Organization, User
from infrastructure.environment import IdentityProvider
from tests.accounts.conftest import Visit
from tests.accounts.identity.people import EMAIL, PASSWORD, code, recovery_codes
from tests.accounts.mailbox import link_in_mail
from tests.factories import member_of, person_of

pytestmark = [pytest.mark.django_db(transaction=True, serialized_rollback=True), pytest.mark.slow]

LiveServer = pytest_django.live_server_helper.LiveServer
AUTHENTICATOR = {
    "protocol": "ctap2",
    "transport": "internal",
    "hasResidentKey": True,
    "hasUserVerification": True,
    "isUserVerified": True,
    "automaticPresenceSimulation": True,
}


@pytest.fixture
def ada() -> User:
    user = person_of(member_of("Home"), "owner", EMAIL)
    user.set_password(PASSWORD)
    user.save()
    return user


def log_in(page: Page, base: str, password: str = PASSWORD) -> None:
    page.goto(f"{base}/login/")
    page.get_by_label("E-mail address").fill(EMAIL)
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Log in", exact=True).click()


def log_out(page: Page, base: str) -> None:
    page.goto(f"{base}/account/")
    page.locator(".person").click()
    page.get_by_role("button", name="Log out").click()
    page.wait_for_url(f"{base}/")


def enter_code(page: Page, entered: str) -> None:
    page.get_by_role("textbox", name="Code").fill(entered)
    page.get_by_role("button", name="Log in", exact=True).click()


def test_authenticator_app_and_recovery_codes_work_without_scripts(
    visit: Visit, ada: User, live_server: LiveServer
) -> None:
    """All pages in this test must work without JavaScript."""
    base = live_server.url

    def add(context: BrowserContext, page: Page) -> tuple[str, list[str]]:
        log_in(page, base)
        page.wait_for_url("**/o/home/")
        page.goto(f"{base}/account/")
        page.get_by_role("link", name="Second factor and passkeys").click()
        page.get_by_role("link", name="Add an app").click()
        secret = page.locator("form code").inner_text().replace(" ", "")
        expect(page.get_by_role("img", name="QR code")).to_be_visible()
        page.get_by_role("textbox", name="Code").fill(code(secret))
        page.get_by_role("button", name="Turn on").click()
        codes = page.locator(".recovery-codes code").all_inner_texts()
        log_out(page, base)
        log_in(page, base)
        page.wait_for_url("**/login/code/")
        enter_code(page, code(secret, later=1))
        page.wait_for_url("**/o/home/")
        log_out(page, base)
        # From here on, the user has lost the phone with the authenticator app.
        log_in(page, base)
        enter_code(page, "00000000")
        expect(page.get_by_text("This code is wrong")).to_be_visible()
        enter_code(page, codes[0])
        page.wait_for_url("**/o/home/")
        page.goto(f"{base}/account/security/")
        expect(page.get_by_text("You have 9 left.")).to_be_visible()
        page.get_by_role("link", name="Remove …").click()
        page.get_by_role("button", name="Remove").click()
        expect(page.get_by_role("link", name="Add an app")).to_be_visible()
        return secret, codes

    _, codes = visit(add, java_script_enabled=False)
    assert len(codes) == 10


def test_passkey_is_second_factor_and_passwordless_login(visit: Visit, ada: User, live_server: LiveServer) -> None:
    base = live_server.url

    def walk(context: BrowserContext, page: Page) -> list[str]:
        problems: list[str] = []
        page.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
        devtools = context.new_cdp_session(page)
        devtools.send("WebAuthn.enable")
        devtools.send("WebAuthn.addVirtualAuthenticator", {"options": AUTHENTICATOR})
        log_in(page, base)
        page.wait_for_url("**/o/home/")
        page.goto(f"{base}/account/security/passkeys/add/")
        page.get_by_label("Name").fill("Phone")
        page.get_by_role("button", name="Create the passkey").click()
        page.wait_for_url("**/account/security/codes/")
        page.goto(f"{base}/account/security/")
        expect(page.get_by_role("rowheader", name="Phone")).to_be_visible()
        # In this login, the passkey is the second factor.
        log_out(page, base)
        log_in(page, base)
        page.wait_for_url("**/login/code/")
        page.get_by_role("button", name="Use your passkey").click()
        page.wait_for_url("**/o/home/")
        # In this login, the passkey replaces address and password, and the user is redirected to `next`.
        log_out(page, base)
        page.goto(f"{base}/o/home/scans/")
        page.get_by_role("button", name="Log in with a passkey").click()
        page.wait_for_url(f"{base}/o/home/scans/")
        page.goto(f"{base}/account/security/")
        page.get_by_role("link", name="Remove Phone").click()
        page.get_by_role("button", name="Remove").click()
        expect(page.get_by_role("rowheader", name="Phone")).to_have_count(0)
        return problems

    assert visit(walk) == []


def test_member_without_required_second_factor_can_add_an_app(visit: Visit, ada: User, live_server: LiveServer) -> None:
    Organization.objects.filter(slug="home").update(second_factor_required=True)
    base = live_server.url

    def walk(context: BrowserContext, page: Page) -> None:
        log_in(page, base)
        expect(page.get_by_text("Home requires a second factor")).to_be_visible()
        page.get_by_role("link", name="Add an app").click()
        page.get_by_role("textbox", name="Code").fill(code(page.locator("form code").inner_text().replace(" ", "")))
        page.get_by_role("button", name="Turn on").click()
        page.wait_for_url("**/codes/")
        page.goto(f"{base}/o/home/settings/")
        expect(page.get_by_label("Require a second factor")).to_be_checked()

    visit(walk)
    assert len(recovery_codes(ada)) == 10


def test_identity_provider_login_returns_to_the_requested_page(
    visit: Visit, ada: User, live_server: LiveServer, identity_provider: IdentityProvider, settings: Any
) -> None:
    settings.OIDC_PROVIDERS = [identity_provider]
    base = live_server.url

    def walk(context: BrowserContext, page: Page) -> None:
        page.goto(f"{base}/o/home/scans/")
        page.get_by_role("button", name="Log in with Acme").click()
        page.wait_for_url(f"{identity_provider.issuer}/**")
        page.locator("button", has_text="ada").first.click()
        page.wait_for_url(f"{base}/o/home/scans/")

    visit(walk)


def test_confirmation_link_changes_the_e_mail_address(visit: Visit, ada: User, live_server: LiveServer) -> None:
    base = live_server.url

    def ask(context: BrowserContext, page: Page) -> None:
        log_in(page, base)
        page.wait_for_url("**/o/home/")
        page.goto(f"{base}/account/")
        page.get_by_role("link", name="Change", exact=True).click()
        page.get_by_label("New e-mail address").fill("ada@new.test")
        page.get_by_role("button", name="Send the link").click()
        expect(page.get_by_text("We have sent a link to")).to_be_visible()

    visit(ask)
    link = link_in_mail("ada@new.test")

    def confirm(context: BrowserContext, page: Page) -> None:
        page.goto(f"{base}{link}")
        page.get_by_role("button", name="Use this address").click()
        page.wait_for_url("**/login/")
        expect(page.get_by_text("Your e-mail address is now ada@new.test.")).to_be_visible()

    visit(confirm)
    ada.refresh_from_db()
    assert ada.email == "ada@new.test"
