"""Claims of mails: lease the mails that are due, and record the results. A dead sender's lease expires."""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction

from accounts.mailing.topics import ALWAYS, unwanted_mails
from accounts.models import Mail
from infrastructure.leases import RELEASED, Lease
from infrastructure.postgresql.statements import fetch

# Longer than the time limit of a sender's task.
LEASE = Lease(timedelta(minutes=2))
# Backoff: pauses after the first, second, … attempt; the last one repeats.
PAUSES = (*(timedelta(minutes=each) for each in (2, 5, 15, 30)), timedelta(hours=1))
GIVEN_UP_AFTER = timedelta(days=2)
# Longer than any pause. An attempt due later than that was written before the clock was set back.
TOO_FAR = 2 * PAUSES[-1]

DUE = f"""(next_attempt_at <= %(now)s OR next_attempt_at > %(too_far)s)
    AND (lease_expires_at IS NULL OR NOT {LEASE.sql()})"""

# Mails to one person within an hour, over all organizations; more wait. Those of topics.ALWAYS do not.
PER_PERSON = 100
AN_HOUR = timedelta(hours=1)

# Organizations take turns, so that one with a thousand members does not delay the others.
TAKE = f"""
    WITH waiting AS (
        SELECT id, user_id, next_attempt_at, topic = ANY(%(always)s) AS is_urgent,
            row_number() OVER (PARTITION BY organization_id ORDER BY next_attempt_at, id) AS turn,
            row_number() OVER (PARTITION BY user_id ORDER BY next_attempt_at, id) AS place
        FROM accounts_mail
        WHERE sent_at IS NULL AND given_up_at IS NULL AND {DUE}
    ), sent AS (
        SELECT user_id, count(*) AS number FROM accounts_mail
        WHERE sent_at > %(hour_ago)s AND topic <> ALL(%(always)s) GROUP BY user_id
    ), next AS (
        SELECT id FROM waiting LEFT JOIN sent USING (user_id)
        WHERE is_urgent OR place + coalesce(number, 0) <= %(per_person)s
        ORDER BY turn, next_attempt_at, id LIMIT %(limit)s
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
    """Claim of a mail: the right to send it until the lease expires."""

    token: uuid.UUID
    mail: Mail


def claim(*, limit: int, now: datetime) -> list[MailClaim]:
    """Claim up to `limit` due mails; returns them, oldest first. Mails whose recipient has left or unsubscribed are
    given up instead.
    """
    token = uuid.uuid4()
    times = {"now": now, "too_far": now + TOO_FAR, "hour_ago": now - AN_HOUR}
    params = times | {"limit": limit, "token": token, "always": list(ALWAYS), "per_person": PER_PERSON}
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
    """Record that the mail server has accepted the mail."""
    _release(claim, sent_at=now, error="")


def note_failure(claim: MailClaim, now: datetime, error: str, *, for_good: bool) -> bool:
    """Schedule a retry after the pause, or give the mail up if it was refused for good or is too old.

    Returns True if it was given up.
    """
    is_over = for_good or now - claim.mail.created_at >= GIVEN_UP_AFTER
    pause = PAUSES[min(claim.mail.attempts, len(PAUSES)) - 1]
    end = {"given_up_at": now} if is_over else {"next_attempt_at": now + pause}
    return _release(claim, error=error[:300], **end) and is_over


def give_back(claims: Iterable[MailClaim], now: datetime) -> None:
    """Release mails that were not tried, so that another sender can claim them at once."""
    for each in claims:
        _release(each, next_attempt_at=now, attempts=each.mail.attempts - 1)


def _release(claim: MailClaim, **columns: object) -> bool:
    """End the lease and write the result; returns False if another sender has claimed the mail meanwhile."""
    ours = Mail.objects.filter(id=claim.mail.id, claim_token=claim.token, sent_at=None)
    return bool(ours.update(**columns, **RELEASED))
