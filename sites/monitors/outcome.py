"""End of a monitor's run.

Its audit is compared with the confirmed state. Notifications are sent according to the alert settings. The comparison
is slow and runs before any lock, because a finished audit does not change. Then one transaction locks the monitor and
its run, in this order as everywhere, and writes the state, the run and its event. A process that dies before the commit
has changed nothing.
"""

from __future__ import annotations

import contextlib
import functools
import json
import logging
import re
import tempfile
from datetime import datetime, timedelta
from typing import Any

from django.db import DatabaseError, InterfaceError, OperationalError, connection, transaction
from django.db.models import Q

from infrastructure import queue
from scans.models import Scan
from scans.visits.ending import REFUNDED
from sites.journeys.codes import JOURNEY_FAILED, JOURNEY_NOT_PROVEN, URL_NOT_REACHABLE
from sites.models import Audit, Journey, Monitor, MonitorRun
from sites.models.stored_json import (
    CertificateNews,
    ChangedData,
    ChangedScore,
    EventRun,
    FailedData,
    LastScore,
    News,
    NewsList,
    RecoveredData,
    ScoreMemory,
)
from sites.monitors import alerting, alerts, pauses
from sites.monitors.alerting import record_alerts
from sites.monitors.causes import change_reports, failure_reports, recovery_reports
from sites.monitors.changes import DIRECTIONS
from sites.monitors.comparison import Comparison, compare_audit
from sites.monitors.events import record_monitor_event
from sites.monitors.scores import Run, ScoreResult, judge_score
from webhooks.models import EventKind
from website_scan.messages import cut
from website_scan.report_json import ExportedError
from website_scan.timestamps import timestamp

logger = logging.getLogger(__name__)

RETRY_DELAY = timedelta(minutes=5)
MAX_ATTEMPTS = 2
# Codes of errors that are not the fault of the site.
NOT_CAUSED_BY_SITE = REFUNDED | {"QUOTA_EXCEEDED", "AUDIT_GONE", "MISSING_BROWSER"}
# Beginning of the sentence about a step that failed.
FAILED_STEP = re.compile(r"^(Step \d+):")
INTERNAL_ERROR_MESSAGE = (
    "The comparison failed because of an error on our side. The next run compares with the same state."
)
MISSED_RUN_DELAY = timedelta(minutes=1)
MAX_MISSED_RUNS = 20
# Larger pending rows are written to a temporary file.
MAX_BYTES_IN_MEMORY = 4 * 1024 * 1024
# The news must fit into a Celery message, whose limit is 256 KB.
MAX_NEWS_BYTES = 200_000
# Keys of the lists of changes in the news.
LISTS: tuple[NewsList, ...] = (*DIRECTIONS, "unreachable_pages", "reachable_pages")
# First key of the PostgreSQL advisory lock. The second key is a hash of the run's ID.
LOCK = 0x6D6F6E


def enqueue_finish_run(*, audit: Audit, **_: object) -> None:
    """Enqueue the task that finishes a monitor's run when its audit has ended.

    Receives the signal `audit_ended`.

    `finish_missed_runs` enqueues the task again if its message is lost.
    """
    if audit.run_of == Audit.RunOf.MONITOR:
        for run_id in MonitorRun.objects.filter(audit=audit).values_list("id", flat=True):
            transaction.on_commit(functools.partial(queue.enqueue, "sites.tasks.finish_run", run_id))


def finish_missed_runs(now: datetime) -> int:
    """Enqueue running runs whose audit has ended or was deleted, and return their number."""
    has_ended_audit = Q(audit=None) | Q(audit__status__in=Audit.FINAL, audit__completed_at__lt=now - MISSED_RUN_DELAY)
    missed = MonitorRun.objects.filter(has_ended_audit, status=MonitorRun.Status.RUNNING).order_by("started_at")
    ids = list(missed.values_list("id", flat=True)[:MAX_MISSED_RUNS])
    for run_id in ids:
        queue.enqueue("sites.tasks.finish_run", run_id)
    return len(ids)


