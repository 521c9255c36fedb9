"""Template filter for relative times, such as "3 hours ago"."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.utils import timezone

from website_scan.messages import counted

# A unit is used from 1.5 units on, because "36 hours ago" is more exact than "2 days ago".
UNITS = (("day", timedelta(days=1)), ("hour", timedelta(hours=1)), ("minute", timedelta(minutes=1)))
UNITS_FROM = 1.5


def relative(moment: datetime) -> str:
    """Return the time between now and an aware datetime in words, such as "3 hours ago" or "in 2 days"."""
    difference = moment - timezone.now()
    distance = abs(difference)
    unit, length = next(((unit, length) for unit, length in UNITS if distance >= UNITS_FROM * length), UNITS[-1])
    number = round(distance / length)
    if not number:
        return "now" if difference > timedelta() else "just now"
    words = counted(number, unit)
    return f"in {words}" if difference > timedelta() else f"{words} ago"
