"""Quiet hours of people, in their local time."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from accounts.models import QuietHours, User

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


def quiet_hours_of(user: User) -> QuietHours | None:
    return QuietHours.objects.filter(user=user).first()


def set_quiet_hours(user: User, columns: Mapping[str, Any]) -> None:
    """Create the person's quiet hours with these columns, or replace them."""
    QuietHours.objects.update_or_create(user=user, defaults=columns)


def remove_quiet_hours(user: User) -> None:
    """Delete the person's quiet hours. Idempotent."""
    QuietHours.objects.filter(user=user).delete()