def finish_run(run_id: str, now: datetime) -> bool:
    """Finish a run whose audit has ended or does not exist.

    Returns False if there is nothing to do.
    """
    # The lock only prevents duplicate work. PostgreSQL releases it if the process dies and its connection closes.
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(%s, hashtext(%s))", [LOCK, run_id])
        if not cursor.fetchone()[0]:
            return False
    try:
        return _finish(run_id, now)
    except (OperationalError, InterfaceError):
        # The exception is raised again, and `finish_missed_runs` retries the run.
        raise
    except Exception:
        # A run that never ends would block all later runs of its monitor.
        logger.exception("run %s of a monitor could not be finished", run_id)
        running = MonitorRun.objects.filter(id=run_id, status=MonitorRun.Status.RUNNING)
        ended = {"status": MonitorRun.Status.FAILED, "ended_at": now}
        return bool(running.update(error_code="INTERNAL_ERROR", error_message=INTERNAL_ERROR_MESSAGE, **ended))
    finally:
        with contextlib.suppress(DatabaseError, InterfaceError), connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_unlock(%s, hashtext(%s))", [LOCK, run_id])


def _finish(run_id: str, now: datetime) -> bool:
    runs = MonitorRun.objects.filter(status=MonitorRun.Status.RUNNING)
    run = runs.filter(id=run_id).select_related("monitor__organization", "audit").first()
    if run is None or (run.audit is not None and not run.audit.is_final):
        return False
    with tempfile.SpooledTemporaryFile(max_size=MAX_BYTES_IN_MEMORY) as pending:
        comparison = compare_audit(run.monitor, run.audit, pending, now)
        with transaction.atomic():
            monitors = Monitor.objects.select_for_update(no_key=True, of=("self",)).select_related("organization")
            monitor = monitors.filter(id=run.monitor_id).first()
            same_attempt = runs.filter(id=run_id, attempts=run.attempts, audit=run.audit)
            lock_run = same_attempt.select_for_update(no_key=True).first() if monitor else None
            if monitor is None or lock_run is None:
                return False
            run.status, run.ended_at = MonitorRun.Status.DONE, now
            if (failure := _failure(run, comparison)) is not None:
                _fail(monitor, run, *failure, now)
            else:
                _complete(monitor, run, comparison, now)
            run.save()
        return True


def _failure(run: MonitorRun, comparison: Comparison) -> tuple[str, str] | None:
    """Return the error code and message if no page of the run could be judged, or if a step failed, else None."""
    if run.audit is None:
        deletion = ("AUDIT_GONE", "The audit of this run was deleted before it could be compared.")
        return (run.error_code, run.error_message) if run.error_code else deletion
    if run.audit.status == Audit.Status.CANCELLED:
        return "SCAN_CANCELLED", "The audit of this run was cancelled."
    if run.audit.error_code in (JOURNEY_FAILED, URL_NOT_REACHABLE) and run.audit.kind == Audit.Kind.JOURNEY:
        # A journey that stops early has failed, even if it has judged the states before.
        return run.audit.error_code, FAILED_STEP.sub(r"\1 failed:", run.audit.error_message)
    if comparison.judged:
        return None
    if comparison.error is not None:
        return comparison.error
    return run.audit.error_code or "NO_PAGE", run.audit.error_message or "No page could be judged."


