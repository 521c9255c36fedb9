"""E-mails to people: plain text from `templates/emails`, sent at once."""

from __future__ import annotations

import logging
from smtplib import SMTPException
from typing import Any

from django.conf import settings
from django.core.mail import EmailMessage
from django.template.loader import render_to_string

logger = logging.getLogger(__name__)


class MailNotSent(Exception):
    """The mail server did not take it."""


def send(template: str, to: str, subject: str, **context: Any) -> None:
    """Send `emails/<template>.txt`, which sees `base_url` and `email` besides `context`; raises MailNotSent."""
    body = render_to_string(f"emails/{template}.txt", {"base_url": settings.BASE_URL, "email": to} | context)
    # A subject is one line, whatever a name in it holds.
    message = EmailMessage(" ".join(subject.split()), body, to=[to])
    try:
        message.send()
    except (OSError, SMTPException) as error:
        logger.error("the e-mail %s could not be sent: %s", template, error)
        raise MailNotSent from error
