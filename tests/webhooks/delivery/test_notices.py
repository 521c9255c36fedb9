"""Tests for the e-mail about a disabled webhook.

It goes to owners and admins.
"""

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
    inactive = person_of(home, "admin", "gone@home.test")
    inactive.is_active = False
    inactive.save()
    person_of(stranger, "owner", "owner@stranger.test")


@pytest.fixture
def webhook_disabled_by_410(home: Member, receiver: Site) -> Webhook:
    """Return a webhook that was disabled by a 410 response."""
    webhook, _ = register_webhook(home, f"{receiver.url}/hook")
    receiver.routes["/hook"] = Answer("bye", status=410)
    finished_scan(home)
    assert [attempt.status for attempt in attempt_deliveries()] == [410]
    return webhook


def test_owners_get_one_e_mail(home: Member, people: None, webhook_disabled_by_410: Webhook) -> None:
    send_due()
    send_due()
    assert [message.to for message in mail.outbox] == [["owner@home.test"], ["admin@home.test"]]
    message = mail.outbox[0]
    assert message.from_email == "noreply@localhost"
    assert message.subject == "A webhook of Home was disabled"
    for text in (
        webhook_disabled_by_410.id,
        webhook_disabled_by_410.name,
        "410 Gone",
        "The receiver answered 410.",
        f"/api/webhooks/{webhook_disabled_by_410.id}",
    ):
        assert text in message.body
    assert "&" not in message.body
    assert isinstance(message, EmailMultiAlternatives)
    html = str(message.alternatives[0][0])
    assert f"/o/home/webhooks/{webhook_disabled_by_410.id}" in html
    assert "410 Gone" in html


def test_e_mail_names_the_first_failure(home: Member, people: None, receiver: Site) -> None:
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


def test_manual_disabling_sends_no_e_mail(home: Member, people: None, receiver: Site) -> None:
    webhook, _ = register_webhook(home, f"{receiver.url}/hook")
    home.api.patch(f"/api/webhooks/{webhook.id}", {"enabled": False})
    assert not Mail.objects.exists()


def test_enabling_withdraws_the_e_mail(home: Member, people: None, webhook_disabled_by_410: Webhook) -> None:
    home.api.patch(f"/api/webhooks/{webhook_disabled_by_410.id}", {"enabled": True})
    send_due()
    assert mail.outbox == []


def test_second_disabling_sends_another_e_mail(home: Member, people: None, webhook_disabled_by_410: Webhook) -> None:
    send_due()
    home.api.patch(f"/api/webhooks/{webhook_disabled_by_410.id}", {"enabled": True})
    finished_scan(home)
    make_due()
    attempt_deliveries()
    send_due()
    assert len(mail.outbox) == 4


def test_webhook_without_an_owner_is_logged(home: Member, receiver: Site, caplog: pytest.LogCaptureFixture) -> None:
    register_webhook(home, f"{receiver.url}/hook")
    receiver.routes["/hook"] = Answer("bye", status=410)
    finished_scan(home)
    assert [attempt.status for attempt in attempt_deliveries()] == [410]
    assert "nobody to notify" in caplog.text
    assert not Mail.objects.exists()
