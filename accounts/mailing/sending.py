"""Sender of due mails: one sender at a time, with one SMTP connection, a batch of mails and a time limit."""

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
# After this time no further mail is begun.
SENDING_S = 20.0
# Time limit of the task, because a server that answers one byte a second never causes a timeout.
LIMIT_S = 30
# Pause after the mail server could not be reached, even if new mails are written; a little less than the sweeper's
# minute.
SILENCE_S = 50
SILENT = "mailing:silent"
# Advisory lock of the active sender; PostgreSQL releases it when the sender's connection ends.
SENDER_LOCK = 0x61636D61696C0001


class ServerGone(Exception):
    """No connection to the mail server, or it broke. The other mails need not be tried now."""


def send_due() -> bool:
    """Send due mails for a short time. Returns True if more may be due and the mail server answers.

    Only one sender at a time, so that a mail server that hangs blocks one worker process, not all of them.
    """
    if cache.get(SILENT) or not _lock():
        return False
    try:
        return _send_batch()
    except ServerGone as error:
        cache.set(SILENT, 1, SILENCE_S)
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
        headers["List-Unsubscribe"] = f"<{topics.address(mail.user, mail.topic)}>"  # RFC 2369
        headers["List-Unsubscribe-Post"] = "List-Unsubscribe=One-Click"  # RFC 8058
    message = EmailMultiAlternatives(mail.subject, mail.text, to=[mail.user.email], headers=headers)
    message.attach_alternative(mail.html, "text/html")
    return message


def _lock() -> bool:
    ((is_ours,),) = fetch("SELECT pg_try_advisory_lock(%(lock)s)", {"lock": SENDER_LOCK})
    return bool(is_ours)


def _send_batch() -> bool:
    ends_at = time.monotonic() + SENDING_S
    waiting = claims.claim(limit=BATCH, now=now())
    if not waiting:
        return False
    may_be_more = len(waiting) == BATCH
    server = get_connection()
    try:
        # One connection for the batch. If this fails, no mail counts as failed.
        _open(server)
        while waiting and time.monotonic() < ends_at:
            _send(waiting.pop(0), server)
    except ServerGone:
        _hang_up(server)
        raise
    finally:
        claims.give_back(waiting, timezone.now())
    _close(server)
    return may_be_more or bool(waiting)


def _open(server: BaseEmailBackend) -> None:
    try:
        server.open()
    except (OSError, SMTPException, SoftTimeLimitExceeded) as error:
        raise ServerGone(_words(error)) from error


def _hang_up(server: BaseEmailBackend) -> None:
    """Close the connection without QUIT, because QUIT would wait for an answer."""
    smtp = getattr(server, "connection", None)
    if smtp is not None:
        smtp.close()


def _close(server: BaseEmailBackend) -> None:
    """End the connection with QUIT. The mails are accepted already; raises ServerGone if QUIT fails."""
    try:
        server.close()
    except (OSError, SMTPException, SoftTimeLimitExceeded) as error:
        raise ServerGone(_words(error)) from error


def _send(claim: MailClaim, server: BaseEmailBackend) -> None:
    """Try to send a mail once, and record the result; raises ServerGone if the other mails need not be tried."""
    try:
        server.send_messages([message_of(claim.mail)])
    except (SMTPServerDisconnected, SoftTimeLimitExceeded) as error:
        _note_failure(claim, _words(error))
        raise ServerGone(_words(error)) from error
    except SMTPRecipientsRefused as error:
        (answer,) = error.recipients.values()
        _note_failure(claim, _words(error), for_good=answer[0] >= 500)
        if answer[0] == 421:  # 421: the server closes the connection
            raise ServerGone(_words(error)) from error
    except SMTPDataError as error:
        _note_failure(claim, _words(error), for_good=error.smtp_code >= 500)
    except SMTPException as error:
        # For example, the sender was refused. An operator can correct that, so the mail is tried again.
        _note_failure(claim, _words(error))
    except OSError as error:
        _note_failure(claim, _words(error))
        raise ServerGone(_words(error)) from error
    except Exception as error:
        # A mail that cannot be built must not block the others for ever.
        logger.exception("mail %s could not be made", claim.mail.id)
        _note_failure(claim, _words(error))
    else:
        claims.note_sent(claim, timezone.now())


def _note_failure(claim: MailClaim, error: str, *, for_good: bool = False) -> None:
    if claims.note_failure(claim, timezone.now(), error, for_good=for_good):
        logger.error("mail %s was given up: %s", claim.mail.id, error)
    else:
        logger.warning("mail %s was not sent, it is tried again: %s", claim.mail.id, error)


def _words(error: Exception) -> str:
    """Describe the error in one line for the log, without the recipient's address."""
    if isinstance(error, SoftTimeLimitExceeded):
        return f"it took longer than {LIMIT_S} seconds"
    answer: tuple[int, bytes | str]
    if isinstance(error, SMTPRecipientsRefused):
        (answer,) = error.recipients.values()
    elif isinstance(error, SMTPResponseException):
        answer = (error.smtp_code, error.smtp_error)
    else:
        return " ".join(f"{type(error).__name__}: {error}".split())
    code, said = answer
    text = said.decode(errors="replace") if isinstance(said, bytes) else said
    return " ".join(f"{code} {text}".split())
