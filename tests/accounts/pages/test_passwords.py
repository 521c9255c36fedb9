"""Tests for resetting and changing passwords."""

from __future__ import annotations

import pytest
import pytest_django
from django.core import mail
from django.test import Client

from accounts.models import LoginSession, User
from accounts.pages import login, security
from tests.accounts.mailbox import link_in_mail
from tests.factories import browser_of
from tests.responses import ClientResponse

EMAIL = "ada@people.test"
OLD, NEW = "correct horse 9", "another horse 10"


@pytest.fixture
def ada(db: None) -> User:
    return User.objects.create_user(EMAIL, OLD)


def choose_new_password(client: Client, link: str, password: str = NEW) -> ClientResponse:
    """Follow the reset link to a form without a token in its URL, and submit a new password."""
    form = client.get(link)
    if form.status_code != 302:
        return form
    assert form["Location"].endswith("/new/")
    return client.post(form["Location"], {"new_password1": password, "new_password2": password})


def test_password_reset_ends_all_sessions(client: Client, ada: User) -> None:
    elsewhere = browser_of(ada)
    assert elsewhere.get("/account/").status_code == 200
    assert client.post("/password/", {"email": "Ada@People.test"})["Location"] == "/password/sent/"
    response = choose_new_password(client, link_in_mail(EMAIL))
    assert (response.status_code, response["Location"]) == (302, "/login/")
    ada.refresh_from_db()
    assert ada.check_password(NEW)
    assert elsewhere.get("/account/").status_code == 302, "all sessions have ended"
    assert not LoginSession.objects.exists()
    assert "was just changed" in mail.outbox[-1].body


def test_reset_link_sets_the_password_of_an_account_without_one(client: Client, db: None) -> None:
    person = User.objects.create_user(EMAIL)
    client.post("/password/", {"email": EMAIL})
    choose_new_password(client, link_in_mail(EMAIL))
    person.refresh_from_db()
    assert person.check_password(NEW)


def test_reset_link_works_once(client: Client, ada: User) -> None:
    client.post("/password/", {"email": EMAIL})
    link = link_in_mail(EMAIL)
    choose_new_password(client, link)
    again = choose_new_password(Client(), link, "yet another horse 11")
    assert again.status_code == 410
    ada.refresh_from_db()
    assert ada.check_password(NEW)


def test_expired_reset_link_returns_410(client: Client, ada: User, settings: pytest_django.Settings) -> None:
    client.post("/password/", {"email": EMAIL})
    settings.PASSWORD_RESET_TIMEOUT = -1
    assert choose_new_password(client, link_in_mail(EMAIL)).status_code == 410


@pytest.mark.parametrize("path", ["/password/x/y/", "/password/MQ/new/", "/password/MQ/a-b/", "/password/%00/x/"])
def test_forged_reset_link_is_refused_with_410(client: Client, ada: User, path: str) -> None:
    for response in (client.get(path), client.post(path, {"new_password1": NEW, "new_password2": NEW})):
        assert response.status_code == 410
    ada.refresh_from_db()
    assert ada.check_password(OLD)


def test_reset_link_ignores_the_host_header(client: Client, ada: User) -> None:
    client.post("/password/", {"email": EMAIL}, HTTP_HOST="127.0.0.1", HTTP_X_FORWARDED_HOST="evil.test")
    assert "evil" not in mail.outbox[-1].body
    assert link_in_mail(EMAIL).startswith("/password/")


def test_unknown_address_gets_the_same_response_but_another_mail(client: Client, ada: User) -> None:
    User.objects.create_user("closed@people.test", OLD, is_active=False)
    response = client.post("/password/", {"email": EMAIL})
    for email in ("nobody@people.test", "closed@people.test"):
        response_for_unknown_address = client.post("/password/", {"email": email})
        assert (response.status_code, response["Location"], response.content) == (
            response_for_unknown_address.status_code,
            response_for_unknown_address["Location"],
            response_for_unknown_address.content,
        )
        assert mail.outbox[-1].to == [email]
        assert "No active account" in mail.outbox[-1].body


def test_reset_mails_are_limited_per_recipient(client: Client, ada: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(login, "MAX_MAILS_PER_RECIPIENT", 1)
    for email in (EMAIL, "nobody@people.test"):
        assert client.post("/password/", {"email": email}).status_code == 302
        assert client.post("/password/", {"email": email}).status_code == 429


def test_all_spellings_of_an_address_share_the_reset_mail_limit(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    User.objects.create_user("kim.isk@people.test", OLD)
    monkeypatch.setattr(login, "MAX_MAILS_PER_RECIPIENT", 2)
    spellings = [
        "Kim.Isk@people.test",
        "k\u0130m.isk@people.test",
        "\u212aim.isk@people.test",
        "kim.\u0131sk@people.test",
    ]
    spellings += ["kim.isk@\uff50eople.test", "kim.isk@p\uff45ople.test", "kim.isk@people\u3002test"]
    for spelling in spellings:
        Client().post("/password/", {"email": spelling})
    recipients = [message.message()["To"] for message in mail.outbox]
    assert recipients.count("kim.isk@people.test") <= 2


def test_password_change_ends_other_sessions(ada: User) -> None:
    here, elsewhere = browser_of(ada), browser_of(ada)
    form = {"old_password": OLD, "new_password1": NEW, "new_password2": NEW}
    assert here.post("/account/", form)["Location"] == "/account/"
    ada.refresh_from_db()
    assert ada.check_password(NEW)
    assert here.get("/account/").status_code == 200
    assert elsewhere.get("/account/").status_code == 302
    assert LoginSession.objects.count() == 1
    assert mail.outbox[-1].to == [EMAIL]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"old_password": "wrong"}, "entered incorrectly"),
        ({"new_password2": "different 12"}, "match"),
        ({"new_password1": "short", "new_password2": "short"}, "too short"),
    ],
)
def test_invalid_password_form_changes_nothing(ada: User, change: dict[str, str], message: str) -> None:
    form = {"old_password": OLD, "new_password1": NEW, "new_password2": NEW}
    response = browser_of(ada).post("/account/", form | change)
    assert response.status_code == 200
    assert message in response.content.decode()
    ada.refresh_from_db()
    assert ada.check_password(OLD)
    assert mail.outbox == []


def test_guesses_of_the_old_password_are_limited(ada: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(security, "MAX_AUTHENTICATIONS_PER_HOUR", 1)
    here = browser_of(ada)
    form = {"old_password": "wrong", "new_password1": NEW, "new_password2": NEW}
    assert here.post("/account/", form).status_code == 200
    assert here.post("/account/", form | {"old_password": OLD}).status_code == 429
    # The reauthentication page shares the limit.
    assert here.post("/account/again/", {"password": OLD}).status_code == 429
