"""Tests for unsubscribing from a topic with one click, without login, cookie or CSRF token."""

from __future__ import annotations

import re

import pytest
from django.core import mail, signing
from django.test import Client

from accounts.mailing import topics
from accounts.mailing.sending import send_due
from accounts.mailing.topics import Subscription
from accounts.models import Unsubscription, User
from accounts.pages import unsubscribing
from tests.accounts.mailing.conftest import Post
from tests.factories import Member, person_of

ONE_CLICK_BODY = {"List-Unsubscribe": "One-Click"}


@pytest.fixture
def stranger_browser() -> Client:
    return Client(enforce_csrf_checks=True)


def path_of(home: Member, user: User) -> str:
    return f"/unsubscribe/{topics.token(user, f'webhooks:{home.organization.pk}')}"


def test_one_click_post_unsubscribes_from_the_topic(
    home: Member, ann: User, post: Post, stranger_browser: Client
) -> None:
    post(ann)
    send_due()
    header = mail.outbox[0].extra_headers["List-Unsubscribe"]
    path = header.strip("<>").removeprefix("http://localhost:8000")
    for _ in range(2):
        answer = stranger_browser.post(path, ONE_CLICK_BODY)
        assert answer.status_code == 200, "no redirect: RFC 8058, 3.1"
        assert b"You are unsubscribed" in answer.content
        assert "Set-Cookie" not in answer.headers
    assert [(unsubscription.user, unsubscription.topic) for unsubscription in Unsubscription.objects.all()] == [
        (ann, mail_topic(home))
    ]
    assert post(ann) == 0


def mail_topic(home: Member) -> str:
    return f"webhooks:{home.organization.pk}"


def test_get_request_does_not_unsubscribe(home: Member, ann: User, stranger_browser: Client) -> None:
    path = path_of(home, ann)
    for method in ("get", "head", "options"):
        getattr(stranger_browser, method)(path)
        getattr(stranger_browser, method)(f"{path}/again")
    assert not Unsubscription.objects.exists()
    Subscription(ann, mail_topic(home)).stop()
    stranger_browser.get(path)
    stranger_browser.get(f"{path}/again")
    assert Unsubscription.objects.exists()


def test_unsubscribe_page_offers_resubscription(home: Member, ann: User, post: Post, stranger_browser: Client) -> None:
    post(ann, subject="The last news")
    page = stranger_browser.get(path_of(home, ann)).content.decode()
    assert page.count("<button") == 1
    assert "E-mails about webhooks of Home go to" in page
    assert "The last news" in page
    for button, message in (("Unsubscribe", "You are unsubscribed"), ("Subscribe again", "You are subscribed again")):
        assert button in page
        (action,) = re.findall(r'<form method="post" action="([^"]+)"', page)
        page = stranger_browser.post(action).content.decode()
        assert message in page
        assert "The last news" in page
    assert not Unsubscription.objects.exists()
    assert post(ann) == 1


def test_forged_unsubscribe_link_is_refused(home: Member, ann: User, stranger_browser: Client) -> None:
    ben = person_of(home, "owner", "ben@home.test")
    _, rest = topics.token(ann, mail_topic(home)).split(":", 1)
    mixed = f"{topics.token(ben, mail_topic(home)).split(':')[0]}:{rest}"
    token_with_other_salt = signing.Signer(salt="accounts.sign-up").sign_object([ann.pk, mail_topic(home)])
    for token in (mixed, token_with_other_salt, "x", "a:b:c", "💥", "%00", "x" * 5000):
        for path in (f"/unsubscribe/{token}", f"/unsubscribe/{token}/again"):
            assert stranger_browser.post(path, ONE_CLICK_BODY).status_code == 410
    assert not Unsubscription.objects.exists()


def test_unsubscribe_link_of_a_deleted_person_returns_410(home: Member, ann: User, stranger_browser: Client) -> None:
    path = path_of(home, ann)
    ann.delete()
    assert stranger_browser.post(path, ONE_CLICK_BODY).status_code == 410


def test_unsubscribe_token_contains_only_ids(home: Member, ann: User) -> None:
    token = topics.token(ann, mail_topic(home))
    assert signing.Signer(salt=topics.SALT).unsign_object(token) == [ann.pk, mail_topic(home)]


def test_unsubscribe_requests_have_a_rate_limit(
    home: Member, ann: User, stranger_browser: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unsubscribing, "MAX_CLICKS_PER_TOKEN", 2)
    answers = [stranger_browser.post(path_of(home, ann), ONE_CLICK_BODY).status_code for _ in range(3)]
    assert answers == [200, 200, 429]
