"""Celery tasks of audits, monitors, lists and assessments."""

from __future__ import annotations

import time
from collections.abc import Callable

from celery import shared_task
from django.db import InterfaceError, OperationalError, connection
from django.utils import timezone

from infrastructure.periodic import PeriodicTask
from infrastructure.postgresql.hang_detection import log_failure
from scans.tasks import this_worker
from sites import site_states
from sites.assessments import refreshing
from sites.audits import discovering, sweeping
from sites.lists import comparisons, counting, insertion, starting
from sites.lists import runs as list_runs
from sites.models import Alert, Assessment, Audit, ListResult, ListRun, Monitor, MonitorRun, SiteList
from sites.monitors import grouping, notices, outcome, runs
from website_scan.memory import release_memory

# Time limit of these tasks, because other tasks wait for the same worker process.
RUN_MONITORS_LIMIT_S = RUN_LISTS_LIMIT_S = SEND_ALERTS_LIMIT_S = 20.0
# Time limit for comparing 40,000 reports of an audit of 10,000 pages, or snapshots of 2,000,000 sites. The broker's
# visibility timeout is longer.
FINISH_RUN_LIMIT_S = 3_000


@shared_task(soft_time_limit=discovering.TIME_LIMIT_S + 15, time_limit=discovering.TIME_LIMIT_S + 30)
def discover_pages(_audit_id: str) -> None:
    """Discover the pages of the next waiting audit.

    It may be another audit than the one in the message. The sweeper enqueues interrupted discoveries again.
    """
    try:
        discovering.discover_pages(this_worker())
    except (OperationalError, InterfaceError) as error:
        log_failure(error)
        connection.close()
    finally:
        release_memory()


def _has_unfinished_audits() -> bool:
    return Audit.objects.unfinished().exists()


@shared_task(base=PeriodicTask, has_work=staticmethod(_has_unfinished_audits))
def sweep_audits() -> None:
    """Enqueue lost discoveries again, fail interrupted ones, and dispatch waiting pages (every 15 seconds)."""
    sweeping.sweep_audits()


def _has_monitor_runs() -> bool:
    has_due_monitor = Monitor.objects.filter(next_run_at__lte=timezone.now()).exists()
    return has_due_monitor or MonitorRun.objects.filter(status__in=MonitorRun.UNFINISHED).exists()


@shared_task(base=PeriodicTask, has_work=staticmethod(_has_monitor_runs))
def run_monitors() -> None:
    """Start due monitor runs and finish those whose audit has ended (every 15 seconds).

    Concurrent calls are safe.
    """
    has_time = _deadline_check(RUN_MONITORS_LIMIT_S)
    while runs.create_due_runs(timezone.now()) == runs.MAX_CREATED_RUNS and has_time():
        pass
    runs.start_due(timezone.now(), has_time)
    outcome.finish_missed_runs(timezone.now())


@shared_task(soft_time_limit=FINISH_RUN_LIMIT_S, time_limit=FINISH_RUN_LIMIT_S + 15)
def finish_run(run_id: str) -> None:
    """Finish a monitor run whose audit has ended.

    Duplicate messages are harmless, and failures are retried.
    """
    try:
        outcome.finish_run(run_id, timezone.now())
    except (OperationalError, InterfaceError) as error:
        log_failure(error)
        connection.close()
    finally:
        release_memory()


@shared_task
def start_run(run_id: str) -> None:
    """Start a monitor run that a user requested.

    If the message is lost, `run_monitors` starts the run.
    """
    run = MonitorRun.objects.filter(id=run_id).first()
    if run is not None:
        runs.start_run(run.id, run.monitor_id, timezone.now())


def _has_pending_alerts() -> bool:
    return Alert.objects.filter(settled_at=None).exists()


