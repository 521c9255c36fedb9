"""Sends the mails that are due: one sender at a time, one connection, a few mails, and never for long."""

from __future__ import annotations

import logging
import time
from email.utils import format_datetime
from smtplib import SMTPDataError, SMTPException, SMTPRecipientsRefused, SMTPResponseException, SMTPServerDisconnected
from urllib.parse import urlsplit

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

logger = logging.getLogger(__name__)

BATCH = 50
# After so long no further mail is begun.
SENDING_S = 20.0
# The task is interrupted then: a server that answers one byte a second never runs into a timeout.
LIMIT_S = 30
# Who could not be reached is left alone, whatever is written meanwhile; a little less than the sweeper's minute.
SILENCE_S = 50
SILENT = "mailing:silent"
# Held by the one who sends, and gone with its connection.
SENDER_LOCK = 0x61636D61696C0001


class ServerGone(Exception):
    """The connection to the mail server broke, or there is none: what waits need not be tried now."""


def send_due() -> bool:
    """Send what is due, for a short time; returns whether more may be due and the mail server is there.

    One sender at a time: a mail server that hangs costs one worker's process, not all of them.
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
    """The e-mail as it goes out: the same at every attempt, so that a double is known as one."""
    headers = {
        "Message-ID": f"<{mail.id}@{urlsplit(settings.BASE_URL).hostname}>",
        "Date": format_datetime(mail.created_at),
        "Auto-Submitted": "auto-generated",  # RFC 3834: no answers of machines
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
        # Once for all of them. It says nothing about any mail when this fails.
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
    """Without a farewell, whose answer would be waited for."""
    smtp = getattr(server, "connection", None)
    if smtp is not None:
        smtp.close()


def _close(server: BaseEmailBackend) -> None:
    """All that was to be sent has been taken, whatever the server answers to a farewell."""
    try:
        server.close()
    except (OSError, SMTPException, SoftTimeLimitExceeded) as error:
        raise ServerGone(_words(error)) from error


def _send(claim: MailClaim, server: BaseEmailBackend) -> None:
    """Try once, and note what came of it; raises ServerGone when the others need not be tried."""
    try:
        server.send_messages([message_of(claim.mail)])
    except (SMTPServerDisconnected, SoftTimeLimitExceeded) as error:
        _note_failure(claim, _words(error))
        raise ServerGone(_words(error)) from error
    except SMTPRecipientsRefused as error:
        (answer,) = error.recipients.values()
        _note_failure(claim, _words(error), for_good=answer[0] >= 500)
        if answer[0] == 421:  # it hangs up
            raise ServerGone(_words(error)) from error
    except SMTPDataError as error:
        _note_failure(claim, _words(error), for_good=error.smtp_code >= 500)
    except SMTPException as error:
        # The sender was refused, for example: what an operator mends is not the mail's fault.
        _note_failure(claim, _words(error))
    except OSError as error:
        _note_failure(claim, _words(error))
        raise ServerGone(_words(error)) from error
    except Exception as error:
        # One that cannot be sent must not stand before all others for ever.
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
    """What went wrong in a line, without the recipient's address: it goes to the log."""
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
