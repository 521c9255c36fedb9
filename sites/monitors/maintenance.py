"""Maintenance windows, in which alerts are held."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from functools import cached_property
from zoneinfo import ZoneInfo

from accounts import access
from sites.models import Alert, MaintenanceWindow, Monitor, MonitorRun
from sites.monitors.causes import sites_of
from sites.schedule import utc_moment_at

WEEK = timedelta(weeks=1)
# Alerts of a window are sent after the monitor's next run, which shows if they still hold, and at the latest after this
# time.
MAX_RECHECK_TIME = timedelta(hours=1)


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


def applies_to(window: MaintenanceWindow, monitor: Monitor) -> bool:
    """Return True if the window is for this monitor, for one of its sites, or for the whole organization."""
    is_general = not window.monitors and not window.sites
    return is_general or monitor.id in window.monitors or not set(window.sites).isdisjoint(sites_of(monitor))


def _occurrence(window: MaintenanceWindow, week: int) -> tuple[datetime, datetime]:
    zone = ZoneInfo(window.timezone)
    start, end = (_weeks_later(moment.astimezone(zone), week, zone) for moment in (window.starts_at, window.ends_at))
    return start, end


def _weeks_later(local: datetime, weeks: int, zone: ZoneInfo) -> datetime:
    day: date = local.date() + weeks * WEEK
    clock: time = local.time()
    return utc_moment_at(day, clock, zone)


class Maintenance:
    """Maintenance windows of an organization that hold alerts now."""

    def __init__(self, organization_id: int, now: datetime) -> None:
        self._organization_id, self._now = organization_id, now
        self._rechecked: dict[tuple[str, datetime], bool] = {}

    @cached_property
    def _windows(self) -> list[tuple[MaintenanceWindow, datetime, datetime]]:
        """Windows that are active or have ended recently, with their start and end."""
        windows = access.rows(MaintenanceWindow, self._organization_id).filter(starts_at__lte=self._now)
        occurrences = [(window, last_occurrence(window, self._now)) for window in windows]
        return [
            (window, *occurrence)
            for window, occurrence in occurrences
            if occurrence is not None and self._now < occurrence[1] + MAX_RECHECK_TIME
        ]

    def holds(self, alert: Alert) -> bool:
        """Return True if the alert must wait for the end of a window, or for the run after it."""
        return any(
            self._now < end or (start <= alert.created_at < end and not self._has_run_since(alert.monitor, end))
            for window, start, end in self._windows
            if applies_to(window, alert.monitor)
        )

    def _has_run_since(self, monitor: Monitor, end: datetime) -> bool:
        key = (monitor.id, end)
        if key not in self._rechecked:
            ended = (MonitorRun.Status.DONE, MonitorRun.Status.FAILED)
            self._rechecked[key] = monitor.runs.filter(started_at__gte=end, status__in=ended).exists()
        return self._rechecked[key]
