"""When a failed delivery is tried again. Pure: the clock and the dice are passed in."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

# The pause after the 1st, 2nd, … failed attempt.
PAUSES = (
    timedelta(seconds=5),
    timedelta(minutes=5),
    timedelta(minutes=30),
    timedelta(hours=2),
    timedelta(hours=5),
    timedelta(hours=10),
    timedelta(hours=10),
)
JITTER = 0.2


def next_attempt(attempts: int, now: datetime, uniform: Callable[[float, float], float]) -> datetime | None:
    """When to try again after `attempts` failed ones; None when that was the last.

    `uniform` is `random.uniform`: pauses vary by ± 20 %, so that receivers that come back are not stormed.
    """
    if attempts > len(PAUSES):
        return None
    return now + PAUSES[attempts - 1] * uniform(1 - JITTER, 1 + JITTER)
