"""Tests for logging in and out, and for limits of login attempts."""

from __future__ import annotations

import pytest
import pytest_django
from django.contrib.auth.hashers import make_password
from django.test import Client
from redis.exceptions import ConnectionError as RedisConnectionError

from accounts import limits, roles
from accounts.access import organizations_of_user, rows_of_member
from accounts.models import Membership, User
from accounts.pages import login
from accounts.services import ensure_organization
from config import settings as configured
from scans.models import Scan
from tests.factories import Member, make_scan
from tests.responses import ClientResponse

PASSWORD = "correct horse 9"


@pytest.fixture
def ada(db: None) -> User:
    return User.objects.create_user("ada@people.test", PASSWORD)


def log_in(client: Client, email: str = "ada@people.test", password: str = PASSWORD, **data: str) -> ClientResponse:
    return client.post("/login/", {"login": email, "password": password, **data})


def is_logged_in(client: Client) -> bool:
    return "_auth_user_id" in client.session


@pytest.mark.parametrize("email", ["ada@people.test", "Ada@People.TEST", " ada@people.test "])
def test_correct_address_and_password_log_in(ada: User, email: str) -> None:
    client = Client()
    response = log_in(client, email)
    assert (response.status_code, response["Location"]) == (302, "/dashboard/")
    assert is_logged_in(client)


@pytest.mark.parametrize(
    ("email", "password"),
    [("ada@people.test", "wrong"), ("nobody@people.test", PASSWORD), ("ada", PASSWORD), ("", ""), ("\x00", "\x00")],
)
def test_wrong_credentials_do_not_log_in(ada: User, email: str, password: str) -> None:
    client = Client()
    response = log_in(client, email, password)
    assert response.status_code == 200
    assert not is_logged_in(client)
    assert PASSWORD not in response.content.decode()


def test_unknown_address_and_wrong_password_get_the_same_message(ada: User) -> None:
    wrong = log_in(Client(), password="wrong").content.decode()
    unknown = log_in(Client(), "nobody@people.test").content.decode()
    assert "The e-mail address or the password is wrong." in wrong
    assert "The e-mail address or the password is wrong." in unknown


def test_deactivated_account_cannot_log_in(ada: User) -> None:
    User.objects.update(is_active=False)
    client = Client()
    log_in(client)
    assert not is_logged_in(client)


@pytest.mark.parametrize("target", ["/report/scan_x?a=b", "http://testserver/docs/"])
def test_login_redirects_to_next(ada: User, target: str) -> None:
    assert log_in(Client(), next=target)["Location"] == target


