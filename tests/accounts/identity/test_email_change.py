"""Tests for changing the e-mail address."""

from __future__ import annotations

from typing import Any

import pytest
from allauth.account.models import EmailAddress
from django.core import mail
from django.test import Client

from accounts.mailing.filters import WORD_JOINER
from accounts.models import ActivityEvent, User
from accounts.pages import login
from tests.accounts.identity.people import EMAIL, PASSWORD, is_logged_in, log_in, path_of
from tests.accounts.mailbox import link_in_mail
from tests.factories import Member, browser_of, person_of

NEW = "ada@new.test"


@pytest.fixture
def ada(db: None) -> User:
    return User.objects.create_user(EMAIL, PASSWORD)


@pytest.fixture
def client(ada: User) -> Client:
    client = Client()
    log_in(client)
    return client


def test_new_address_takes_effect_when_its_link_is_confirmed(client: Client, ada: User) -> None:
    elsewhere = browser_of(ada)
    assert EMAIL in client.get("/account/email/").content.decode()
    assert client.post("/account/email/", {"email": "Ada@New.test"})["Location"] == "/account/email/"
    assert NEW in client.get("/account/email/").content.decode()
    ada.refresh_from_db()
    assert ada.email == EMAIL
    link = link_in_mail(NEW)
    assert EMAIL in mail.outbox[-1].body.replace(WORD_JOINER, ""), "whoever gets it knows whose account it is"
    reader = Client()  # This client has no session, because people may read the e-mail on a phone.
    assert NEW in reader.get(link).content.decode()
    ada.refresh_from_db()
    assert ada.email == EMAIL, "no program that looks into mails changes anything"
    assert reader.post(link)["Location"] == "/login/"
    ada.refresh_from_db()
    assert ada.email == NEW
    assert not is_logged_in(reader)
    assert mail.outbox[-1].to == [EMAIL]
    assert NEW in mail.outbox[-1].body
    assert elsewhere.get("/account/").status_code == 302, "other sessions have ended"
    assert path_of(log_in(Client(), NEW)) == "/dashboard/"
    assert log_in(Client(), EMAIL).status_code == 200
    assert reader.post(link).status_code == 410, "the link is good for one use"
    assert list(EmailAddress.objects.values_list("email", "verified", "primary")) == [(NEW, True, True)]


def test_address_change_is_in_the_activity_log(home: Member) -> None:
    person = person_of(home, "member", EMAIL)
    client = browser_of(person)
    client.post("/account/email/", {"email": NEW})
    client.post(link_in_mail(NEW))
    event = ActivityEvent.objects.latest("id")
    assert (event.action, event.object_name) == ("person.email_changed", NEW)


def test_taken_address_gets_the_same_response_but_another_mail(client: Client, ada: User) -> None:
    User.objects.create_user("Bob@people.test", PASSWORD)
    response_for_free_address = client.post("/account/email/", {"email": NEW})
    response_for_taken_address = client.post("/account/email/", {"email": "BOB@people.test"})
    assert (response_for_free_address.status_code, response_for_free_address["Location"]) == (
        response_for_taken_address.status_code,
        response_for_taken_address["Location"],
    )
    assert mail.outbox[-1].to == ["bob@people.test"]
    assert "You already have an account" in mail.outbox[-1].body
    assert "/account/email/" not in mail.outbox[-1].body


def test_address_taken_before_confirmation_is_not_assigned(client: Client, ada: User) -> None:
    client.post("/account/email/", {"email": NEW})
    link = link_in_mail(NEW)
    User.objects.create_user("Ada@New.test", PASSWORD)
    assert "belongs to another account" in client.post(link, follow=True).content.decode()
    ada.refresh_from_db()
    assert ada.email == EMAIL


def test_unconfirmed_address_cannot_log_in_or_reset_a_password(client: Client, ada: User) -> None:
    client.post("/account/email/", {"email": NEW})
    assert log_in(Client(), NEW).status_code == 200
    Client().post("/password/", {"email": NEW})
    assert "No active account" in mail.outbox[-1].body


def test_second_change_request_invalidates_the_first_link(client: Client, ada: User) -> None:
    client.post("/account/email/", {"email": "typo@new.test"})
    link = link_in_mail("typo@new.test")
    client.post("/account/email/", {"email": NEW})
    assert Client().post(link).status_code == 410
    assert Client().post(link_in_mail(NEW)).status_code == 302


def test_address_change_requires_reauthentication(ada: User) -> None:
    client = browser_of(ada)
    refused = client.post("/account/email/", {"email": NEW})
    assert path_of(refused) == "/account/again/"
    assert mail.outbox == []
    client.post(refused["Location"], {"password": PASSWORD})
    assert mail.outbox[-1].to == [NEW], "the interrupted request is performed after the reauthentication"


@pytest.mark.parametrize("key", ["x", "a:b:c", "é", "%00", "\x00"])
def test_forged_confirmation_link_is_refused_with_410(ada: User, key: str) -> None:
    for response in (Client().get(f"/account/email/{key}/"), Client().post(f"/account/email/{key}/")):
        assert response.status_code == 410
    ada.refresh_from_db()
    assert ada.email == EMAIL


@pytest.mark.parametrize("email", ["", "ada", EMAIL, EMAIL.upper(), "a@b.test\nBcc: c@d.test", "a\x00@b.test"])
def test_invalid_or_unchanged_address_is_refused(client: Client, email: str) -> None:
    assert client.post("/account/email/", {"email": email}).status_code == 200
    assert mail.outbox == []


def test_confirmation_mails_have_a_rate_limit(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(login, "MAX_MAILS_PER_RECIPIENT", 1)
    assert client.post("/account/email/", {"email": NEW}).status_code == 302
    assert client.post("/account/email/", {"email": NEW}).status_code == 429


def test_mail_server_outage_returns_503(client: Client, ada: User, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> None:
        raise OSError("gone")

    monkeypatch.setattr("django.core.mail.EmailMessage.send", fail)
    assert client.post("/account/email/", {"email": NEW}).status_code == 503


def test_address_changed_by_an_operator_can_be_changed_again(client: Client, ada: User) -> None:
    client.get("/account/email/")
    User.objects.filter(pk=ada.pk).update(email="ada@operator.test")
    assert "ada@operator.test" in client.get("/account/email/").content.decode()
    client.post("/account/email/", {"email": NEW})
    client.post(link_in_mail(NEW))
    ada.refresh_from_db()
    assert ada.email == NEW
