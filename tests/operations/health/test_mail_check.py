"""System check of mail: warns if mail only goes to the log."""

from __future__ import annotations

import pytest
from pytest_django import Settings

from infrastructure.web.mail import CONSOLE
from operations.health.system_checks import mail

SMTP = "django.core.mail.backends.smtp.EmailBackend"


@pytest.mark.parametrize(("secure", "backend", "told"), [(True, CONSOLE, 1), (False, CONSOLE, 0), (True, SMTP, 0)])
def test_mail_to_the_log_is_for_ones_own_machine(settings: Settings, secure: bool, backend: str, told: int) -> None:
    settings.SECURE, settings.EMAIL_BACKEND = secure, backend
    found = mail()
    assert [each.id for each in found] == ["environment.EMAIL_URL"] * told
