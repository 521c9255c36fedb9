"""Tests for signing up."""

from __future__ import annotations

import smtplib
from typing import Any

import pytest
import pytest_django
from django.core import mail
from django.db import DatabaseError, connection
from django.test import Client
from django.utils import timezone

from accounts import services
from accounts.models import ActivityEvent, Membership, Organization, User
from accounts.pages import login
from accounts.services import AccountRefused, create_person, sign_up_token
from infrastructure.web.mail import CONSOLE
from tests.accounts.mailbox import link_in_mail
from tests.page_reading import page_of
from tests.responses import ClientResponse

EMAIL = "ada@people.test"
PASSWORD = "correct horse 9"
FORM = {"organization": "Analytical Engines", "password": PASSWORD}

pytestmark = pytest.mark.django_db


def request_sign_up(client: Client, email: str = EMAIL) -> ClientResponse:
    return client.post("/signup/", {"email": email})


def test_sign_up_creates_a_person_who_owns_an_organization(client: Client) -> None:
    assert client.get("/signup/").status_code == 200
    assert client.post("/signup/", {"email": EMAIL})["Location"] == "/signup/sent/"
    assert not User.objects.exists()
    link = link_in_mail(EMAIL)
    assert EMAIL in client.get(link).content.decode()
    response = client.post(link, FORM)
    assert (response.status_code, response["Location"]) == (302, "/dashboard/")
    membership = Membership.objects.get()
    assert (membership.user.email, membership.role) == (EMAIL, "owner")
    assert (membership.organization.name, membership.organization.tier_id) == ("Analytical Engines", "free")
    assert membership.user.check_password(PASSWORD)
    assert not membership.user.is_staff
    assert client.session["_auth_user_id"] == str(membership.user.pk)
    assert ActivityEvent.objects.get().action == "organization.created"
    keys = f"/o/{membership.organization.slug}/keys/"
    made = client.post(keys, {"name": "First", "scope": "read", "lifetime": ""})
    assert "/keys/?shown=key_" in made["Location"], "who has just chosen a password is not asked for it"


def test_sign_up_continues_with_the_requested_scan() -> None:
    """The sign-up link also works in another browser, because people often read e-mail on a phone."""
    client = Client(REMOTE_ADDR="198.51.100.9")
    page = client.get("/scan?url=shop.example.com/teas", follow=True)
    assert "shop.example.com/teas" in page.content.decode()
    (next_page,) = page_of(page).xpath("//input[@name='next']/@value")
    client.post("/signup/", {"email": "eve@people.test", "next": next_page})
    link = link_in_mail("eve@people.test")
    # The e-mail must not contain this text, because a stranger may have requested the e-mail.
    assert "shop" not in mail.outbox[-1].body
    elsewhere = Client()
    assert "shop.example.com/teas" in elsewhere.get(link).content.decode()
    scan_form = elsewhere.post(link, FORM, follow=True)
    (address,) = page_of(scan_form).xpath("//main//input[@name='url']/@value")
    assert address == "shop.example.com/teas"


def test_login_continues_with_the_requested_scan(client: Client) -> None:
    User.objects.create_user(EMAIL, PASSWORD)
    page = client.get("/scan?url=shop.example.com", follow=True)
    (redirect_to_login,) = page_of(page).xpath("//main//a[starts-with(@href, '/login/')]/@href")
    assert "shop.example.com" in client.get(redirect_to_login).content.decode()
    login_page = page_of(client.get(redirect_to_login))
    (next_page,) = login_page.xpath("//form[.//input[@name='password']]//input[@name='next']/@value")
    response = client.post("/login/", {"login": EMAIL, "password": PASSWORD, "next": next_page})
    assert response["Location"] == "/scan?url=shop.example.com"


@pytest.mark.parametrize(
    ("email", "next_page"),
    [
        ("a@people.test", "https://evil.test/"),
        ("b@people.test", "//evil.test"),
        ("c@people.test", "javascript:alert(1)"),
        ("d@people.test", f"/scan?url={'a' * 1000}"),
    ],
)
def test_sign_up_ignores_foreign_or_long_next_page(email: str, next_page: str) -> None:
    # Each test case needs another address, because addresses have a rate limit.
    client = Client(REMOTE_ADDR="198.51.100.9")
    client.post("/signup/", {"email": email, "next": next_page})
    response = client.post(link_in_mail(email), FORM)
    assert response["Location"] == "/dashboard/"


