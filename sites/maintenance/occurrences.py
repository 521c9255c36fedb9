"""Times of maintenance windows. No I/O."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from sites.models import MaintenanceWindow
from sites.schedule import utc_moment_at

WEEK = timedelta(weeks=1)


def last_occurrence(window: MaintenanceWindow, now: datetime) -> tuple[datetime, datetime] | None:
    """Return the start and end of the latest occurrence that has begun, or None if none has begun.

    A weekly window repeats at the same local time, also after the clocks have changed.
    """
    if now < window.starts_at:
        return None
    if not window.is_weekly:
        return window.starts_at, window.ends_at
    weeks = (now - window.starts_at) // WEEK
    occurrences = [_occurrence(window, week) for week in range(max(0, weeks - 1), weeks + 2)]
    return max(occurrence for occurrence in occurrences if occurrence[0] <= now)


def is_active(window: MaintenanceWindow, now: datetime) -> bool:
    occurrence = last_occurrence(window, now)
    return occurrence is not None and now < occurrence[1]


def _occurrence(window: MaintenanceWindow, week: int) -> tuple[datetime, datetime]:
    zone = ZoneInfo(window.timezone)
    start, end = (_weeks_later(moment.astimezone(zone), week, zone) for moment in (window.starts_at, window.ends_at))
    return start, end


def _weeks_later(local: datetime, weeks: int, zone: ZoneInfo) -> datetime:
    day: date = local.date() + weeks * WEEK
    clock: time = local.time()
    return utc_moment_at(day, clock, zone)
