"""Celery tasks of audits, monitors and lists."""

from __future__ import annotations

import time
from collections.abc import Callable

from celery import shared_task
from django.db import InterfaceError, OperationalError, connection
from django.utils import timezone

from infrastructure.periodic import PeriodicTask
from infrastructure.postgresql.hang_detection import log_failure
from scans.tasks import this_worker
from sites.audits import discovering, sweeping
from sites.lists import counting, starting
from sites.lists import runs as list_runs
from sites.models import Audit, ListResult, ListRun, Monitor, MonitorRun, SiteList
from sites.monitors import notices, outcome, runs
from website_scan.memory import release_memory

# Time limit of `run_monitors` and `run_lists`, because other tasks wait for their process.
MONITORS_S = LISTS_S = 20.0
# Time limit for comparing 40,000 reports, of an audit of 10,000 pages. The broker's visibility timeout is longer.
FINISH_S = 3_000


@shared_task(soft_time_limit=discovering.TIME_LIMIT_S + 15, time_limit=discovering.TIME_LIMIT_S + 30)
def discover_pages(_audit_id: str) -> None:
    """Run one attempt at discovery for the next audit in the queue. The message only says that some audit waits.

    The sweeper requeues interrupted discoveries.
    """
    try:
        discovering.discover_pages(this_worker())
    except (OperationalError, InterfaceError) as error:
        log_failure(error)
        connection.close()
    finally:
        release_memory()


def _has_audits() -> bool:
    return Audit.objects.unfinished().exists()


@shared_task(base=PeriodicTask, has_work=staticmethod(_has_audits))
def sweep_audits() -> None:
    """Every 15 seconds, requeue lost discoveries, end interrupted ones, and fill free slots with pages."""
    sweeping.sweep_audits()


def _has_runs() -> bool:
    is_due = Monitor.objects.filter(next_run_at__lte=timezone.now()).exists()
    return is_due or MonitorRun.objects.filter(status__in=MonitorRun.UNFINISHED).exists()


@shared_task(base=PeriodicTask, has_work=staticmethod(_has_runs))
def run_monitors() -> None:
    """Every 15 seconds, start due runs and finish those whose audit has ended. Concurrent calls do not repeat work."""
    has_time = _time_left(MONITORS_S)
    while runs.create_due(timezone.now()) == runs.CREATED_AT_ONCE and has_time():
        pass
    runs.start_due(timezone.now(), has_time)
    outcome.finish_missed(timezone.now())


@shared_task(soft_time_limit=FINISH_S, time_limit=FINISH_S + 15)
def finish_run(run_id: str) -> None:
    """Finish a run whose audit has ended. Duplicate messages are harmless, and failures are retried."""
    try:
        outcome.finish_run(run_id, timezone.now())
    except (OperationalError, InterfaceError) as error:
        log_failure(error)
        connection.close()
    finally:
        release_memory()


@shared_task
def start_run(run_id: str) -> None:
    """Start a run that a user requested. If the message is lost, `run_monitors` starts the run."""
    run = MonitorRun.objects.filter(id=run_id).first()
    if run is not None:
        runs.start_run(run.id, run.monitor_id, timezone.now())


@shared_task
def post_digests() -> None:
    """Write the weekly digests about monitors, on Mondays."""
    notices.post_digests(timezone.now())


@shared_task
def tell_of_certificates() -> None:
    """Write reminders about certificates that expire within days, every hour."""
    notices.post_certificates(timezone.now())


def _has_lists() -> bool:
    is_due = SiteList.objects.filter(next_run_at__lte=timezone.now()).exists()
    return (
        is_due
        or ListRun.objects.filter(status=ListRun.Status.RUNNING).exists()
        or ListResult.objects.filter(status__in=ListResult.UNFINISHED).exists()
    )


@shared_task(base=PeriodicTask, has_work=staticmethod(_has_lists))
def run_lists() -> None:
    """Every 15 seconds, begin due runs, start due entries and count results. Concurrent calls do not repeat work."""
    has_time = _time_left(LISTS_S)
    while list_runs.create_due(timezone.now()) == list_runs.CREATED_AT_ONCE and has_time():
        pass
    counting.count_missed(timezone.now(), has_time)
    starting.start_due(timezone.now(), has_time)


@shared_task
def start_entries(organization_id: str) -> None:
    """Start due entries of an organization's lists. Duplicates are harmless; `run_lists` replaces lost messages."""
    starting.start_entries(int(organization_id), timezone.now(), _time_left(LISTS_S))


@shared_task
def count_results(row_id: str) -> None:
    """Count the ended results of a run, or of a list's entries outside runs. Duplicates are harmless."""
    counting.count(row_id)


def _time_left(seconds: float) -> Callable[[], bool]:
    """Return a function that returns True until the number of seconds has passed."""
    ends_at = time.monotonic() + seconds
    return lambda: time.monotonic() < ends_at
