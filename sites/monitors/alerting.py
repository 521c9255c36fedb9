"""Record alerts of monitors, in the transaction that finishes the run.

Each alert is a row for one recipient and one cause. `grouping` sends the alerts of some minutes as one message.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from django.db.models import Q

from accounts import access
from sites.models import Alert, Cause, Monitor, MonitorRun
from sites.monitors.causes import CauseReport, failure_reports
from sites.recipients import readers_of, receivers_of
from webhooks.models import EventKind, Webhook
from website_scan.priority import SEVERITY_RANK
from website_scan.report_json import ExportedError

# Causes of one run. The audit shows all changes.
MAX_CAUSES_PER_RUN = 50
BATCH_SIZE = 1_000


def record_alerts(run: MonitorRun, kind: EventKind, reports: Sequence[CauseReport], now: datetime) -> None:
    """Write the alerts of a run, open its causes, and close those that have ended.

    `kind` is the event of the run, to which webhooks of chats subscribe. The caller's transaction finishes the run.
    """
    ordered = sorted(reports, key=lambda report: SEVERITY_RANK[report.text["severity"]])
    beginnings = [report for report in ordered if not report.is_end and report.sends_alert][:MAX_CAUSES_PER_RUN]
    ends = [report for report in ordered if report.is_end]
    monitor = run.monitor
    if not (beginnings or ends):
        return
    causes = _open_causes(monitor, beginnings, now)
    ended = _close_causes(monitor, ends, now)
    alerted_ends = [report for report in ends if report.sends_alert][:MAX_CAUSES_PER_RUN]
    if not (beginnings or alerted_ends):
        return
    people = readers_of(monitor)
    webhooks = [webhook for webhook in receivers_of(monitor) if _is_subscribed(webhook, kind)]
    recipients: list[dict[str, object]] = [{"user": person} for person in people]
    recipients += [{"webhook": webhook} for webhook in webhooks]
    Alert.objects.bulk_create(
        [
            Alert(
                cause=cause,
                monitor=monitor,
                run=run,
                is_end=report.is_end,
                places=list(report.places),
                note=report.note,
                report_url=report.report_url[:300],
                created_at=now,
                **recipient,
            )
            for report, cause in [
                *((report, causes[report.key]) for report in beginnings),
                *((report, ended[report.key]) for report in alerted_ends),
            ]
            for recipient in recipients
        ],
        batch_size=BATCH_SIZE,
    )


def report_continued_outage(run: MonitorRun, error: ExportedError, report_url: str, now: datetime) -> None:
    """Report the outage of a failing monitor again if another monitor has ended its cause in the meantime.

    Without this, a page that stays unreachable while the rest of its site has recovered would go unreported.
    """
    monitor = run.monitor
    reports = {report.key: report for report in failure_reports(monitor, error, report_url)}
    own = Alert.objects.filter(monitor=monitor, is_end=False, cause__key__in=reports)
    newest = own.order_by("cause__key", "-cause_id").distinct("cause__key").select_related("cause")
    again = [
        reports[alert.cause.key]
        for alert in newest
        if alert.cause.ended_at is not None and run.started_at is not None and run.started_at > alert.cause.ended_at
    ]
    record_alerts(run, EventKind.MONITOR_FAILED, again, now)


def _is_subscribed(webhook: Webhook, kind: EventKind) -> bool:
    is_chat_of_kind = webhook.is_chat and kind in webhook.events
    return is_chat_of_kind or EventKind.MONITOR_ALERT in webhook.events


def _open_causes(monitor: Monitor, reports: Iterable[CauseReport], now: datetime) -> dict[str, Cause]:
    """Return the open causes of the reports by key, after missing ones were inserted.

    An insert of the same key in another transaction is waited for. Keys are inserted in ascending order, so that no two
    transactions wait for each other. A cause that was closed after the insert was ignored is inserted again.
    """
    by_key = {report.key: report for report in reports}
    rows = access.rows(Cause, monitor.organization_id).filter(ended_at=None)
    causes: dict[str, Cause] = {}
    while missing := sorted(by_key.keys() - causes.keys()):
        new = [_cause(monitor, by_key[key], now) for key in missing]
        Cause.objects.bulk_create(new, ignore_conflicts=True, batch_size=BATCH_SIZE)
        causes |= {cause.key: cause for cause in rows.filter(key__in=missing)}
    return causes


def _close_causes(monitor: Monitor, reports: Iterable[CauseReport], now: datetime) -> dict[str, Cause]:
    """Close the open causes that have ended, and return the latest cause of each key.

    A problem that is older than the monitor has no cause yet, so a closed one is inserted.
    """
    by_key = {report.key: report for report in reports}
    closing = [key for key, report in by_key.items() if report.closes]
    rows = access.rows(Cause, monitor.organization_id)
    locked = rows.filter(Q(key__in=closing), ended_at=None).order_by("key").select_for_update(no_key=True)
    rows.filter(id__in=[cause.id for cause in locked]).update(ended_at=now)
    latest = {cause.key: cause for cause in rows.filter(key__in=by_key).order_by("key", "-id").distinct("key")}
    missing = [
        _cause(monitor, report, now, ended_at=now)
        for key, report in by_key.items()
        if key not in latest and report.sends_alert
    ]
    return latest | {cause.key: cause for cause in Cause.objects.bulk_create(missing)}


def _cause(monitor: Monitor, report: CauseReport, now: datetime, *, ended_at: datetime | None = None) -> Cause:
    return Cause(
        organization_id=monitor.organization_id,
        kind=report.kind,
        key=report.key,
        group=report.group,
        site=report.site,
        text=report.text,
        first_seen_at=now,
        ended_at=ended_at,
    )
