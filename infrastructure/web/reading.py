"""Template filter that makes times readable."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.utils import timezone

from website_scan.messages import counted

# A unit is used from 1.5 of it on, because "36 hours ago" says more than "2 days ago".
UNITS = (("day", timedelta(days=1)), ("hour", timedelta(hours=1)), ("minute", timedelta(minutes=1)))
UNITS_FROM = 1.5


def relative(moment: datetime) -> str:
    """Return the distance of an aware datetime from now in words: "3 hours ago", "in 2 days"."""
    away = moment - timezone.now()
    distance = abs(away)
    unit, length = next((each for each in UNITS if distance >= UNITS_FROM * each[1]), UNITS[-1])
    number = round(distance / length)
    if not number:
        return "now" if away > timedelta() else "just now"
    words = counted(number, unit)
    return f"in {words}" if away > timedelta() else f"{words} ago"
