"""Sender of due mails, a batch at a time over one SMTP connection. Only one sender is active at a time."""

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
# Seconds after which the sender begins no further mail.
SEND_S = 20.0
# Time limit of the task. A mail server that answers one byte a second never causes a timeout.
LIMIT_S = 30
# Pause after the mail server could not be reached, even for new mails. A little less than the sweeper's minute.
OUTAGE_PAUSE_S = 50
OUTAGE = "mailing:silent"
# Advisory lock of the active sender; PostgreSQL releases it when the sender's connection ends.
SENDER_LOCK = 0x61636D61696C0001


class ServerUnavailable(Exception):
    """Exception for a failed or broken connection to the mail server, with which the other mails need not be tried."""


def send_due() -> bool:
    """Send due mails for a short time. Returns True if more mails may be due and the mail server answers.

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


def message_of(mail: Mail) -> EmailMultiAlternatives:
    """Return the e-mail with its headers. Every attempt is identical, so that duplicates can be recognized."""
    headers = {
        "Message-ID": f"<{mail.id}@{split_url(settings.BASE_URL).hostname}>",
        "Date": format_datetime(mail.created_at),
        "Auto-Submitted": "auto-generated",  # RFC 3834: prevents automatic replies
    }
    if mail.topic not in topics.ALWAYS:
        headers["List-Unsubscribe"] = f"<{topics.unsubscribe_url(mail.user, mail.topic)}>"  # RFC 2369
        headers["List-Unsubscribe-Post"] = "List-Unsubscribe=One-Click"  # RFC 8058
    message = EmailMultiAlternatives(mail.subject, mail.text, to=[mail.user.email], headers=headers)
    message.attach_alternative(mail.html, "text/html")
    return message


def _try_lock() -> bool:
    ((is_locked,),) = fetch("SELECT pg_try_advisory_lock(%(lock)s)", {"lock": SENDER_LOCK})
    return bool(is_locked)


def _send_batch() -> bool:
    deadline = time.monotonic() + SEND_S
    pending = claims.claim(limit=BATCH, now=now())
    if not pending:
        return False
    may_be_more = len(pending) == BATCH
    server = get_connection()
    try:
        # If the connection for the batch fails, no mail counts as failed.
        _open(server)
        while pending and time.monotonic() < deadline:
            _send(pending.pop(0), server)
    except ServerUnavailable:
        _abort(server)
        raise
    finally:
        claims.release_untried(pending, timezone.now())
    _close(server)
    return may_be_more or bool(pending)


def _open(server: BaseEmailBackend) -> None:
    try:
        server.open()
    except (OSError, SMTPException, SoftTimeLimitExceeded) as error:
        raise ServerUnavailable(_describe(error)) from error


def _abort(server: BaseEmailBackend) -> None:
    """Close the connection without the command QUIT, which would wait for a response."""
    smtp = getattr(server, "connection", None)
    if smtp is not None:
        smtp.close()


def _close(server: BaseEmailBackend) -> None:
    """Close the connection with the command QUIT, after all mails. Raises ServerUnavailable if QUIT fails."""
    try:
        server.close()
    except (OSError, SMTPException, SoftTimeLimitExceeded) as error:
        raise ServerUnavailable(_describe(error)) from error


def _send(claim: MailClaim, server: BaseEmailBackend) -> None:
    """Try to send a mail once, and record the result; raises ServerUnavailable if the other mails need not be tried."""
    try:
        server.send_messages([message_of(claim.mail)])
    except (SMTPServerDisconnected, SoftTimeLimitExceeded) as error:
        _record_failure(claim, _describe(error))
        raise ServerUnavailable(_describe(error)) from error
    except SMTPRecipientsRefused as error:
        (response,) = error.recipients.values()
        _record_failure(claim, _describe(error), for_good=response[0] >= 500)
        if response[0] == 421:  # With 421, the server closes the connection.
            raise ServerUnavailable(_describe(error)) from error
    except SMTPDataError as error:
        _record_failure(claim, _describe(error), for_good=error.smtp_code >= 500)
    except SMTPException as error:
        # The mail is tried again, because an operator can correct such errors, for example a refused sender.
        _record_failure(claim, _describe(error))
    except OSError as error:
        _record_failure(claim, _describe(error))
        raise ServerUnavailable(_describe(error)) from error
    except Exception as error:
        # A mail that cannot be built must not block the other mails for ever.
        logger.exception("mail %s could not be made", claim.mail.id)
        _record_failure(claim, _describe(error))
    else:
        claims.record_sent(claim, timezone.now())


def _record_failure(claim: MailClaim, error: str, *, for_good: bool = False) -> None:
    if claims.record_failure(claim, timezone.now(), error, for_good=for_good):
        logger.error("mail %s was given up: %s", claim.mail.id, error)
    else:
        logger.warning("mail %s was not sent, it is tried again: %s", claim.mail.id, error)


def _describe(error: Exception) -> str:
    """Describe the error in one line for the log, without the recipient's address."""
    if isinstance(error, SoftTimeLimitExceeded):
        return f"it took longer than {LIMIT_S} seconds"
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