def test_taken_address_gets_the_same_response_but_another_mail(client: Client) -> None:
    response_for_new_address = client.post("/signup/", {"email": "new@people.test"})
    User.objects.create_user(EMAIL, PASSWORD)
    response_for_taken_address = client.post("/signup/", {"email": "ADA@people.test"})
    assert (response_for_new_address.status_code, response_for_new_address["Location"]) == (
        response_for_taken_address.status_code,
        response_for_taken_address["Location"],
    )
    assert response_for_new_address.content == response_for_taken_address.content
    assert "You already have an account" in mail.outbox[-1].body
    assert "/signup/" not in mail.outbox[-1].body


@pytest.mark.parametrize(
    "token", ["x", "a:b:c", ":", "%00", "é", pytest.param(sign_up_token(EMAIL)[:-1] + "_", id="changed")]
)
def test_forged_sign_up_link_is_refused_with_410(client: Client, token: str) -> None:
    for response in (client.get(f"/signup/{token}/"), client.post(f"/signup/{token}/", FORM)):
        assert response.status_code == 410
        assert "no longer valid" in response.content.decode()
    assert not User.objects.exists()


def test_sign_up_link_expires_after_a_day(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    token = sign_up_token(EMAIL)
    assert client.get(f"/signup/{token}/").status_code == 200
    monkeypatch.setattr(services, "SIGN_UP_LIFETIME_S", -1)
    assert client.get(f"/signup/{token}/").status_code == 410


def test_invitation_token_cannot_be_used_to_sign_up(client: Client) -> None:
    from django.core import signing

    assert client.get(f"/signup/{signing.dumps(EMAIL, salt='accounts.invitation')}/").status_code == 410


def test_sign_up_link_creates_one_account(client: Client) -> None:
    link = f"/signup/{sign_up_token(EMAIL)}/"
    client.post(link, FORM)
    again = Client().post(link, {"organization": "Other", "password": "another horse 9"})
    assert again["Location"] == "/login/"
    assert User.objects.get().check_password(PASSWORD)
    assert Organization.objects.count() == 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"password": "short1"}, "too short"),
        ({"password": "password"}, "too common"),
        ({"password": "ada@people.test"}, "too similar"),
        ({"password": "x9" * 251}, "at most 500 characters"),
        ({"password": ""}, "required"),
        ({"organization": ""}, "required"),
        ({"organization": "x" * 101}, "at most 100 characters"),
        ({"organization": "two\nlines"}, "on one line"),
        ({"organization": "right\u202eleft"}, "on one line"),
    ],
)
def test_invalid_sign_up_field_displays_an_error(client: Client, change: dict[str, str], message: str) -> None:
    response = client.post(f"/signup/{sign_up_token(EMAIL)}/", FORM | change)
    assert response.status_code == 200
    page = response.content.decode()
    assert message in page
    assert 'aria-invalid="true"' in page
    assert not User.objects.exists()
    assert not Organization.objects.exists()


@pytest.mark.parametrize(
    "email", ["", "ada", "ada@", "a@b.test\nBcc: c@d.test", "x" * 250 + "@people.test", "a\x00@b.test"]
)
def test_invalid_address_gets_no_mail(client: Client, email: str) -> None:
    assert client.post("/signup/", {"email": email}).status_code == 200
    assert mail.outbox == []


def test_sign_up_ignores_unknown_fields(client: Client) -> None:
    client.post(f"/signup/{sign_up_token(EMAIL)}/", FORM | {"is_staff": "1", "tier": "enterprise", "email": "x@y.test"})
    person = User.objects.get()
    assert (person.email, person.is_staff, person.is_superuser) == (EMAIL, False, False)
    assert Organization.objects.get().tier_id == "free"


def test_organizations_with_the_same_name_have_different_slugs(client: Client) -> None:
    for email in (EMAIL, "bob@people.test"):
        Client().post(
            f"/signup/{sign_up_token(email)}/", FORM | {"organization": "日本 🚀" if email == EMAIL else "Demo"}
        )
    Client().post(f"/signup/{sign_up_token('eve@people.test')}/", FORM | {"organization": "Demo"})
    assert Organization.objects.count() == 3
    demo = services.ensure_organization(name="Demo")
    assert not demo.members.exists(), "what an operator names at the command line is no stranger's"


