"""Claims of due mails: the lease of a sender, which expires if the sender dies, and the results of sending."""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction

from accounts.mailing.topics import ALWAYS, obsolete_mails
from accounts.models import Mail
from infrastructure.leases import RELEASED, Lease
from infrastructure.postgresql.statements import fetch

# Longer than the time limit of a sender's task.
LEASE = Lease(timedelta(minutes=2))
# Pauses after the first, second, … attempt. The last pause repeats.
BACKOFF = (*(timedelta(minutes=minutes) for minutes in (2, 5, 15, 30)), timedelta(hours=1))
MAX_RETRY_TIME = timedelta(days=2)
# Longer than any pause. A later attempt was scheduled before the clock was set back, and is due at once.
MAX_PAUSE = 2 * BACKOFF[-1]

DUE = f"""(next_attempt_at <= %(now)s OR next_attempt_at > %(too_far)s)
    AND (lease_expires_at IS NULL OR NOT {LEASE.sql()})"""

# Limit of mails to one person within an hour, over all organizations. Mails of topics.ALWAYS have no limit.
MAX_PER_PERSON_AND_HOUR = 100
HOUR = timedelta(hours=1)

# Organizations take turns, so that an organization with a thousand members does not delay the others' mails.
CLAIM_DUE = f"""
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


@dataclass(frozen=True, slots=True)
class MailClaim:
    """Claim of a mail: the right to send it until the lease expires."""

    token: uuid.UUID
    mail: Mail


def claim(*, limit: int, now: datetime) -> list[MailClaim]:
    """Claim up to `limit` due mails; returns their claims, oldest mail first.

    Mails whose recipient has left or unsubscribed are given up instead.
    """
    token = uuid.uuid4()
    times = {"now": now, "too_far": now + MAX_PAUSE, "hour_ago": now - HOUR}
    params = times | {"limit": limit, "token": token, "always": list(ALWAYS), "per_person": MAX_PER_PERSON_AND_HOUR}
    with transaction.atomic():
        ids = [id for (id,) in fetch(CLAIM_DUE, params)]
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
    """Record that the mail server has accepted the mail."""
    _release(claim, sent_at=now, error="")


def record_failure(claim: MailClaim, now: datetime, error: str, *, for_good: bool) -> bool:
    """Schedule a retry after the pause, or give the mail up if it is too old or was refused `for_good`.

    Returns True if the mail was given up.
    """
    is_final = for_good or now - claim.mail.created_at >= MAX_RETRY_TIME
    pause = BACKOFF[min(claim.mail.attempts, len(BACKOFF)) - 1]
    end = {"given_up_at": now} if is_final else {"next_attempt_at": now + pause}
    return _release(claim, error=error[:300], **end) and is_final


def release_untried(claims: Iterable[MailClaim], now: datetime) -> None:
    """Release the claims of mails that were not tried, so that another sender can claim the mails at once."""
    for claim in claims:
        _release(claim, next_attempt_at=now, attempts=claim.mail.attempts - 1)


def _release(claim: MailClaim, **columns: object) -> bool:
    """End the lease and write the result; returns False if another sender has claimed the mail by now."""
    owned = Mail.objects.filter(id=claim.mail.id, claim_token=claim.token, sent_at=None)
    return bool(owned.update(**columns, **RELEASED))
