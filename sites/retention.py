"""Deletes expired audits, old runs, causes and page states of monitors, and expired list snapshots."""

from __future__ import annotations

from datetime import timedelta
from functools import partial

from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from accounts.models import Interval
from infrastructure.postgresql.deletion import delete_with_references
from infrastructure.retention import HasTime, Retention, always
from scans import credentials
from scans.models import Scan
from sites.lists.list_deletion import delete_hidden_lists
from sites.lists.part_imports import delete_imports
from sites.lists.result_deletion import delete_results
from sites.models import (
    Audit,
    Cause,
    ListEntry,
    ListResult,
    ListRun,
    MonitorRun,
    MonitorState,
    SiteFinding,
    SiteState,
)

# Charts cover a year, and some weeks more for comparison with the same days of the previous year.
RUN_RETENTION = timedelta(days=400)
# Page states are kept for several intervals between runs, because a run may fail to confirm a state.
STATE_RETENTION = timedelta(days=35)
MONTHLY_STATE_RETENTION = timedelta(days=100)
# Applies to results of entries that were scanned outside a run, except the latest result of an entry.
SINGLE_RESULT_RETENTION = timedelta(days=30)
IMPORT_RETENTION = timedelta(days=7)
FIXED_FINDING_RETENTION = timedelta(days=14)


def delete_audits(has_time: HasTime = always) -> bool:
    """Delete audits whose reports have all expired.

    Returns False if time ran out. Scans have a retention period of their own.
    """
    now = timezone.now()
    for days in Audit.objects.values_list("kept_days", flat=True).distinct():
        # Each retention period has its own query, so that PostgreSQL can use the index and skip unexpired rows.
        old = Audit.objects.filter(kept_days=days, created_at__lte=now - timedelta(days=days))
        if not delete_with_references(old.expired(), has_time):
            return False
    return True


def delete_runs(has_time: HasTime = always) -> bool:
    """Delete monitor runs older than RUN_RETENTION, and states of pages that active monitors no longer scan."""
    now = timezone.now()
    runs = MonitorRun.objects.filter(due_at__lt=now - RUN_RETENTION).exclude(status__in=MonitorRun.UNFINISHED)
    states = MonitorState.objects.filter(confirmed_at__lt=now - STATE_RETENTION, monitor__paused_at=None)
    frequent = states.exclude(monitor__every=Interval.MONTH)
    monthly = states.filter(confirmed_at__lt=now - MONTHLY_STATE_RETENTION, monitor__every=Interval.MONTH)
    return all(delete_with_references(rows, has_time) for rows in (runs, frequent, monthly))


def delete_causes(has_time: HasTime = always) -> bool:
    """Delete causes that were first seen before RUN_RETENTION, with their alerts."""
    causes = Cause.objects.filter(first_seen_at__lt=timezone.now() - RUN_RETENTION)
    return delete_with_references(causes, has_time)


def delete_snapshots(has_time: HasTime = always) -> bool:
    """Delete expired list snapshots with their results, counts and shares, and old results outside runs."""
    now = timezone.now()
    for days in ListRun.objects.values_list("kept_days", flat=True).distinct():
        if days is None:
            continue
        old = ListRun.objects.filter(kept_days=days, ended_at__lte=now - timedelta(days=days))
        if not all(delete_results(run_id, has_time) for run_id in old.values_list("id", flat=True)):
            return False
        if not delete_with_references(old, has_time):
            return False
    single_results = ListResult.objects.filter(run=None, ended_at__lt=now - SINGLE_RESULT_RETENTION)
    is_latest = Exists(ListEntry.objects.filter(result=OuterRef("pk")))
    return delete_with_references(single_results.filter(~is_latest), has_time)


def delete_list_imports(has_time: HasTime = always) -> bool:
    """Delete finished and forgotten imports of lists, and imports that have received no part for a week."""
    return delete_imports(timezone.now() - IMPORT_RETENTION, has_time)


def delete_site_states(has_time: HasTime = always) -> bool:
    """Delete findings that are fixed or whose report has expired, and the states of sites without scans."""
    now = timezone.now()
    old = Q(expires_at__lte=now) | Q(fixed_at__lte=now - FIXED_FINDING_RETENTION)
    scans = Scan.objects.filter(organization=OuterRef("organization"), host=OuterRef("host"))
    states = SiteState.objects.filter(~Exists(scans), scanned_at__lte=now - timedelta(days=1))
    return all(delete_with_references(rows, has_time) for rows in (SiteFinding.objects.filter(old), states))


RETENTION = (
    Retention("credentials of audits", partial(credentials.forget, Audit)),
    Retention("audits", delete_audits),
    Retention("runs of monitors", delete_runs),
    Retention("causes of alerts", delete_causes),
    Retention("deleted lists", delete_hidden_lists),
    Retention("snapshots of lists", delete_snapshots),
    Retention("imports of lists", delete_list_imports),
    Retention("states of sites", delete_site_states),
)
