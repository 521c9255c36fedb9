"""Outcome of a monitor's run: compare its audit with the confirmed state, and notify if the alert settings demand it.

The slow part runs before any lock is taken, because a finished audit does not change. Then one transaction locks the
monitor and its run, in this order as everywhere, and writes the state, the run and its event. A process that dies
before the commit has changed nothing; after it nothing is left to do.
"""

from __future__ import annotations

import contextlib
import functools
import json
import logging
import tempfile
from datetime import datetime, timedelta
from typing import Any

from django.db import DatabaseError, InterfaceError, OperationalError, connection, transaction
from django.db.models import Q

from infrastructure import queue
from scans.models import Scan
from scans.visits.claims import REFUNDED
from sites.models import Audit, Monitor, MonitorRun
from sites.models.documents import (
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
from sites.monitors import alerts, notices
from sites.monitors.changes import DIRECTIONS
from sites.monitors.comparison import Comparison, compare_audit
from sites.monitors.events import record_monitor_event
from sites.monitors.scores import Run, Scored, scored
from webhooks.models import EventKind
from website_scan.messages import cut
from website_scan.report_json import ExportedError
from website_scan.timestamps import timestamp

logger = logging.getLogger(__name__)

RETRY_AFTER = timedelta(minutes=5)
ATTEMPTS = 2
# Errors that tell nothing about the site.
NOT_OF_SITE = REFUNDED | {"QUOTA_EXCEEDED", "AUDIT_GONE"}
FAULT = "The comparison failed because of an error on our side. The next run compares with the same state."
MISSED_AFTER = timedelta(minutes=1)
MISSED_AT_ONCE = 20
# Bytes of pending rows that stay in memory; larger ones go to a temporary file.
IN_MEMORY = 4 * 1024 * 1024
# Maximum size in bytes of the news in a message, which may have 256 KB, for any content of pages.
LARGEST = 200_000
# Lists of changes in the news.
LISTS: tuple[NewsList, ...] = (*DIRECTIONS, "unreachable_pages", "reachable_pages")
# First key of PostgreSQL's advisory locks; the second key is a hash of the run's ID.
LOCK = 0x6D6F6E


def finish_soon(*, audit: Audit, **_: object) -> None:
    """Enqueue the end of the run whose audit has just ended. Receives `audit_ended`.

    `finish_missed` replaces lost messages.
    """
    if audit.run_of == Audit.RunOf.MONITOR:
        for run_id in MonitorRun.objects.filter(audit=audit).values_list("id", flat=True):
            transaction.on_commit(functools.partial(queue.enqueue, "sites.tasks.finish_run", run_id))


def finish_missed(now: datetime) -> int:
    """Enqueue runs again that should have been finished by now; return their number."""
    over = Q(audit=None) | Q(audit__status__in=Audit.FINAL, audit__completed_at__lt=now - MISSED_AFTER)
    missed = MonitorRun.objects.filter(over, status=MonitorRun.Status.RUNNING).order_by("started_at")
    ids = list(missed.values_list("id", flat=True)[:MISSED_AT_ONCE])
    for run_id in ids:
        queue.enqueue("sites.tasks.finish_run", run_id)
    return len(ids)


def finish_run(run_id: str, now: datetime) -> bool:
    """Finish a run whose audit has ended, or that has none; return False if there was nothing to do."""
    # The lock only prevents duplicate work; PostgreSQL releases it with the connection if the process dies.
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(%s, hashtext(%s))", [LOCK, run_id])
        if not cursor.fetchone()[0]:
            return False
    try:
        return _finish(run_id, now)
    except (OperationalError, InterfaceError):
        raise  # `finish_missed` retries it
    except Exception:
        # A run that never ends would block all later ones.
        logger.exception("run %s of a monitor could not be finished", run_id)
        running = MonitorRun.objects.filter(id=run_id, status=MonitorRun.Status.RUNNING)
        ended = {"status": MonitorRun.Status.FAILED, "ended_at": now}
        return bool(running.update(error_code="INTERNAL_ERROR", error_message=FAULT, **ended))
    finally:
        with contextlib.suppress(DatabaseError, InterfaceError), connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_unlock(%s, hashtext(%s))", [LOCK, run_id])


def _finish(run_id: str, now: datetime) -> bool:
    runs = MonitorRun.objects.filter(status=MonitorRun.Status.RUNNING)
    run = runs.filter(id=run_id).select_related("monitor__organization", "audit").first()
    if run is None or (run.audit is not None and not run.audit.is_final):
        return False
    with tempfile.SpooledTemporaryFile(max_size=IN_MEMORY) as pending:
        comparison = compare_audit(run.monitor, run.audit, pending, now)
        with transaction.atomic():
            monitors = Monitor.objects.select_for_update(no_key=True, of=("self",)).select_related("organization")
            monitor = monitors.filter(id=run.monitor_id).first()
            same = runs.filter(id=run_id, attempts=run.attempts, audit=run.audit)
            found = same.select_for_update(no_key=True).first() if monitor else None
            if monitor is None or found is None:
                return False
            run.status, run.ended_at = MonitorRun.Status.DONE, now
            if (failure := _failure(run, comparison)) is not None:
                _fail(monitor, run, *failure, now)
            else:
                _end(monitor, run, comparison, now)
            run.save()
        return True


def _failure(run: MonitorRun, comparison: Comparison) -> tuple[str, str] | None:
    """Return an error's code and message if no page of the run could be judged; None if any was."""
    if run.audit is None:
        gone = ("AUDIT_GONE", "The audit of this run was deleted before it could be compared.")
        return (run.error_code, run.error_message) if run.error_code else gone
    if run.audit.status == Audit.Status.CANCELLED:
        return "SCAN_CANCELLED", "The audit of this run was cancelled."
    if comparison.judged:
        return None
    if comparison.error is not None:
        return comparison.error
    return run.audit.error_code or "NO_PAGE", run.audit.error_message or "No page could be judged."


def _fail(monitor: Monitor, run: MonitorRun, code: str, message: str, now: datetime) -> None:
    """Fail a run, or retry it once if the target was unreachable and the monitor was not failing before."""
    is_of_site = code not in NOT_OF_SITE
    if is_of_site and run.audit is not None and monitor.failing_since is None and run.attempts < ATTEMPTS:
        run.status, run.ended_at, run.not_before = MonitorRun.Status.DUE, None, now + RETRY_AFTER
        return
    run.status, run.error_code, run.error_message = MonitorRun.Status.FAILED, code, cut(message, 1_000)
    if not is_of_site or monitor.failing_since is not None:
        return
    monitor.failing_since = run.started_at or now
    run.is_told = bool(alerts.settings_of(monitor)["unreachable"])
    monitor.memory = {**monitor.memory, "is_outage_told": run.is_told}
    monitor.save(update_fields=["failing_since", "memory"])
    if run.is_told:
        error: ExportedError = {"code": code, "message": run.error_message}
        data: FailedData = {"run": _run(run), "since": timestamp(monitor.failing_since), "error": error}
        record_monitor_event(monitor, EventKind.MONITOR_FAILED, data, now)
        notices.post_failed(monitor, data)


def _end(monitor: Monitor, run: MonitorRun, comparison: Comparison, now: datetime) -> None:
    alert = alerts.settings_of(monitor)
    comparison.write(monitor, now)
    scores = _scores(monitor, alert, run, comparison)
    certificate = _certificate(monitor, alert, comparison, now)
    facts = alerts.Facts(comparison.changes, scores, certificate)
    reasons = alerts.reasons(alert, facts)
    down_since, monitor.failing_since = monitor.failing_since, None
    is_outage_told = monitor.memory.pop("is_outage_told", False)
    monitor.save(
        update_fields=["scores", "memory", "failing_since", "certificate_expires_at", "certificate_host"],
    )
    run.scores = {
        name: {"before": each.before, "score": each.score, "grade": each.grade} for name, each in scores.items()
    }
    run.news = _news(facts, reasons)
    run.error_code = run.error_message = ""
    if down_since is not None and is_outage_told and alert["recovered"]:
        recovered: RecoveredData = {
            "run": _run(run),
            "down_since": timestamp(down_since),
            "recovered_at": timestamp(now),
            "changes": run.news or None,
        }
        record_monitor_event(monitor, EventKind.MONITOR_RECOVERED, recovered, now)
        notices.post_recovered(monitor, recovered)
        run.is_told = True
    elif reasons:
        changed: ChangedData = {"run": _run(run), **run.news}
        record_monitor_event(monitor, EventKind.MONITOR_CHANGED, changed, now)
        notices.post_changed(run, changed)
        run.is_told = True


def _news(facts: alerts.Facts, reasons: list[str]) -> News:
    """Return `MonitorRun.news`, which is also an event's `data` without the monitor; empty if nothing has changed."""
    found = facts.changes.as_json()
    if not reasons and not any(found[name] for name in LISTS):
        return {}
    scores: dict[str, ChangedScore] = {
        name: {"before": each.before, "after": each.score, "grade": each.grade}
        for name in Scan.Type.values
        if (each := facts.scores.get(name)) is not None
    }
    return _fitting({"scores": scores, **found, "certificate": facts.certificate, "reasons": reasons})


def _fitting(news: News) -> News:
    """Drop groups of the lowest severities until the news fits into a message."""
    while len(json.dumps(news)) > LARGEST:
        name, longest = max(((name, news[name]) for name in LISTS), key=lambda each: len(json.dumps(each[1])))
        kept = len(longest) // 2
        news["more"][name] += len(longest) - kept
        del longest[kept:]
    return news


def _run(run: MonitorRun) -> EventRun:
    audit = run.audit
    return {
        "id": run.id,
        "audit_id": audit.id if audit else None,
        "audit_url": audit.audit_url if audit else None,
        "due_at": timestamp(run.due_at),
    }


def _scores(monitor: Monitor, alert: dict[str, Any], run: MonitorRun, comparison: Comparison) -> dict[str, Scored]:
    """Return the scores of the judged types, and store them on the monitor with their memory."""
    assert run.audit is not None
    memory = monitor.memory.get("scores", {})
    counts = monitor.memory.get("pages", {})
    found: dict[str, Scored] = {}
    remembered: dict[str, ScoreMemory] = {}
    for name, shown in run.audit.scores.items():
        of_type = comparison.types.get(name)
        if shown["score"] is None or shown["grade"] is None or of_type is None or not of_type.pages:
            remembered[name] = memory.get(name, {})
            continue
        known = monitor.scores[name]["score"] if name in monitor.scores else None
        # A different set of pages has a different mean, even if no page has changed.
        has_others = name in counts and (of_type.has_new_pages or counts[name] != of_type.pages)
        has_gaps = of_type.has_gaps or has_others
        judged = Run(shown["score"], shown["grade"], of_type.basis, of_type.is_measured, has_gaps)
        drop, below = alert["score_drop"], alert["score_below"].get(name)
        found[name], remembered[name] = scored(judged, known, memory.get(name, {}), drop=drop, below=below)
    latest: dict[str, LastScore] = {name: {"score": each.score, "grade": each.grade} for name, each in found.items()}
    monitor.scores = {name: each for name, each in (monitor.scores | latest).items() if name in run.audit.types}
    pages = counts | {name: each.pages for name, each in comparison.types.items()}
    monitor.memory = {**monitor.memory, "scores": remembered, "pages": pages}
    return found


def _certificate(
    monitor: Monitor, alert: dict[str, Any], comparison: Comparison, now: datetime
) -> CertificateNews | None:
    """Return the certificate to notify about, if any; store the one that expires first on the monitor."""
    ends = comparison.certificates
    told = monitor.memory.get("certificates", {})
    shown, told = alerts.ending_certificate(ends, told, alert["certificate_days"], now)
    monitor.memory = {**monitor.memory, "certificates": told}
    host = min(ends, key=lambda each: ends[each], default=None)
    monitor.certificate_host = host[:300] if host else ""
    monitor.certificate_expires_at = datetime.fromisoformat(ends[host]) if host else None
    return shown
