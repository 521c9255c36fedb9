"""E-mail about a disabled webhook: to owners and admins, once for each time that the webhook is disabled."""

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
def gone_webhook(home: Member, receiver: Site) -> Webhook:
    """Webhook that was disabled because its receiver has answered 410."""
    webhook, _ = register_webhook(home, f"{receiver.url}/hook")
    receiver.routes["/hook"] = Answer("bye", status=410)
    finished_scan(home)
    assert [attempt.status for attempt in attempt_deliveries()] == [410]
    return webhook


def test_e_mail_about_disabled_webhook_goes_to_owners_and_admins_once(
    home: Member, people: None, gone_webhook: Webhook
) -> None:
    send_due()
    send_due()
    assert [message.to for message in mail.outbox] == [["owner@home.test"], ["admin@home.test"]]
    message = mail.outbox[0]
    assert message.from_email == "noreply@localhost"
    assert message.subject == "A webhook of Home was disabled"
    for text in (
        gone_webhook.id,
        gone_webhook.url,
        "410 Gone",
        "The receiver answered 410.",
        f"/api/webhooks/{gone_webhook.id}",
    ):
        assert text in message.body
    assert "&" not in message.body
    assert isinstance(message, EmailMultiAlternatives)
    html = str(message.alternatives[0][0])
    assert f"/o/home/webhooks/{gone_webhook.id}" in html
    assert "410 Gone" in html


def test_e_mail_names_begin_of_failures(home: Member, people: None, receiver: Site) -> None:
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


def test_webhook_disabled_by_organization_causes_no_e_mail(home: Member, people: None, receiver: Site) -> None:
    webhook, _ = register_webhook(home, f"{receiver.url}/hook")
    home.api.patch(f"/api/webhooks/{webhook.id}", {"enabled": False})
    assert not Mail.objects.exists()


def test_enabling_webhook_withdraws_unsent_e_mail(home: Member, people: None, gone_webhook: Webhook) -> None:
    home.api.patch(f"/api/webhooks/{gone_webhook.id}", {"enabled": True})
    send_due()
    assert mail.outbox == []


def test_webhook_disabled_again_causes_another_e_mail(home: Member, people: None, gone_webhook: Webhook) -> None:
    send_due()
    home.api.patch(f"/api/webhooks/{gone_webhook.id}", {"enabled": True})
    finished_scan(home)
    make_due()
    attempt_deliveries()
    send_due()
    assert len(mail.outbox) == 4


def test_disabled_webhook_without_owner_or_admin_is_logged(
    home: Member, receiver: Site, caplog: pytest.LogCaptureFixture
) -> None:
    register_webhook(home, f"{receiver.url}/hook")
    receiver.routes["/hook"] = Answer("bye", status=410)
    finished_scan(home)
    assert [attempt.status for attempt in attempt_deliveries()] == [410]
    assert "nobody to tell" in caplog.text
    assert not Mail.objects.exists()
