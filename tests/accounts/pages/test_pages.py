"""Logging in and out."""

from __future__ import annotations

import pytest
from django.http import HttpResponse
from django.test import Client
from redis.exceptions import ConnectionError as RedisConnectionError

from accounts import limits
from accounts.access import organizations_of, rows_of_member
from accounts.models import Membership, User
from accounts.pages import login
from scans.models import Scan
from tests.world import Member, make_scan

PASSWORD = "correct horse 9"


@pytest.fixture
def ada(db: None) -> User:
    return User.objects.create_user("ada@people.test", PASSWORD)


def log_in(client: Client, email: str = "ada@people.test", password: str = PASSWORD, **data: str) -> HttpResponse:
    return client.post("/login/", {"username": email, "password": password, **data})


def is_logged_in(client: Client) -> bool:
    return "_auth_user_id" in client.session


@pytest.mark.parametrize("email", ["ada@people.test", "Ada@People.TEST", " ada@people.test "])
def test_the_address_and_the_password_log_in(ada: User, email: str) -> None:
    client = Client()
    response = log_in(client, email)
    assert (response.status_code, response["Location"]) == (302, "/dashboard/")
    assert is_logged_in(client)


@pytest.mark.parametrize(
    ("email", "password"),
    [("ada@people.test", "wrong"), ("nobody@people.test", PASSWORD), ("ada", PASSWORD), ("", ""), ("\x00", "\x00")],
)
def test_anything_else_does_not(ada: User, email: str, password: str) -> None:
    client = Client()
    response = log_in(client, email, password)
    assert response.status_code == 200
    assert not is_logged_in(client)
    assert PASSWORD not in response.content.decode()


def test_an_unknown_address_and_a_wrong_password_get_the_same_answer(ada: User) -> None:
    wrong = log_in(Client(), password="wrong").content.decode()
    unknown = log_in(Client(), "nobody@people.test").content.decode()
    assert "The e-mail address or the password is wrong." in wrong
    assert "The e-mail address or the password is wrong." in unknown


def test_who_was_closed_out_stays_out(ada: User) -> None:
    User.objects.update(is_active=False)
    client = Client()
    log_in(client)
    assert not is_logged_in(client)


@pytest.mark.parametrize(
    ("target", "location"),
    [
        ("/report/scan_x?a=b", "/report/scan_x?a=b"),
        ("http://testserver/docs/", "http://testserver/docs/"),
        ("https://evil.test/", "/dashboard/"),
        ("//evil.test/", "/dashboard/"),
        ("/\\evil.test", "/dashboard/"),
        ("///evil.test", "/dashboard/"),
        ("javascript:alert(1)", "/dashboard/"),
        ("http:evil.test", "/dashboard/"),
    ],
)
def test_next_leads_to_our_own_host_only(ada: User, target: str, location: str) -> None:
    assert log_in(Client(), next=target)["Location"] == location
    form = Client().get("/login/", {"next": target}).content.decode()
    assert "evil" not in form
    assert "javascript" not in form


def test_a_form_without_its_token_is_refused_with_a_page_of_ours(ada: User) -> None:
    client = Client(enforce_csrf_checks=True)
    response = log_in(client)
    assert response.status_code == 403
    assert "The form has expired." in response.content.decode()
    assert not is_logged_in(client)


def test_attempts_are_limited_per_account(ada: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(login, "ATTEMPTS_PER_ACCOUNT", 2)
    for _ in range(2):
        assert log_in(Client(), password="wrong").status_code == 200
    client = Client(REMOTE_ADDR="192.0.2.1")
    response = log_in(client, "ADA@people.test")
    assert response.status_code == 429
    assert response["Retry-After"] == "60"
    assert not is_logged_in(client)


def test_attempts_are_limited_per_client_address(ada: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(login, "ATTEMPTS_PER_ADDRESS", 2)
    for number in range(2):
        assert log_in(Client(), f"nobody-{number}@people.test").status_code == 200
    assert log_in(Client()).status_code == 429
    assert log_in(Client(REMOTE_ADDR="192.0.2.1")).status_code == 302


def test_without_redis_nobody_logs_in(ada: User, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*args: object, **kwargs: object) -> None:
        raise RedisConnectionError("gone")

    monkeypatch.setattr(limits, "get_usage", fail)
    client = Client()
    response = log_in(client)
    assert (response.status_code, response["Retry-After"]) == (503, "60")
    assert not is_logged_in(client)


def test_logging_out_takes_a_post(ada: User) -> None:
    client = Client()
    client.force_login(ada)
    assert client.get("/logout/").status_code == 405
    assert is_logged_in(client)
    response = client.post("/logout/")
    assert (response.status_code, response["Location"]) == (302, "/")
    assert not is_logged_in(client)


def test_the_admin_has_no_form_of_its_own(ada: User) -> None:
    client = Client()
    for response in (client.get("/admin/login/?next=/admin/scans/"), client.post("/admin/login/?next=/admin/scans/")):
        assert (response.status_code, response["Location"]) == (302, "/login/?next=/admin/scans/")
    client.force_login(ada)
    assert client.get("/admin/", follow=True).status_code == 403
    User.objects.update(is_staff=True)
    assert client.get("/admin/login/")["Location"] == "/admin/"


def test_a_persons_rows_are_those_of_their_organizations(ada: User, home: Member, stranger: Member) -> None:
    mine, other = make_scan(home), make_scan(stranger)
    assert list(organizations_of(ada)) == []
    Membership.objects.create(organization=home.organization, user=ada, role="viewer")
    assert list(organizations_of(ada)) == [home.organization]
    assert list(rows_of_member(Scan, ada)) == [mine]
    Membership.objects.create(organization=stranger.organization, user=ada)
    assert set(rows_of_member(Scan, ada)) == {mine, other}