def test_closed_sign_up_is_refused_with_403(client: Client, settings: pytest_django.Settings) -> None:
    settings.SIGN_UP_OPEN = False
    for path in ("/signup/", f"/signup/{sign_up_token(EMAIL)}/"):
        for response in (client.get(path), client.post(path, FORM | {"email": EMAIL})):
            assert response.status_code == 403
            assert "by invitation" in response.content.decode()
    assert mail.outbox == []
    assert not User.objects.exists()
    assert "/signup/" not in client.get("/login/").content.decode()


def test_domain_with_fullwidth_letters_counts_as_the_same_recipient(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Mail servers receive the domain in ASCII."""
    monkeypatch.setattr(login, "MAX_MAILS_PER_RECIPIENT", 1)
    spellings = ("ada@people.test", "ada@\uff50eople.test", "ada@PE\uff2fPLE.test")
    assert [request_sign_up(Client(), email).status_code for email in spellings] == [302, 429, 429]


def test_sign_up_mails_are_limited_per_recipient(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(login, "MAX_MAILS_PER_RECIPIENT", 2)
    for _ in range(2):
        assert request_sign_up(Client()).status_code == 302
    for address in ("192.0.2.1", "192.0.2.2"):
        response = Client(REMOTE_ADDR=address).post("/signup/", {"email": "ADA@people.test"})
        assert (response.status_code, response["Retry-After"]) == (429, "3600")
    assert request_sign_up(Client(), "ada+1@people.test").status_code == 429, "the same mailbox"
    assert len(mail.outbox) == 2
    assert request_sign_up(Client(), "bob@people.test").status_code == 302


def test_sign_up_mails_are_limited_per_client(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(login, "MAX_MAILS_PER_CLIENT", 2)
    # IPv6 addresses in one /64 network belong to one customer.
    addresses = ["2001:db8::1", "2001:db8::2", "2001:db8::3"]
    statuses = [
        Client(REMOTE_ADDR=address).post("/signup/", {"email": f"nobody-{number}@people.test"}).status_code
        for number, address in enumerate(addresses)
    ]
    assert statuses == [302, 302, 429]
    assert Client(REMOTE_ADDR="2001:db8:0:1::1").post("/signup/", {"email": EMAIL}).status_code == 302


def test_mail_server_outage_at_sign_up_returns_503(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise smtplib.SMTPServerDisconnected("gone")

    monkeypatch.setattr("django.core.mail.EmailMessage.send", fail)
    response = client.post("/signup/", {"email": EMAIL})
    assert response.status_code == 503
    assert "could not be sent" in response.content.decode()


def test_sign_up_redirects_people_who_are_logged_in(client: Client) -> None:
    client.force_login(User.objects.create_user(EMAIL))
    assert client.get("/signup/")["Location"] == "/dashboard/"


def test_long_names_get_different_slugs() -> None:
    first, second = (
        "A very long name of a company that goes on and on and on and on " + suffix for suffix in ("1", "2")
    )
    one, two = services.ensure_organization(name=first), services.ensure_organization(name=second)
    assert one.pk != two.pk
    assert services.ensure_organization(name=first).pk == one.pk
    assert max(len(one.slug), len(two.slug)) <= 60
    exact = services.ensure_organization(name="x" * 60)
    assert exact.slug == "x" * 60
    assert exact.created_at <= timezone.now()


def test_taken_address_does_not_cause_a_failing_sql_statement(db: None) -> None:
    """PostgreSQL would log a failing statement with its values, including the password's hash."""
    failed = []

    def record_statement(execute: Any, sql: str, *arguments: Any) -> Any:
        try:
            return execute(sql, *arguments)
        except DatabaseError:
            failed.append(sql)
            raise

    with connection.execute_wrapper(record_statement):
        first = create_person(email=EMAIL, password=PASSWORD)
        for email in (EMAIL, EMAIL.upper()):
            with pytest.raises(AccountRefused):
                create_person(email=email, password=PASSWORD)
    assert failed == []
    assert User.objects.get() == first
    assert first.check_password(PASSWORD)


PAGES = ("/signup/", "/signup/sent/", "/password/", "/password/sent/")


@pytest.mark.parametrize("path", PAGES)
def test_mail_pages_say_whether_mails_are_only_logged(
    client: Client, path: str, settings: pytest_django.Settings
) -> None:
    for backend, is_mail_logged in ((CONSOLE, True), ("django.core.mail.backends.smtp.EmailBackend", False)):
        settings.EMAIL_BACKEND = backend
        page = client.get(path).content.decode()
        assert ("E-mails are written to its log" in page) == is_mail_logged
        assert ("Check your e-mail" in page) == (path.endswith("/sent/") and not is_mail_logged)
