"""Actions on the monitors that a member has selected in the table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from accounts.authentication import Caller
from accounts.models import Interval, Tier
from infrastructure.api.errors import InvalidParams
from infrastructure.web.selections import Outcome, apply_to_each
from sites.models import Monitor
from sites.monitors.requests import MonitorRequest, interval_within_tier, schedule_columns
from sites.monitors.services import MonitorBusy, change_monitor, delete_monitor, run_now

ACTIONS = ("pause", "resume", "run", "schedule", "deleted")
DONE: Mapping[str, str] = {
    "pause": "paused",
    "resume": "resumed",
    "run": "started",
    "schedule": "changed",
    "deleted": "deleted",
}
NOTHING: Mapping[str, str] = {
    "pause": "they are paused already.",
    "resume": "none is paused.",
    "run": "their runs are in progress already.",
    "schedule": "they have this schedule already.",
    "deleted": "they are deleted already.",
}


def apply(caller: Caller, tier: Tier, action: str, monitors: Sequence[Monitor], form: Mapping[str, str]) -> Outcome:
    """Apply one of ACTIONS to the monitors. The form has the new interval (`every`) for the action `schedule`."""
    every = form.get("every", "")

    def pause(monitor: Monitor, *, is_paused: bool) -> bool:
        if monitor.is_paused == is_paused:
            return False
        change_monitor(caller=caller, monitor=monitor, request=MonitorRequest(is_paused=is_paused))
        return True

    def run(monitor: Monitor) -> bool:
        try:
            run_now(caller=caller, monitor_id=monitor.id)
        except MonitorBusy:
            return False
        return True

    def schedule(monitor: Monitor) -> bool:
        if every not in Interval.values:
            raise InvalidParams("Choose how often they shall run.", "every")
        if monitor.every == every:
            return False
        # Weekdays and days of the month are numbered differently, so the day is not kept.
        columns = schedule_columns(interval_within_tier(every, tier), monitor.at, None, monitor.timezone)
        change_monitor(caller=caller, monitor=monitor, request=MonitorRequest(columns=columns))
        return True

    def delete(monitor: Monitor) -> bool:
        delete_monitor(caller=caller, monitor_id=monitor.id)
        return True

    actions: Mapping[str, Callable[[Monitor], bool]] = {
        "pause": lambda monitor: pause(monitor, is_paused=True),
        "resume": lambda monitor: pause(monitor, is_paused=False),
        "run": run,
        "schedule": schedule,
        "deleted": delete,
    }
    return apply_to_each(monitors, actions[action])
