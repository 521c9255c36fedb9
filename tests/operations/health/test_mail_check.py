"""Tests for the system check of the e-mail backend.

It warns if a public service writes e-mails to the log.
"""

from __future__ import annotations

import pytest
from pytest_django import Settings

from infrastructure.web.mail import CONSOLE
from operations.health.system_checks import mail

SMTP = "django.core.mail.backends.smtp.EmailBackend"


@pytest.mark.parametrize(("secure", "backend", "warnings"), [(True, CONSOLE, 1), (False, CONSOLE, 0), (True, SMTP, 0)])
def test_mail_check_warns_of_console_backend(settings: Settings, secure: bool, backend: str, warnings: int) -> None:
    settings.SECURE, settings.EMAIL_BACKEND = secure, backend
    assert [message.id for message in mail()] == ["environment.EMAIL_URL"] * warnings
