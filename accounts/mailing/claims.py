"""Claim due e-mails and record whether they were sent.

A claim has a lease that expires if the sender dies.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from datetime import datetime, timedelta

from django.db import transaction
from msgspec import Struct

from accounts.mailing.topics import ALWAYS, obsolete_mails
from accounts.models import Mail
from infrastructure.leases import RELEASED, Lease
from infrastructure.postgresql.statements import fetch

# The lease is longer than the time limit of the task that sends e-mails.
LEASE = Lease(timedelta(minutes=2))
# Pauses after the first, second, … failed attempt. The last pause repeats.
BACKOFF = (*(timedelta(minutes=minutes) for minutes in (2, 5, 15, 30)), timedelta(hours=1))
MAX_RETRY_TIME = timedelta(days=2)
# This time is longer than any pause between attempts. An e-mail whose next attempt is further ahead is due immediately,
# because the clock was set back after the attempt was scheduled.
MAX_RETRY_PAUSE = 2 * BACKOFF[-1]

DUE = f"""(next_attempt_at <= %(now)s OR next_attempt_at > %(too_far)s)
    AND (lease_expires_at IS NULL OR NOT {LEASE.sql()})"""

# Maximum number of e-mails to one person per hour, from all organizations together. E-mails of topics.ALWAYS are not
# counted.
MAX_MAILS_PER_PERSON_AND_HOUR = 100
HOUR = timedelta(hours=1)

# The query alternates between organizations, so that one with a thousand members does not delay others' e-mails.
CLAIM_DUE_MAILS = f"""
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
"""  # noqa: S608  # The inserted parts are constants.


class MailClaim(Struct, frozen=True):
    """A sender's claim on an e-mail. It is valid until its lease expires."""

    token: uuid.UUID
    mail: Mail


def claim(*, limit: int, now: datetime) -> list[MailClaim]:
    """Claim up to `limit` due e-mails.

    Returns their claims, oldest e-mail first.

    Mails whose recipient has left or unsubscribed are given up instead.
    """
    token = uuid.uuid4()
    times = {"now": now, "too_far": now + MAX_RETRY_PAUSE, "hour_ago": now - HOUR}
    params = times | {
        "limit": limit,
        "token": token,
        "always": list(ALWAYS),
        "per_person": MAX_MAILS_PER_PERSON_AND_HOUR,
    }
    with transaction.atomic():
        ids = [id for (id,) in fetch(CLAIM_DUE_MAILS, params)]
        if not ids:
            return []
        claimed = Mail.objects.filter(id__in=ids)
        obsolete = [mail.id for mail in obsolete_mails(claimed)]
        Mail.objects.filter(id__in=obsolete).update(
            given_up_at=now, error="The recipient has left or unsubscribed.", **RELEASED
        )
        mails = claimed.exclude(id__in=obsolete).select_related("user").order_by("created_at", "id")
        return [MailClaim(token, mail) for mail in mails]


def record_sent(claim: MailClaim, now: datetime) -> None:
    """Record that the mail server has accepted the e-mail."""
    _release_claim(claim, sent_at=now, error="")


def record_failure(claim: MailClaim, now: datetime, error: str, *, for_good: bool) -> bool:
    """Schedule a retry, or give the e-mail up if it is too old or was rejected permanently (`for_good`).

    Returns True if the mail was given up.
    """
    is_given_up = for_good or now - claim.mail.created_at >= MAX_RETRY_TIME
    pause = BACKOFF[min(claim.mail.attempts, len(BACKOFF)) - 1]
    end = {"given_up_at": now} if is_given_up else {"next_attempt_at": now + pause}
    return _release_claim(claim, error=error[:300], **end) and is_given_up


def release_untried_mails(claims: Iterable[MailClaim], now: datetime) -> None:
    """Release the claims on e-mails that were not attempted, so that another sender can claim them immediately."""
    for claim in claims:
        _release_claim(claim, next_attempt_at=now, attempts=claim.mail.attempts - 1)


def _release_claim(claim: MailClaim, **columns: object) -> bool:
    """End the lease and store the result.

    Returns False if another sender has claimed the e-mail in the meantime.
    """
    owned = Mail.objects.filter(id=claim.mail.id, claim_token=claim.token, sent_at=None)
    return bool(owned.update(**columns, **RELEASED))
