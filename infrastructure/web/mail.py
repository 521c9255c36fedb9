"""Check whether a mail server is configured."""

from __future__ import annotations

from django.conf import settings

CONSOLE = "django.core.mail.backends.console.EmailBackend"


def goes_to_log() -> bool:
    """Return True if no mail server is set, so that e-mails go to the log of the process that sends them."""
    return settings.EMAIL_BACKEND == CONSOLE
