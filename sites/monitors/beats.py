"""Creation of runs for due monitors: a few statements for a thousand monitors, safe with concurrent schedulers."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db import connection, transaction

from sites.models import Monitor
from sites.monitors.schedule import PERIODS, Schedule, spread
from sites.monitors.services import allowed

AT_ONCE = 1_000
# A run later than this was missed. It starts after a delay that depends on the monitor's ID, because otherwise all
# missed runs would start at once.
LATE = timedelta(minutes=10)
LONGEST_SPREAD = timedelta(hours=1)

# Arrays of values instead of model instances: a tick for a thousand monitors takes a third of the time.
MAKE = """
    INSERT INTO sites_monitorrun (
        monitor_id, due_at, not_before, status, ended_at, error_code, error_message,
        is_requested, attempts, scores, news, is_told
    )
    SELECT due.monitor_id, due_at, not_before,
        CASE WHEN unfinished.id IS NULL THEN 'due' ELSE 'skipped' END,
        CASE WHEN unfinished.id IS NULL THEN NULL ELSE %s::timestamptz END,
        CASE WHEN unfinished.id IS NULL THEN '' ELSE 'STILL_RUNNING' END,
        CASE WHEN unfinished.id IS NULL THEN '' ELSE 'The run before it had not ended.' END,
        false, 0, '{}', '{}', false
    FROM unnest(%s::text[], %s::timestamptz[], %s::timestamptz[]) AS due (monitor_id, due_at, not_before)
    LEFT JOIN LATERAL (
        SELECT id FROM sites_monitorrun AS run
        WHERE run.monitor_id = due.monitor_id AND status IN ('due', 'running') LIMIT 1
    ) AS unfinished ON true
"""
PLAN = """
    UPDATE sites_monitor SET next_run_at = planned.next_run_at
    FROM unnest(%s::text[], %s::timestamptz[]) AS planned (id, next_run_at) WHERE sites_monitor.id = planned.id
"""


def beat(now: datetime) -> int:
    """Create one run for each due monitor, even if it missed several; return the number of due monitors.

    Processes at most `AT_ONCE`: call it until it returns less. `now` is timezone-aware.
    """
    with transaction.atomic():
        due = Monitor.objects.filter(next_run_at__lte=now).order_by("next_run_at", "id")
        due = due.select_for_update(skip_locked=True, no_key=True, of=("self",))
        columns = ("id", "every", "at", "day", "timezone", "next_run_at", "organization__tier__shortest_interval")
        ids, due_at, starts, planned = [], [], [], []
        for monitor_id, every, at, day, timezone, moment, shortest in due.values_list(*columns)[:AT_ONCE]:
            assert moment is not None
            schedule = Schedule(allowed(every, shortest), monitor_id, at, day, timezone)
            ids.append(monitor_id)
            due_at.append(moment)
            starts.append(now if now - moment < LATE else now + _delay(schedule))
            planned.append(schedule.after(now))
        if ids:
            with connection.cursor() as cursor:
                cursor.execute(MAKE, [now, ids, due_at, starts])
                cursor.execute(PLAN, [ids, planned])
    return len(ids)


def _delay(schedule: Schedule) -> timedelta:
    within = min(LONGEST_SPREAD, PERIODS[schedule.every] / 4)
    return timedelta(seconds=spread(schedule.seed) % int(within.total_seconds()))