def test_logins_are_limited_per_account_and_client(ada: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(login, "MAX_ATTEMPTS_PER_ACCOUNT", 2)
    for _ in range(2):
        assert log_in(Client(), password="wrong").status_code == 200
    client = Client()
    response = log_in(client, "ADA@people.test")
    assert response.status_code == 429
    assert response["Retry-After"] == "60"
    assert not is_logged_in(client)
    # Attempts from one client do not lock the user out of other clients.
    assert log_in(Client(REMOTE_ADDR="192.0.2.1")).status_code == 302


@pytest.mark.parametrize(
    "spelling",
    [
        "KIM.ISK@PEOPLE.TEST",
        "  kim.isk@people.test",
        "kim.isk@\uff50eople.test",
        "k\u0130m.isk@people.test",
        "k\u0131m.isk@people.test",
        "kim.i\u017fk@people.test",
        "\u212aim.isk@people.test",
    ],
)
def test_all_spellings_of_an_address_share_the_login_limit(
    db: None, spelling: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Regression test for spellings with letters such as İ, which used to have separate limits.

    A database may fold these letters to ASCII.
    """
    User.objects.create_user("kim.isk@people.test", PASSWORD)
    monkeypatch.setattr(login, "MAX_ATTEMPTS_PER_ACCOUNT", 2)
    for _ in range(3):
        log_in(Client(), "kim.isk@people.test", password="wrong")
    client = Client()
    log_in(client, spelling)
    assert not is_logged_in(client)


def guess_from_many_addresses(attempts: int) -> None:
    for number in range(attempts):
        log_in(Client(REMOTE_ADDR=f"192.0.2.{number}"), password="wrong")


def test_guesses_from_many_addresses_do_not_lock_out_a_known_browser(
    ada: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(login, "MAX_ATTEMPTS_PER_ACCOUNT_ANYWHERE", 3)
    known_browser = Client()
    assert log_in(known_browser).status_code == 302
    known_browser.post("/logout/")
    guess_from_many_addresses(3)
    assert log_in(Client()).status_code == 429
    assert log_in(known_browser, "ADA@people.test").status_code == 302
    assert is_logged_in(known_browser)


def test_hourly_login_limit_cannot_be_exhausted_from_one_network(ada: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(login, "MAX_ATTEMPTS_PER_ACCOUNT_NETWORK_AND_HOUR", 2)
    monkeypatch.setattr(login, "MAX_ATTEMPTS_PER_ACCOUNT_AND_HOUR", 4)
    known_browser = Client()
    assert log_in(known_browser).status_code == 302
    known_browser.post("/logout/")
    # All of these addresses are in one network.
    guess_from_many_addresses(9)
    assert log_in(Client(REMOTE_ADDR="192.0.2.99"))["Retry-After"] == "3600"
    assert log_in(Client(REMOTE_ADDR="198.51.100.1")).status_code == 302
    assert log_in(Client(REMOTE_ADDR="203.0.113.1")).status_code == 429, "the fifth of the hour"
    assert log_in(Client(REMOTE_ADDR="203.0.113.1"), "eve@people.test").status_code == 200
    assert log_in(known_browser).status_code == 302


def test_known_browser_has_its_own_login_limit(ada: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(login, "MAX_ATTEMPTS_PER_ACCOUNT", 2)
    known_browser = Client()
    assert log_in(known_browser).status_code == 302
    known_browser.post("/logout/")
    answers = [log_in(known_browser, password="wrong").status_code for _ in range(3)]
    assert answers == [200, 200, 429]


def test_device_cookie_is_valid_for_one_account(ada: User, monkeypatch: pytest.MonkeyPatch) -> None:
    User.objects.create_user("eve@people.test", PASSWORD)
    monkeypatch.setattr(login, "MAX_ATTEMPTS_PER_ACCOUNT_ANYWHERE", 3)
    eve = Client()
    log_in(eve, "eve@people.test")
    eve.post("/logout/")
    guess_from_many_addresses(3)
    assert log_in(eve).status_code == 429
    eve.cookies["device"] = "forged:1:signature"
    assert log_in(eve).status_code == 429


def test_device_cookie_contains_no_address(ada: User) -> None:
    cookie = log_in(Client()).cookies["device"]
    assert "ada" not in cookie.value
    assert (cookie["path"], cookie["httponly"], cookie["samesite"]) == ("/login/", True, "Lax")


def test_logins_are_limited_per_client_address(ada: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(login, "MAX_ATTEMPTS_PER_ADDRESS", 2)
    for number in range(2):
        assert log_in(Client(), f"nobody-{number}@people.test").status_code == 200
    assert log_in(Client()).status_code == 429
    assert log_in(Client(REMOTE_ADDR="192.0.2.1")).status_code == 302


@pytest.mark.parametrize(("inside", "outside"), [("192.0.2.{}", "198.51.100.1"), ("2001:db8:5:{}::1", "2001:db8:6::1")])
def test_logins_are_limited_per_network(ada: User, monkeypatch: pytest.MonkeyPatch, inside: str, outside: str) -> None:
    """Attackers rent many addresses in one network, and each login attempt takes CPU time."""
    monkeypatch.setattr(login, "MAX_ATTEMPTS_PER_NETWORK", 2)
    for number in range(2):
        wrong = log_in(Client(REMOTE_ADDR=inside.format(number)), f"nobody-{number}@people.test")
        assert wrong.status_code == 200
    assert log_in(Client(REMOTE_ADDR=inside.format(9))).status_code == 429
    assert log_in(Client(REMOTE_ADDR=outside)).status_code == 302


def test_pbkdf2_hash_is_replaced_by_scrypt_at_login(db: None, settings: pytest_django.Settings) -> None:
    settings.PASSWORD_HASHERS = configured.PASSWORD_HASHERS
    old = make_password(PASSWORD, hasher="pbkdf2_sha256")
    User.objects.create(email="ada@people.test", password=old)
    assert log_in(Client()).status_code == 302
    assert User.objects.get().password.startswith("scrypt$")
    assert log_in(Client()).status_code == 302


def test_redis_outage_refuses_logins_with_503(ada: User, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*args: object, **kwargs: object) -> None:
        raise RedisConnectionError("gone")

    monkeypatch.setattr(limits, "get_usage", fail)
    client = Client()
    response = log_in(client)
    assert (response.status_code, response["Retry-After"]) == (503, "60")
    assert not is_logged_in(client)


def test_logout_requires_post(ada: User) -> None:
    client = Client()
    client.force_login(ada)
    assert client.get("/logout/").status_code == 405
    assert is_logged_in(client)
    response = client.post("/logout/")
    assert (response.status_code, response["Location"]) == (302, "/")
    assert not is_logged_in(client)


def test_admin_login_redirects_to_the_login_page(ada: User) -> None:
    client = Client()
    for response in (client.get("/admin/login/?next=/admin/scans/"), client.post("/admin/login/?next=/admin/scans/")):
        assert (response.status_code, response["Location"]) == (302, "/login/?next=/admin/scans/")
    client.force_login(ada)
    assert client.get("/admin/", follow=True).status_code == 403
    User.objects.update(is_staff=True)
    assert client.get("/admin/login/")["Location"] == "/admin/"


def test_rows_of_member_returns_rows_of_own_organizations_only(ada: User, home: Member, stranger: Member) -> None:
    scan_of_home, scan_of_stranger = make_scan(home), make_scan(stranger)
    assert list(organizations_of_user(ada)) == []
    Membership.objects.create(organization=home.organization, user=ada, role="viewer")
    assert list(organizations_of_user(ada)) == [home.organization]
    assert list(rows_of_member(Scan, ada)) == [scan_of_home]
    Membership.objects.create(organization=stranger.organization, user=ada)
    assert set(rows_of_member(Scan, ada)) == {scan_of_home, scan_of_stranger}


@pytest.mark.parametrize("most", [2, 100])
def test_page_shows_the_right_organization_despite_many_memberships(
    ada: User, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    monkeypatch.setattr(roles, "MAX_LOADED_MEMBERSHIPS", most)
    client = Client()
    client.force_login(ada)
    for number in range(4):
        organization = ensure_organization(name=f"Home {number}")
        Membership.objects.create(organization=organization, user=ada, role="owner")
    for number in range(4):
        assert f'<span class="switch-name">Home {number}</span>' in client.get(f"/o/home-{number}/").content.decode()
    client.post("/organizations/switch", {"organization": str(organization.id)})
    assert '<span class="switch-name">Home 3</span>' in client.get("/organizations/").content.decode()
