"""E-mail about a disabled webhook: to owners and admins, once each time that a webhook is disabled."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.core import mail
from django.core.mail import EmailMultiAlternatives
from django.utils import timezone

from accounts.mailing.sending import send_due
from accounts.models import Mail
from tests.factories import Member, attempt_deliveries, finished_scan, make_due, person_of, register_webhook
from tests.targets.server import Answer, Site
from webhooks.models import Webhook


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
    assert [attempt.status for attempt in attempt_deliveries()] == [410]
    return webhook


def test_owners_and_admins_are_told_once(home: Member, people: None, gone: Webhook) -> None:
    send_due()
    send_due()
    assert [message.to for message in mail.outbox] == [["owner@home.test"], ["admin@home.test"]]
    message = mail.outbox[0]
    assert message.from_email == "noreply@localhost"
    assert message.subject == "A webhook of Home was disabled"
    for text in (gone.id, gone.url, "410 Gone", "The receiver answered 410.", f"/api/webhooks/{gone.id}"):
        assert text in message.body
    assert "&" not in message.body
    assert isinstance(message, EmailMultiAlternatives)
    html = str(message.alternatives[0][0])
    assert f"/o/home/webhooks/{gone.id}" in html
    assert "410 Gone" in html


def test_days_of_failures_are_told_with_their_beginning(home: Member, people: None, receiver: Site) -> None:
    register_webhook(home, f"{receiver.url}/hook")
    since = timezone.now() - timedelta(days=6)
    Webhook.objects.update(failing_since=since, failures=50)
    receiver.routes["/hook"] = Answer(status=500)
    finished_scan(home)
    attempt_deliveries()
    send_due()
    message = mail.outbox[0]
    assert f"failed for 5 days, since {since:%Y-%m-%d %H:%M} UTC" in message.body
    assert "The receiver answered 500." in message.body


def test_what_an_organization_did_itself_is_not_told(home: Member, people: None, receiver: Site) -> None:
    webhook, _ = register_webhook(home, f"{receiver.url}/hook")
    home.api.patch(f"/api/webhooks/{webhook.id}", {"enabled": False})
    assert not Mail.objects.exists()


def test_one_that_was_enabled_again_needs_no_notice(home: Member, people: None, gone: Webhook) -> None:
    home.api.patch(f"/api/webhooks/{gone.id}", {"enabled": True})
    send_due()
    assert mail.outbox == []


def test_it_is_told_again_when_it_happens_again(home: Member, people: None, gone: Webhook) -> None:
    send_due()
    home.api.patch(f"/api/webhooks/{gone.id}", {"enabled": True})
    finished_scan(home)
    make_due()
    attempt_deliveries()
    send_due()
    assert len(mail.outbox) == 4


def test_without_anybody_to_tell_the_log_says_so(
    home: Member, receiver: Site, caplog: pytest.LogCaptureFixture
) -> None:
    register_webhook(home, f"{receiver.url}/hook")
    receiver.routes["/hook"] = Answer("bye", status=410)
    finished_scan(home)
    assert [attempt.status for attempt in attempt_deliveries()] == [410]
    assert "nobody to tell" in caplog.text
    assert not Mail.objects.exists()