@shared_task(base=PeriodicTask, has_work=staticmethod(_has_pending_alerts))
def send_alerts() -> None:
    """Write the messages of pending alerts that are due (every 15 seconds).

    Concurrent calls are safe.
    """
    grouping.send_due_alerts(timezone.now(), _deadline_check(SEND_ALERTS_LIMIT_S))


@shared_task
def mail_digests() -> None:
    """Send the weekly digests about monitors, on Mondays."""
    notices.mail_digests(timezone.now())


@shared_task
def tell_of_certificates() -> None:
    """Send reminders about certificates that expire within days (every hour)."""
    notices.mail_certificate_reminders(timezone.now())


@shared_task
def refresh_site_states() -> None:
    """Count the open findings of sites again whose mutes have expired (every hour)."""
    site_states.refresh_after_expired_mutes(timezone.now())


def _has_list_runs() -> bool:
    has_due_list = SiteList.objects.filter(next_run_at__lte=timezone.now()).exists()
    return (
        has_due_list
        or ListRun.objects.filter(status=ListRun.Status.RUNNING).exists()
        or ListResult.objects.filter(status__in=ListResult.UNFINISHED).exists()
    )


@shared_task(base=PeriodicTask, has_work=staticmethod(_has_list_runs))
def run_lists() -> None:
    """Begin due list runs, start due entries and count results (every 15 seconds).

    Concurrent calls are safe.
    """
    has_time = _deadline_check(RUN_LISTS_LIMIT_S)
    while list_runs.create_due_runs(timezone.now()) == list_runs.MAX_CREATED_RUNS and has_time():
        pass
    insertion.insert_missed_results(has_time)
    counting.count_missed_results(timezone.now(), has_time)
    starting.start_due(timezone.now(), has_time)


@shared_task
def start_entries(organization_id: str) -> None:
    """Start due entries of an organization's lists.

    Duplicate messages are harmless, and `run_lists` handles lost ones.
    """
    starting.start_entries(int(organization_id), timezone.now(), _deadline_check(RUN_LISTS_LIMIT_S))


@shared_task(soft_time_limit=FINISH_RUN_LIMIT_S, time_limit=FINISH_RUN_LIMIT_S + 15)
def insert_results(run_id: str) -> None:
    """Insert the remaining results of a run of a large list.

    Duplicate messages are harmless, and `run_lists` handles lost ones.
    """
    insertion.insert_results(run_id)


@shared_task(soft_time_limit=FINISH_RUN_LIMIT_S, time_limit=FINISH_RUN_LIMIT_S + 15)
def count_results(row_id: str) -> None:
    """Count the ended results of a list run, or of a list's entries outside runs.

    Duplicate messages are harmless.
    """
    counting.count(row_id)


@shared_task(soft_time_limit=FINISH_RUN_LIMIT_S, time_limit=FINISH_RUN_LIMIT_S + 15)
def compare_snapshots(comparison_id: str) -> None:
    """Compare two large snapshots of a list and store the result.

    Duplicate messages are harmless. If a message is lost, the next request for the comparison enqueues it again.
    """
    comparisons.store_comparison(int(comparison_id))


@shared_task
def copy_results(assessment_id: str) -> None:
    """Copy an audit's results into an assessment.

    Duplicate messages are harmless, and `sweep_assessments` handles lost ones.
    """
    try:
        refreshing.copy_results(assessment_id)
    except (OperationalError, InterfaceError) as error:
        log_failure(error)
        connection.close()
    finally:
        release_memory()


def _has_refreshes() -> bool:
    return Assessment.objects.waiting().exists()


@shared_task(base=PeriodicTask, has_work=staticmethod(_has_refreshes))
def sweep_assessments() -> None:
    """Enqueue interrupted copies of results again (every 15 seconds)."""
    refreshing.enqueue_lost_refreshes()


def _deadline_check(seconds: float) -> Callable[[], bool]:
    """Return a function that returns False after the number of seconds has passed."""
    ends_at = time.monotonic() + seconds
    return lambda: time.monotonic() < ends_at
