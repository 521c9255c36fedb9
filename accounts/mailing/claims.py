"""Which mails are sent next, taken from their rows; a mail whose sender died comes up again by itself."""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction

from accounts.mailing.topics import unwanted_mails
from accounts.models import Mail
from infrastructure.postgresql.statements import fetch

# After the first, second, … attempt; the last pause repeats. The first is longer than any sender's task may take: until
# then the mail is the sender's.
PAUSES = (*(timedelta(minutes=each) for each in (2, 5, 15, 30)), timedelta(hours=1))
GIVEN_UP_AFTER = timedelta(days=2)
# Longer than any pause: written before the clock was put back.
TOO_FAR = 2 * PAUSES[-1]

# Organizations take turns, so that none with a thousand members keeps the others waiting.
TAKE = """
    WITH waiting AS (
        SELECT id, next_attempt_at,
            row_number() OVER (PARTITION BY organization_id ORDER BY next_attempt_at, id) AS turn
        FROM accounts_mail
        WHERE sent_at IS NULL AND given_up_at IS NULL
            AND (next_attempt_at <= %(now)s OR next_attempt_at > %(too_far)s)
    ), next AS (
        SELECT id FROM waiting ORDER BY turn, next_attempt_at, id LIMIT %(limit)s
    )
    UPDATE accounts_mail SET attempts = attempts + 1, claim_token = %(token)s, next_attempt_at = %(now)s
        + (%(pauses)s::interval[])[least(attempts + 1, cardinality(%(pauses)s::interval[]))]
    WHERE id IN (
        SELECT id FROM accounts_mail
        WHERE id IN (SELECT id FROM next) AND sent_at IS NULL AND given_up_at IS NULL
            AND (next_attempt_at <= %(now)s OR next_attempt_at > %(too_far)s)
        FOR NO KEY UPDATE SKIP LOCKED
    )
    RETURNING id
"""


@dataclass(frozen=True, slots=True)
class MailClaim:
    """The right to send one mail until it comes up again."""

    token: uuid.UUID
    mail: Mail


def claim(*, limit: int, now: datetime) -> list[MailClaim]:
    """Take up to `limit` mails that are due, the oldest first; those that nobody wants any more are given up."""
    token = uuid.uuid4()
    params = {"now": now, "too_far": now + TOO_FAR, "limit": limit, "token": token, "pauses": list(PAUSES)}
    with transaction.atomic():
        ids = [id for (id,) in fetch(TAKE, params)]
        if not ids:
            return []
        taken = Mail.objects.filter(id__in=ids)
        left = [mail.id for mail in unwanted_mails(taken)]
        Mail.objects.filter(id__in=left).update(given_up_at=now, error="The recipient has left or unsubscribed.")
        mails = taken.exclude(id__in=left).select_related("user").order_by("created_at", "id")
        return [MailClaim(token, mail) for mail in mails]


def note_sent(claim: MailClaim, now: datetime) -> None:
    """A mail server has taken it."""
    _ours(claim, sent_at=now, error="")


def note_failure(claim: MailClaim, now: datetime, error: str, *, for_good: bool) -> bool:
    """It comes up again after its pause, or never: refused for good, or too old. Returns whether it was given up."""
    is_over = for_good or now - claim.mail.created_at >= GIVEN_UP_AFTER
    return _ours(claim, error=error[:300], **({"given_up_at": now} if is_over else {})) and is_over


def give_back(claims: Iterable[MailClaim], now: datetime) -> None:
    """Nothing was tried: somebody else may take them at once."""
    for each in claims:
        _ours(each, next_attempt_at=now, attempts=each.mail.attempts - 1, claim_token=None)


def _ours(claim: MailClaim, **columns: object) -> bool:
    """Write what became of it, unless somebody else has taken it meanwhile."""
    return bool(Mail.objects.filter(id=claim.mail.id, claim_token=claim.token, sent_at=None).update(**columns))
