"""Retention of audits with their pages and findings, of monitors' runs and pages' states, and of lists' snapshots."""

from __future__ import annotations

from datetime import timedelta
from functools import partial

from django.db.models import Exists, OuterRef
from django.utils import timezone

from accounts.models import Interval
from infrastructure.postgresql.deletion import delete_with_what_refers
from infrastructure.retention import HasTime, Retention, always
from scans import credentials
from sites.models import Audit, ListEntry, ListResult, ListRun, MonitorRun, MonitorState

# A year for the chart, and some weeks to compare with the same days of the last year.
RUNS_KEPT = timedelta(days=400)
# Longer than several intervals between runs, because some runs may not confirm a state.
KNOWN = timedelta(days=35)
KNOWN_MONTHLY = timedelta(days=100)
# Of a look at a single entry of a list. As long as it is the entry's latest result, it is kept.
SINGLE_LOOKS_KEPT = timedelta(days=30)


def delete_audits(has_time: HasTime = always) -> bool:
    """Delete audits whose scans' reports have all expired; the scans have their own retention."""
    now = timezone.now()
    for days in Audit.objects.values_list("kept_days", flat=True).distinct():
        # Query by the index's columns, so that rows with a longer retention are not read.
        old = Audit.objects.filter(kept_days=days, created_at__lte=now - timedelta(days=days))
        if not delete_with_what_refers(old.expired(), has_time):
            return False
    return True


def delete_runs(has_time: HasTime = always) -> bool:
    """Delete runs older than RUNS_KEPT, and states of pages that a monitor no longer visits, unless it is paused."""
    now = timezone.now()
    runs = MonitorRun.objects.filter(due_at__lt=now - RUNS_KEPT).exclude(status__in=MonitorRun.UNFINISHED)
    states = MonitorState.objects.filter(confirmed_at__lt=now - KNOWN, monitor__paused_at=None)
    often = states.exclude(monitor__every=Interval.MONTH)
    monthly = states.filter(confirmed_at__lt=now - KNOWN_MONTHLY, monitor__every=Interval.MONTH)
    return all(delete_with_what_refers(rows, has_time) for rows in (runs, often, monthly))


def delete_snapshots(has_time: HasTime = always) -> bool:
    """Delete expired snapshots with their results, counts and shares, and older looks at single entries."""
    now = timezone.now()
    for days in ListRun.objects.values_list("kept_days", flat=True).distinct():
        if days is None:
            continue
        old = ListRun.objects.filter(kept_days=days, ended_at__lte=now - timedelta(days=days))
        if not delete_with_what_refers(old, has_time):
            return False
    singles = ListResult.objects.filter(run=None, ended_at__lt=now - SINGLE_LOOKS_KEPT)
    is_latest = Exists(ListEntry.objects.filter(result=OuterRef("pk")))
    return delete_with_what_refers(singles.filter(~is_latest), has_time)


RETENTION = (
    Retention("credentials of audits", partial(credentials.forget, Audit)),
    Retention("audits", delete_audits),
    Retention("runs of monitors", delete_runs),
    Retention("snapshots of lists", delete_snapshots),
)
