"""Sends due e-mails, one batch at a time over one SMTP connection.

Only one sender runs at a time.
"""

from __future__ import annotations

import logging
import time
from email.utils import format_datetime
from smtplib import SMTPDataError, SMTPException, SMTPRecipientsRefused, SMTPResponseException, SMTPServerDisconnected

from celery.exceptions import SoftTimeLimitExceeded
from django.conf import settings
from django.core.cache import cache
from django.core.mail import EmailMultiAlternatives, get_connection
from django.core.mail.backends.base import BaseEmailBackend
from django.utils import timezone

from accounts.mailing import claims, topics
from accounts.mailing.claims import MailClaim
from accounts.models import Mail
from infrastructure.postgresql.statements import fetch, now
from website_scan.written_urls import split_url

logger = logging.getLogger(__name__)

BATCH = 50
# After this many seconds, the sender begins no further e-mail.
SENDING_TIME_S = 20.0
# Time limit of the Celery task, because a mail server that sends one byte a second never causes a socket timeout.
TASK_LIMIT_S = 30
# Pause after a failed connection to the mail server. The pause is a little shorter than the sweeper's interval of a
# minute.
OUTAGE_PAUSE_S = 50
OUTAGE = "mailing:silent"
# PostgreSQL's advisory lock of the active sender, released when the sender's database connection ends.
SENDER_LOCK = 0x61636D61696C0001


class ServerUnavailable(Exception):
    """Raised when the connection to the mail server fails.

    No other e-mail is attempted then.
    """


def send_due() -> bool:
    """Send due e-mails for a short time.

    Returns True if there may be more and the mail server responds.

    Only one sender is active at a time, so that a mail server that hangs blocks only one worker process.
    """
    if cache.get(OUTAGE) or not _try_lock():
        return False
    try:
        return _send_batch()
    except ServerUnavailable as error:
        cache.set(OUTAGE, 1, OUTAGE_PAUSE_S)
        logger.error("the mail server does not answer as it should, mails wait: %s", error)
        return False
    finally:
        fetch("SELECT pg_advisory_unlock(%(lock)s)", {"lock": SENDER_LOCK})


def build_message(mail: Mail) -> EmailMultiAlternatives:
    """Return the message with its headers, identical in every attempt, so that duplicates are recognizable."""
    headers = {
        "Message-ID": f"<{mail.id}@{split_url(settings.BASE_URL).hostname}>",
        "Date": format_datetime(mail.created_at),
        "Auto-Submitted": "auto-generated",  # This header prevents automatic replies (RFC 3834).
    }
    if mail.topic not in topics.ALWAYS:
        headers["List-Unsubscribe"] = f"<{topics.unsubscribe_url(mail.user, mail.topic)}>"
        # RFC 2369 and RFC 8058 specify these headers for one-click unsubscribing.
        headers["List-Unsubscribe-Post"] = "List-Unsubscribe=One-Click"
    message = EmailMultiAlternatives(mail.subject, mail.text, to=[mail.user.email], headers=headers)
    message.attach_alternative(mail.html, "text/html")
    return message


def _try_lock() -> bool:
    ((has_lock,),) = fetch("SELECT pg_try_advisory_lock(%(lock)s)", {"lock": SENDER_LOCK})
    return bool(has_lock)


def _send_batch() -> bool:
    deadline = time.monotonic() + SENDING_TIME_S
    pending = claims.claim(limit=BATCH, now=now())
    if not pending:
        return False
    has_full_batch = len(pending) == BATCH
    server = get_connection()
    try:
        # If the connection of the batch fails, no e-mail counts as failed.
        _open_connection(server)
        while pending and time.monotonic() < deadline:
            _send_mail(pending.pop(0), server)
    except ServerUnavailable:
        _abort_connection(server)
        raise
    finally:
        claims.release_untried_mails(pending, timezone.now())
    _close_connection(server)
    return has_full_batch or bool(pending)


def _open_connection(server: BaseEmailBackend) -> None:
    try:
        server.open()
    except (OSError, SMTPException, SoftTimeLimitExceeded) as error:
        raise ServerUnavailable(_describe_error(error)) from error


def _abort_connection(server: BaseEmailBackend) -> None:
    """Close the SMTP connection without the command QUIT, which would wait for a response."""
    smtp = getattr(server, "connection", None)
    if smtp is not None:
        smtp.close()


def _close_connection(server: BaseEmailBackend) -> None:
    """Close the SMTP connection with the command QUIT. Raises ServerUnavailable if QUIT fails."""
    try:
        server.close()
    except (OSError, SMTPException, SoftTimeLimitExceeded) as error:
        raise ServerUnavailable(_describe_error(error)) from error


def _send_mail(claim: MailClaim, server: BaseEmailBackend) -> None:
    """Attempt to send an e-mail, and record the result.

    Raises ServerUnavailable if the server is unreachable.
    """
    try:
        server.send_messages([build_message(claim.mail)])
    except (SMTPServerDisconnected, SoftTimeLimitExceeded) as error:
        _record_failure(claim, _describe_error(error))
        raise ServerUnavailable(_describe_error(error)) from error
    except SMTPRecipientsRefused as error:
        (response,) = error.recipients.values()
        _record_failure(claim, _describe_error(error), for_good=response[0] >= 500)
        if response[0] == 421:  # The server closes the connection after a 421 response.
            raise ServerUnavailable(_describe_error(error)) from error
    except SMTPDataError as error:
        _record_failure(claim, _describe_error(error), for_good=error.smtp_code >= 500)
    except SMTPException as error:
        # The e-mail is retried, because an operator can correct such errors, for example a rejected sender address.
        _record_failure(claim, _describe_error(error))
    except OSError as error:
        _record_failure(claim, _describe_error(error))
        raise ServerUnavailable(_describe_error(error)) from error
    except Exception as error:
        # An e-mail that cannot be built must not block the other e-mails.
        logger.exception("mail %s could not be made", claim.mail.id)
        _record_failure(claim, _describe_error(error))
    else:
        claims.record_sent(claim, timezone.now())


def _record_failure(claim: MailClaim, error: str, *, for_good: bool = False) -> None:
    if claims.record_failure(claim, timezone.now(), error, for_good=for_good):
        logger.error("mail %s was given up: %s", claim.mail.id, error)
    else:
        logger.warning("mail %s was not sent, it is tried again: %s", claim.mail.id, error)


def _describe_error(error: Exception) -> str:
    """Describe the error in one line for the log, without the recipient's address."""
    if isinstance(error, SoftTimeLimitExceeded):
        return f"it took longer than {TASK_LIMIT_S} seconds"
    response: tuple[int, bytes | str]
    if isinstance(error, SMTPRecipientsRefused):
        (response,) = error.recipients.values()
    elif isinstance(error, SMTPResponseException):
        response = (error.smtp_code, error.smtp_error)
    else:
        return " ".join(f"{type(error).__name__}: {error}".split())
    code, message = response
    text = message.decode(errors="replace") if isinstance(message, bytes) else message
    return " ".join(f"{code} {text}".split())
