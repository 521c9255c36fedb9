"""Compute an attempt's outcome and the time of the next attempt.

The functions are pure.
"""

from __future__ import annotations

import email.utils
import enum
import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta

from msgspec import Struct

# Pauses after the 1st, 2nd, … failed attempt.
PAUSES = (
    timedelta(seconds=5),
    timedelta(minutes=5),
    timedelta(minutes=30),
    timedelta(hours=2),
    timedelta(hours=5),
    timedelta(hours=10),
    timedelta(hours=10),
)
ONCE: tuple[timedelta, ...] = ()
JITTER = 0.2
MAX_RETRY_AFTER = timedelta(hours=24)
GONE = 410

# A webhook is disabled if it has failed for this long. A few failures may be days apart, so their number matters, too.
MAX_FAILING_TIME = timedelta(days=5)
MAX_FAILURES = len(PAUSES)


class Outcome(enum.Enum):
    """Outcome of an attempt.

    GONE is a failure that also disables the webhook.
    """

    DELIVERED = enum.auto()
    RETRY = enum.auto()
    FAILED = enum.auto()
    GONE = enum.auto()


class NextStep(Struct, frozen=True):
    """Outcome of an attempt.

    `retry_at` is the time of the next attempt if the outcome is RETRY.
    """

    outcome: Outcome
    retry_at: datetime | None = None


def next_step(
    *,
    attempt: int,
    status: int | None,
    retry_after: str | None,
    now: datetime,
    uniform: Callable[[float, float], float],
    pauses: Sequence[timedelta] = PAUSES,
) -> NextStep:
    """Return the outcome of an attempt and the time of the next one.

    `attempt` is its number, counted from 1. `status` is the HTTP status, or None without a response. `retry_after` is
    the response's unparsed header. `uniform` is `random.uniform`: pauses have a jitter of ± 20 %, so that retries do
    not overload a recovered receiver. A Retry-After makes a pause longer, up to a day, never shorter.
    """
    if status is not None and 200 <= status < 300:
        return NextStep(Outcome.DELIVERED)
    if status == GONE:
        return NextStep(Outcome.GONE)
    if attempt > len(pauses):
        return NextStep(Outcome.FAILED)
    pause = pauses[attempt - 1] * uniform(1 - JITTER, 1 + JITTER)
    requested_pause = parse_retry_after(retry_after, now)
    return NextStep(Outcome.RETRY, now + max(pause, min(requested_pause, MAX_RETRY_AFTER)))


def parse_retry_after(value: str | None, now: datetime) -> timedelta:
    """Return the pause of a Retry-After header: seconds, or an HTTP date.

    RFC 9110, section 10.2.3. Returns 0 for None, for invalid values, and for a time in the past.
    """
    text = (value or "").strip()
    if re.fullmatch(r"[0-9]+", text, re.ASCII):
        # Numbers with more than 9 digits might not fit into a timedelta.
        return timedelta(seconds=int(text)) if len(text) <= 9 else MAX_RETRY_AFTER
    try:
        moment = email.utils.parsedate_to_datetime(text)
    except (ValueError, OverflowError):
        return timedelta(0)
    # The zone "-0000" means UTC, but Python returns a naive datetime.
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(moment - now, timedelta(0))


def exceeds_failure_limits(*, failing_since: datetime, failures: int, now: datetime) -> bool:
    return failures > MAX_FAILURES and now - failing_since >= MAX_FAILING_TIME
