"""Whether e-mails reach anybody."""

from __future__ import annotations

from django.conf import settings

CONSOLE = "django.core.mail.backends.console.EmailBackend"


def goes_to_log() -> bool:
    """No mail server is set: what is sent stands in the log of the process that sends it."""
    return settings.EMAIL_BACKEND == CONSOLE
