"""Quiet hours of people, in their local time. No I/O."""

from __future__ import annotations

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from accounts.models import QuietHours

DAY = timedelta(days=1)


def is_quiet(hours: QuietHours, now: datetime) -> bool:
    """Return True if the person wants no alerts now.

    Compares local clock times, so that quiet hours begin and end by the clock on days when it is changed.
    """
    local = now.astimezone(ZoneInfo(hours.timezone)).replace(tzinfo=None)
    for start_day in (local.date() - DAY, local.date()):
        if start_day.isoweekday() not in hours.days:
            continue
        start = datetime.combine(start_day, hours.start)
        end = datetime.combine(start_day + (DAY if hours.end <= hours.start else 0 * DAY), hours.end)
        if start <= local < end:
            return True
    return False