def _fail(monitor: Monitor, run: MonitorRun, code: str, message: str, now: datetime) -> None:
    """Fail a run, or retry it once if the target was unreachable and the monitor was not failing before.

    A failing step of a journey is retried and reported like an outage, and also if the failure before was an outage. A
    journey whose proof of control has ended pauses the monitor.
    """
    is_caused_by_site = code not in NOT_CAUSED_BY_SITE
    is_step_failure = code == JOURNEY_FAILED
    is_known = monitor.failing_since is not None and monitor.memory.get("is_step_failure", False) == is_step_failure
    is_unproven = code == JOURNEY_NOT_PROVEN and _has_lost_proof(monitor)
    if is_caused_by_site and run.audit is not None and not (is_known or is_unproven) and run.attempts < MAX_ATTEMPTS:
        run.status, run.ended_at, run.not_before = MonitorRun.Status.DUE, None, now + RETRY_DELAY
        return
    run.status, run.error_code, run.error_message = MonitorRun.Status.FAILED, code, cut(message, 1_000)
    if is_unproven:
        pauses.pause(monitor, Monitor.Pause.PROOF, now)
        return
    error: ExportedError = {"code": code, "message": run.error_message}
    audit_url = run.audit.audit_url if run.audit else ""
    if is_caused_by_site and is_known and monitor.memory.get("is_outage_told"):
        alerting.report_continued_outage(run, error, audit_url, now)
    if not is_caused_by_site or is_known:
        return
    ended = recovery_reports(monitor, sends_alert=False) if monitor.failing_since is not None else []
    monitor.failing_since = run.started_at or now
    run.is_told = bool(alerts.alert_settings_of(monitor)["unreachable"])
    monitor.memory = {**monitor.memory, "is_outage_told": run.is_told, "is_step_failure": is_step_failure}
    monitor.save(update_fields=["failing_since", "memory"])
    if run.is_told:
        data: FailedData = {"run": _run(run), "since": timestamp(monitor.failing_since), "error": error}
        record_monitor_event(monitor, EventKind.MONITOR_FAILED, data, now)
        record_alerts(run, EventKind.MONITOR_FAILED, [*ended, *failure_reports(monitor, error, audit_url)], now)


def _has_lost_proof(monitor: Monitor) -> bool:
    """Return True if the check of control before a run of the journey has deleted the proof.

    A proof is not deleted if the site did not respond.
    """
    return Journey.objects.filter(id=monitor.journey_id, proven_at=None).exists()


def _complete(monitor: Monitor, run: MonitorRun, comparison: Comparison, now: datetime) -> None:
    alert = alerts.alert_settings_of(monitor)
    comparison.write(monitor, now)
    scores = _scores(monitor, alert, run, comparison)
    certificate = _certificate(monitor, alert, comparison, now)
    facts = alerts.Facts(comparison.changes, scores, certificate)
    reasons = alerts.reasons(alert, facts)
    down_since, monitor.failing_since = monitor.failing_since, None
    is_outage_told = monitor.memory.pop("is_outage_told", False)
    reports_recovery = down_since is not None and is_outage_told and alert["recovered"]
    ended = recovery_reports(monitor, sends_alert=reports_recovery) if down_since is not None else []
    monitor.memory.pop("is_step_failure", None)
    monitor.save(
        update_fields=["scores", "memory", "failing_since", "certificate_expires_at", "certificate_host"],
    )
    run.scores = {
        name: {"before": score.before, "score": score.score, "grade": score.grade} for name, score in scores.items()
    }
    run.news = _news(facts, reasons)
    run.error_code = run.error_message = ""
    audit_url = run.audit.audit_url if run.audit else ""
    reports = change_reports(monitor, run.news, alert, audit_url) + ended
    kind = EventKind.MONITOR_RECOVERED if reports_recovery else EventKind.MONITOR_CHANGED
    if reports_recovery:
        assert down_since is not None
        recovered: RecoveredData = {
            "run": _run(run),
            "down_since": timestamp(down_since),
            "recovered_at": timestamp(now),
            "changes": run.news or None,
        }
        record_monitor_event(monitor, kind, recovered, now)
    elif reasons:
        changed: ChangedData = {"run": _run(run), **run.news}
        record_monitor_event(monitor, kind, changed, now)
    run.is_told = bool(reports_recovery or reasons)
    record_alerts(run, kind, reports, now)


