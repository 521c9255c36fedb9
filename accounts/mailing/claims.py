"""Claims of mails: take what is due, note what came of it. The lease of a sender that died runs out."""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction

from accounts.mailing.topics import unwanted_mails
from accounts.models import Mail
from infrastructure.leases import RELEASED, Lease
from infrastructure.postgresql.statements import fetch

# Longer than any sender's task may take.
LEASE = Lease(timedelta(minutes=2))
# After the first, second, … attempt; the last pause repeats.
PAUSES = (*(timedelta(minutes=each) for each in (2, 5, 15, 30)), timedelta(hours=1))
GIVEN_UP_AFTER = timedelta(days=2)
# Longer than any pause: written before the clock was put back.
TOO_FAR = 2 * PAUSES[-1]

DUE = f"""(next_attempt_at <= %(now)s OR next_attempt_at > %(too_far)s)
    AND (lease_expires_at IS NULL OR NOT {LEASE.sql()})"""

# Organizations take turns, so that none with a thousand members keeps the others waiting.
TAKE = f"""
    WITH waiting AS (
        SELECT id, next_attempt_at,
            row_number() OVER (PARTITION BY organization_id ORDER BY next_attempt_at, id) AS turn
        FROM accounts_mail
        WHERE sent_at IS NULL AND given_up_at IS NULL AND {DUE}
    ), next AS (
        SELECT id FROM waiting ORDER BY turn, next_attempt_at, id LIMIT %(limit)s
    )
    UPDATE accounts_mail SET attempts = attempts + 1, claim_token = %(token)s, lease_expires_at = {LEASE.end_sql}
    WHERE id IN (
        SELECT id FROM accounts_mail
        WHERE id IN (SELECT id FROM next) AND sent_at IS NULL AND given_up_at IS NULL AND {DUE}
        FOR NO KEY UPDATE SKIP LOCKED
    )
    RETURNING id
"""  # noqa: S608  # of constants


@dataclass(frozen=True, slots=True)
class MailClaim:
    """The right to send one mail until the lease runs out."""

    token: uuid.UUID
    mail: Mail


def claim(*, limit: int, now: datetime) -> list[MailClaim]:
    """Take up to `limit` mails that are due, the oldest first; those that nobody wants any more are given up."""
    token = uuid.uuid4()
    params = {"now": now, "too_far": now + TOO_FAR, "limit": limit, "token": token}
    with transaction.atomic():
        ids = [id for (id,) in fetch(TAKE, params)]
        if not ids:
            return []
        taken = Mail.objects.filter(id__in=ids)
        left = [mail.id for mail in unwanted_mails(taken)]
        Mail.objects.filter(id__in=left).update(
            given_up_at=now, error="The recipient has left or unsubscribed.", **RELEASED
        )
        mails = taken.exclude(id__in=left).select_related("user").order_by("created_at", "id")
        return [MailClaim(token, mail) for mail in mails]


def note_sent(claim: MailClaim, now: datetime) -> None:
    """Note that a mail server has taken the mail."""
    _release(claim, sent_at=now, error="")


def note_failure(claim: MailClaim, now: datetime, error: str, *, for_good: bool) -> bool:
    """Have the mail tried again after its pause, or give it up as refused for good or too old; returns True then."""
    is_over = for_good or now - claim.mail.created_at >= GIVEN_UP_AFTER
    pause = PAUSES[min(claim.mail.attempts, len(PAUSES)) - 1]
    end = {"given_up_at": now} if is_over else {"next_attempt_at": now + pause}
    return _release(claim, error=error[:300], **end) and is_over


def give_back(claims: Iterable[MailClaim], now: datetime) -> None:
    """Let somebody else take mails at once that were not tried."""
    for each in claims:
        _release(each, next_attempt_at=now, attempts=each.mail.attempts - 1)


def _release(claim: MailClaim, **columns: object) -> bool:
    """End the lease and write what came of it, unless somebody else has taken the mail meanwhile."""
    ours = Mail.objects.filter(id=claim.mail.id, claim_token=claim.token, sent_at=None)
    return bool(ours.update(**columns, **RELEASED))
