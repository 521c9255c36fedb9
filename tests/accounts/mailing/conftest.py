"""Fixtures for the e-mail tests."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from pytest_django import Settings

from accounts.mailing import outbox
from accounts.models import User
from tests.factories import Member, person_of
from tests.targets.mail_server import MailServer

Post = Callable[..., int]
NOW = datetime(2026, 11, 21, 7, 15, tzinfo=UTC)
# Context of the e-mail template `webhook_disabled`.
CONTEXT = {
    "webhook": {"id": "wh_1", "name": "Hook", "url": "https://example.com/hook", "disabled_at": NOW},
    "attempt": {"at": NOW, "error_message": "The server answered 410."},
    "is_gone": True,
    "retention_days": 30,
    "page_url": "https://x.test/",
}


@pytest.fixture
def ann(home: Member) -> User:
    return person_of(home, "owner", "ann@home.test")


@pytest.fixture
def post(home: Member) -> Post:
    """Return a function that posts an e-mail of the organization, with defaults for missing arguments."""

    def post_mail(to: User | list[User], **arguments: Any) -> int:
        defaults: dict[str, Any] = {
            "template": "webhook_disabled",
            "subject": "News",
            "topic": f"webhooks:{home.organization.pk}",
            "organization": home.organization,
            "context": CONTEXT,
        }
        return outbox.post(to=to, **(defaults | arguments))

    return post_mail


@pytest.fixture
def smtp(settings: Settings) -> Callable[[MailServer], MailServer]:
    """Return a function that configures Django to send e-mails to a test server."""

    def use(server: MailServer) -> MailServer:
        settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
        settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", server.port
        settings.EMAIL_USE_TLS = settings.EMAIL_USE_SSL = False
        settings.EMAIL_HOST_USER = settings.EMAIL_HOST_PASSWORD = ""
        return server

    return use
