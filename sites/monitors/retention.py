"""What monitors leave behind: old runs, and what is known of pages that are not looked at any more."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

from django.db.models import QuerySet
from django.utils import timezone

from accounts.models import Interval
from sites.models import MonitorRun, MonitorState

# Of a year's line, and some weeks to see the same days of the last one.
RUNS_KEPT = timedelta(days=400)
# Longer than from one run to the next, also when some could not be confirmed.
KNOWN = timedelta(days=35)
KNOWN_MONTHLY = timedelta(days=100)
BATCH = 1_000


def delete_old(has_time: Callable[[], bool]) -> bool:
    """Delete what is kept no longer; False when the time was not enough for all. Nothing of a paused monitor."""
    now = timezone.now()
    runs = MonitorRun.objects.filter(due_at__lt=now - RUNS_KEPT).exclude(status__in=MonitorRun.UNFINISHED)
    states = MonitorState.objects.filter(confirmed_at__lt=now - KNOWN, monitor__paused_at=None)
    often = states.exclude(monitor__every=Interval.MONTH)
    monthly = states.filter(confirmed_at__lt=now - KNOWN_MONTHLY, monitor__every=Interval.MONTH)
    return all(_delete(rows, has_time) for rows in (runs, often, monthly))


def _delete(rows: QuerySet[MonitorRun] | QuerySet[MonitorState], has_time: Callable[[], bool]) -> bool:
    while has_time():
        ids = list(rows.values_list("pk", flat=True)[:BATCH])
        rows.model._default_manager.filter(pk__in=ids).delete()
        if len(ids) < BATCH:
            return True
    return False
