"""Retention of audits and monitors: audits with their pages and findings, runs, and what is known of pages."""

from __future__ import annotations

from datetime import timedelta
from functools import partial

from django.utils import timezone

from accounts.models import Interval
from infrastructure.postgresql.deletion import delete_with_what_refers
from infrastructure.retention import HasTime, Retention, always
from scans import credentials
from sites.models import Audit, MonitorRun, MonitorState

# Of a year's line, and some weeks to see the same days of the last one.
RUNS_KEPT = timedelta(days=400)
# Longer than from one run to the next, also when some could not be confirmed.
KNOWN = timedelta(days=35)
KNOWN_MONTHLY = timedelta(days=100)


def delete_audits(has_time: HasTime = always) -> bool:
    """Delete the audits of whose scans no report is kept any more; the scans stay, as all scans do."""
    now = timezone.now()
    for days in Audit.objects.values_list("kept_days", flat=True).distinct():
        # As the index has them, so that those that are kept longer are not searched.
        old = Audit.objects.filter(kept_days=days, created_at__lte=now - timedelta(days=days))
        if not delete_with_what_refers(old.expired(), has_time):
            return False
    return True


def delete_runs(has_time: HasTime = always) -> bool:
    """Delete runs older than a year, and the state of pages that a monitor looks at no longer; none of a paused one."""
    now = timezone.now()
    runs = MonitorRun.objects.filter(due_at__lt=now - RUNS_KEPT).exclude(status__in=MonitorRun.UNFINISHED)
    states = MonitorState.objects.filter(confirmed_at__lt=now - KNOWN, monitor__paused_at=None)
    often = states.exclude(monitor__every=Interval.MONTH)
    monthly = states.filter(confirmed_at__lt=now - KNOWN_MONTHLY, monitor__every=Interval.MONTH)
    return all(delete_with_what_refers(rows, has_time) for rows in (runs, often, monthly))


RETENTION = (
    Retention("credentials of audits", partial(credentials.forget, Audit)),
    Retention("audits", delete_audits),
    Retention("runs of monitors", delete_runs),
)
