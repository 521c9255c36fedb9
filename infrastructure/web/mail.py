"""Check whether a mail server is configured."""

from __future__ import annotations

from django.conf import settings

CONSOLE = "django.core.mail.backends.console.EmailBackend"


def is_mail_logged() -> bool:
    """Return True if no mail server is configured, so that e-mails are written to the log of the sending process."""
    return settings.EMAIL_BACKEND == CONSOLE
