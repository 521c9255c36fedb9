"""Monitors that are due become runs: a few statements for a thousand of them, by any number of schedulers at once."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db import connection, transaction

from scans.models import Monitor, MonitorRun
from scans.monitors.schedule import PERIODS, spread
from scans.monitors.services import schedule_of

AT_ONCE = 1_000
# What a schedule is made of. The rest of a row may be large.
READ = ("every", "at", "day", "timezone", "next_run_at", "organization__tier__shortest_interval")
# What is later than this was missed: all that were missed would start at the same moment.
LATE = timedelta(minutes=10)
LONGEST_SPREAD = timedelta(hours=1)
STILL_RUNNING = "The run before it had not ended."

PLAN = """
    UPDATE scans_monitor SET next_run_at = planned.next_run_at
    FROM unnest(%s::text[], %s::timestamptz[]) AS planned (id, next_run_at) WHERE scans_monitor.id = planned.id
"""


def beat(now: datetime) -> int:
    """Make runs of what is due, one for each monitor however often it was missed; how many monitors were looked at.

    At most `AT_ONCE`: call it until it says less. `now` is aware.
    """
    with transaction.atomic():
        due = Monitor.objects.filter(next_run_at__lte=now).order_by("next_run_at", "id")
        due = due.select_related("organization__tier").only(*READ)
        monitors = list(due.select_for_update(skip_locked=True, no_key=True, of=("self",))[:AT_ONCE])
        if not monitors:
            return 0
        unfinished = MonitorRun.objects.filter(status__in=MonitorRun.UNFINISHED, monitor__in=monitors)
        busy = set(unfinished.values_list("monitor_id", flat=True))
        MonitorRun.objects.bulk_create(_run(each, now, is_left_out=each.id in busy) for each in monitors)
        planned = {each.id: schedule_of(each, each.organization.tier).after(now) for each in monitors}
        with connection.cursor() as cursor:
            cursor.execute(PLAN, [list(planned), list(planned.values())])
    return len(monitors)


def _run(monitor: Monitor, now: datetime, *, is_left_out: bool) -> MonitorRun:
    assert monitor.next_run_at is not None
    run = MonitorRun(monitor=monitor, due_at=monitor.next_run_at, not_before=_start(monitor, now))
    if is_left_out:
        run.status, run.error_code, run.error_message = MonitorRun.Status.SKIPPED, "STILL_RUNNING", STILL_RUNNING
        run.ended_at = now
    return run


def _start(monitor: Monitor, now: datetime) -> datetime:
    assert monitor.next_run_at is not None
    if now - monitor.next_run_at < LATE:
        return now
    within = min(LONGEST_SPREAD, PERIODS[schedule_of(monitor, monitor.organization.tier).every] / 4)
    return now + timedelta(seconds=spread(monitor.id) % int(within.total_seconds()))
