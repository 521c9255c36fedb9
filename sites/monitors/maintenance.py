"""Alerts that maintenance windows hold."""

from __future__ import annotations

from datetime import datetime, timedelta
from functools import cached_property

from accounts import access
from sites.maintenance.occurrences import last_occurrence
from sites.models import Alert, MaintenanceWindow, Monitor, MonitorRun
from sites.monitors.causes import sites_of

# Alerts of a window are sent after the monitor's next run, which shows if they still hold, and at the latest after this
# time.
MAX_RECHECK_TIME = timedelta(hours=1)


def applies_to(window: MaintenanceWindow, monitor: Monitor) -> bool:
    """Return True if the window is for this monitor, for one of its sites, or for the whole organization."""
    is_general = not window.monitors and not window.sites
    return is_general or monitor.id in window.monitors or not set(window.sites).isdisjoint(sites_of(monitor))


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