def _news(facts: alerts.Facts, reasons: list[str]) -> News:
    """Return the run's changes, as stored in `MonitorRun.news` and sent in events.

    Empty if nothing has changed.
    """
    changes = facts.changes.as_json()
    if not reasons and not any(changes[name] for name in LISTS):
        return {}
    scores: dict[str, ChangedScore] = {
        name: {"before": score.before, "after": score.score, "grade": score.grade}
        for name in Scan.Type.values
        if (score := facts.scores.get(name)) is not None
    }
    return _fit_into_message({"scores": scores, **changes, "certificate": facts.certificate, "reasons": reasons})


def _fit_into_message(news: News) -> News:
    """Halve the longest list of changes until the news is smaller than MAX_NEWS_BYTES.

    Low severities are dropped first.
    """
    while len(json.dumps(news)) > MAX_NEWS_BYTES:
        name, longest = max(((name, news[name]) for name in LISTS), key=lambda item: len(json.dumps(item[1])))
        length = len(longest) // 2
        news["more"][name] += len(longest) - length
        del longest[length:]
    return news


def _run(run: MonitorRun) -> EventRun:
    audit = run.audit
    return {
        "id": run.id,
        "audit_id": audit.id if audit else None,
        "audit_url": audit.audit_url if audit else None,
        "due_at": timestamp(run.due_at),
    }


def _scores(monitor: Monitor, alert: dict[str, Any], run: MonitorRun, comparison: Comparison) -> dict[str, ScoreResult]:
    """Compute, store and return the scores of the judged types.

    Their history is stored in the monitor.
    """
    assert run.audit is not None
    memory = monitor.memory.get("scores", {})
    counts = monitor.memory.get("pages", {})
    scores: dict[str, ScoreResult] = {}
    new_memory: dict[str, ScoreMemory] = {}
    for name, audit_score in run.audit.scores.items():
        type_summary = comparison.types.get(name)
        if (
            audit_score["score"] is None
            or audit_score["grade"] is None
            or type_summary is None
            or not type_summary.pages
        ):
            new_memory[name] = memory.get(name, {})
            continue
        previous = monitor.scores[name]["score"] if name in monitor.scores else None
        # The mean score changes if the set of pages changes, even if the score of each page stays the same.
        has_other_pages = name in counts and (type_summary.has_new_pages or counts[name] != type_summary.pages)
        has_gaps = type_summary.has_gaps or has_other_pages
        scored_run = Run(
            audit_score["score"], audit_score["grade"], type_summary.basis, type_summary.is_measured, has_gaps
        )
        drop, below = alert["score_drop"], alert["score_below"].get(name)
        scores[name], new_memory[name] = judge_score(scored_run, previous, memory.get(name, {}), drop=drop, below=below)
    latest: dict[str, LastScore] = {name: {"score": new.score, "grade": new.grade} for name, new in scores.items()}
    monitor.scores = {name: score for name, score in (monitor.scores | latest).items() if name in run.audit.types}
    pages = counts | {name: summary.pages for name, summary in comparison.types.items()}
    monitor.memory = {**monitor.memory, "scores": new_memory, "pages": pages}
    return scores


def _certificate(
    monitor: Monitor, alert: dict[str, Any], comparison: Comparison, now: datetime
) -> CertificateNews | None:
    """Store the next expiring certificate, and return the certificate to notify about.

    Returns None if no notification is due.
    """
    expiries = comparison.certificates
    notified = monitor.memory.get("certificates", {})
    news, notified = alerts.expiring_certificate(expiries, notified, alert["certificate_days"], now)
    monitor.memory = {**monitor.memory, "certificates": notified}
    host = min(expiries, key=lambda name: expiries[name], default=None)
    monitor.certificate_host = host[:300] if host else ""
    monitor.certificate_expires_at = datetime.fromisoformat(expiries[host]) if host else None
    return news
