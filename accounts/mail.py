"""E-mails that are sent immediately, without the outbox.

They are plain text from `templates/emails`.
"""

from __future__ import annotations

import logging
from smtplib import SMTPException
from typing import Any

from django.conf import settings
from django.core.mail import EmailMessage
from django.template.loader import render_to_string

logger = logging.getLogger(__name__)


class MailNotSent(Exception):
    """Raised when the mail server does not accept an e-mail."""


def send(template: str, to: str, subject: str, **context: Any) -> None:
    """Render `emails/<template>.txt` with the context, and send the e-mail immediately.

    Raises MailNotSent.
    """
    body = render_to_string(f"emails/{template}.txt", {"base_url": settings.BASE_URL, "email": to} | context)
    # The subject must be one line, but names in the subject may contain line breaks.
    message = EmailMessage(" ".join(subject.split()), body, to=[to])
    try:
        message.send()
    except (OSError, SMTPException) as error:
        logger.error("the e-mail %s could not be sent: %s", template, error)
        raise MailNotSent from error
