"""The e-mail about a disabled webhook: to owners and admins, once, and not lost with a mail server."""

from __future__ import annotations

from datetime import timedelta
from smtplib import SMTPServerDisconnected

import pytest
from django.core import mail
from django.core.mail import EmailMessage
from django.db import connection
from django.utils import timezone

from tests.sites.server import Answer, Site
from tests.world import Member, attempt_deliveries, finished_scan, person_of, register_webhook
from webhooks.models import Webhook
from webhooks.tasks import send_notices


@pytest.fixture
def people(home: Member, stranger: Member) -> None:
    for role in ("owner", "admin", "member", "viewer"):
        person_of(home, role, f"{role}@home.test")
    gone = person_of(home, "admin", "gone@home.test")
    gone.is_active = False
    gone.save()
    person_of(stranger, "owner", "owner@stranger.test")


@pytest.fixture
def gone(home: Member, receiver: Site) -> Webhook:
    """A webhook that has just answered 410."""
    webhook, _ = register_webhook(home, f"{receiver.url}/hook")
    receiver.routes["/hook"] = Answer("bye", status=410)
    finished_scan(home)
    attempt_deliveries()
    return webhook


def test_owners_and_admins_are_told_once(home: Member, people: None, gone: Webhook) -> None:
    send_notices()
    send_notices()
    (message,) = mail.outbox
    assert message.to == ["admin@home.test", "owner@home.test"]
    assert message.from_email == "noreply@localhost"
    assert message.subject == "A webhook of Home was disabled"
    for text in (gone.id, gone.url, "410 Gone", "The receiver answered 410.", f"/api/webhooks/{gone.id}"):
        assert text in message.body
    assert "&" not in message.body


def test_days_of_failures_are_told_with_their_beginning(home: Member, people: None, receiver: Site) -> None:
    register_webhook(home, f"{receiver.url}/hook")
    since = timezone.now() - timedelta(days=6)
    Webhook.objects.update(failing_since=since, failures=50)
    receiver.routes["/hook"] = Answer(status=500)
    finished_scan(home)
    attempt_deliveries()
    send_notices()
    (message,) = mail.outbox
    assert f"failed for 5 days, since {since:%Y-%m-%d %H:%M} UTC" in message.body
    assert "The receiver answered 500." in message.body


def test_what_an_organization_did_itself_is_not_told(home: Member, people: None, receiver: Site) -> None:
    webhook, _ = register_webhook(home, f"{receiver.url}/hook")
    home.api.patch(f"/api/webhooks/{webhook.id}", {"enabled": False})
    send_notices()
    assert mail.outbox == []


def test_one_that_was_enabled_again_needs_no_notice(home: Member, people: None, gone: Webhook) -> None:
    home.api.patch(f"/api/webhooks/{gone.id}", {"enabled": True})
    send_notices()
    assert mail.outbox == []


def test_a_mail_server_that_does_not_take_it_is_asked_again(
    people: None, gone: Webhook, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with monkeypatch.context() as patch:

        def refuse(self: EmailMessage) -> int:
            raise SMTPServerDisconnected("not now")

        patch.setattr(EmailMessage, "send", refuse)
        send_notices()
        send_notices()
    assert caplog.text.count(f"the notice of webhook {gone.id} could not be sent") == 1
    gone.refresh_from_db()
    assert gone.notice_due_at is not None
    assert gone.notice_due_at > timezone.now() + timedelta(minutes=10)
    send_notices()
    assert mail.outbox == []
    Webhook.objects.update(notice_due_at=timezone.now())
    send_notices()
    assert len(mail.outbox) == 1


def test_it_is_given_up_after_two_days(
    people: None, gone: Webhook, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(self: EmailMessage) -> int:
        raise OSError("no route")

    monkeypatch.setattr(EmailMessage, "send", refuse)
    Webhook.objects.update(disabled_at=timezone.now() - timedelta(days=2))
    send_notices()
    gone.refresh_from_db()
    assert gone.notice_due_at is None


def test_without_anybody_to_tell_the_log_says_so(gone: Webhook, caplog: pytest.LogCaptureFixture) -> None:
    send_notices()
    assert "nobody to tell" in caplog.text
    gone.refresh_from_db()
    assert gone.notice_due_at is None


def test_no_lock_is_held_while_the_mail_server_thinks(
    people: None, gone: Webhook, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[bool] = []

    def send(self: EmailMessage) -> int:
        seen.append(connection.in_atomic_block and len(connection.savepoint_ids) > 0)
        send_notices()  # another worker, meanwhile
        return 1

    monkeypatch.setattr(EmailMessage, "send", send)
    send_notices()
    assert seen == [False], "sent once, outside of a transaction of its own"
    gone.refresh_from_db()
    assert gone.notice_due_at is None
