"""E-mails about pauses and certificates of monitors, and weekly digests. `alert_messages` writes those of alerts."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.urls import reverse

from accounts import access
from accounts.mailing import outbox
from accounts.models import Organization, User
from sites.models import Monitor, MonitorRun
from sites.models.stored_json import RunScore
from sites.monitors.headlines import DASH
from sites.recipients import readers_of, topic_of
from website_scan.messages import counted
from website_scan.timestamps import timestamp

WEEK = timedelta(days=7)
# A digest lists only the first monitors, because nobody reads more. The dashboard lists all.
MAX_MONITORS = 50
# Reminders are sent this number of days before a certificate expires.
REMINDER_DAYS = (3, 14)
# PostgreSQL counts the changes, because loading the news of all runs would need much memory.
WEEK_OF_RUNS = """
    SELECT run.monitor_id, (array_agg(run.scores ORDER BY run.due_at))[1],
        sum(jsonb_array_length(coalesce(run.news->'new', '[]')) + coalesce((run.news->'more'->>'new')::int, 0)),
        sum(jsonb_array_length(coalesce(run.news->'fixed', '[]')) + coalesce((run.news->'more'->>'fixed')::int, 0))
    FROM sites_monitorrun AS run JOIN sites_monitor AS monitor ON monitor.id = run.monitor_id
    WHERE monitor.organization_id = %(organization)s AND run.status = 'done' AND run.due_at >= %(since)s
    GROUP BY run.monitor_id
"""


def mail_pause(monitor: Monitor, now: datetime) -> int:
    """Send one e-mail per month that the monitor has been paused because the quota is used up."""
    summary = f"{monitor.name}: paused, because this month's scans are used up"
    key = f"{monitor.id}:paused:{now:%Y-%m}"
    return _mail(monitor, "monitor_paused", summary, key, {"goes_on_at": monitor.next_run_at, "explanation": ""})


def mail_pause_of_journey(monitor: Monitor, explanation: str, now: datetime) -> int:
    """Send an e-mail that the monitor has been paused because its journey cannot run, at most one a day.

    `explanation` says why, and what to do.
    """
    summary = f"{monitor.name}: paused, because its journey cannot run"
    key = f"{monitor.id}:paused:{now:%Y-%m-%d}"
    return _mail(monitor, "monitor_paused", summary, key, {"goes_on_at": None, "explanation": explanation})


def mail_certificate_reminders(now: datetime) -> int:
    """Send each reminder about an expiring certificate once, and return the number of e-mails.

    Reminders do not depend on runs; they name the time of the last run. No reminder is sent within a day of a run that
    has reported the certificate.
    """
    ending = Monitor.objects.filter(
        certificate_expires_at__gt=now,
        certificate_expires_at__lt=now + timedelta(days=max(REMINDER_DAYS)),
        paused_at=None,
    ).exclude(alert__certificate_days=None)
    return sum(_mail_certificate_reminder(monitor, now) for monitor in ending.select_related("organization"))


def _mail_certificate_reminder(monitor: Monitor, now: datetime) -> int:
    assert monitor.certificate_expires_at is not None
    time_left = monitor.certificate_expires_at - now
    reminder = min(days for days in REMINDER_DAYS if time_left < timedelta(days=days))
    runs = monitor.runs.filter(status=MonitorRun.Status.DONE)
    seen_at = runs.order_by("-due_at").values_list("ended_at", flat=True).first()
    reporting_runs = runs.filter(ended_at__gt=now - timedelta(days=1), news__certificate__host=monitor.certificate_host)
    # The run itself sends the e-mail for `certificate_days`, the number of days in the alert settings.
    if reminder == monitor.alert["certificate_days"] or reporting_runs.exists():
        return 0
    expires_at = timestamp(monitor.certificate_expires_at)
    summary = f"Certificate expires in {counted(time_left.days, 'day')}{DASH}{monitor.certificate_host}"
    certificate = {"host": monitor.certificate_host, "expires_at": expires_at, "days_left": time_left.days}
    data = {"certificate": certificate, "seen_at": timestamp(seen_at) if seen_at else None}
    # Monitors of the same host send one reminder to each person.
    key = f"certificate:{monitor.organization_id}:{monitor.certificate_host}:{expires_at}:{reminder}"
    return _mail(monitor, "certificate_expiring", summary, key[:200], data)


def _mail(monitor: Monitor, template: str, subject: str, key: str, data: Mapping[str, object]) -> int:
    return outbox.post(
        to=readers_of(monitor),
        includes_limited=True,
        template=template,
        subject=subject,
        topic=topic_of(monitor),
        organization=monitor.organization,
        key=key,
        context={
            "name": monitor.name,
            "target": monitor.url,
            "monitor_url": monitor.monitor_url,
            "topic_words": f"about the monitor {monitor.name} of {monitor.organization}",
            **data,
        },
    )


def mail_digests(now: datetime) -> int:
    """Send weekly digests and return the number of e-mails.

    Each person gets one digest per ISO week.
    """
    organizations = Organization.objects.filter(closed_at=None, membership__weekly_digest=True, monitors__isnull=False)
    return sum(_mail_digest(organization, now) for organization in organizations.distinct().order_by("pk"))


def _mail_digest(organization: Organization, now: datetime) -> int:
    week = now.isocalendar()
    monitors = access.rows(Monitor, organization.pk).order_by("name", "id")[:MAX_MONITORS]
    rows = access.fetch_rows(WEEK_OF_RUNS, organization.pk, since=now - WEEK)
    runs = {monitor_id: (json.loads(first), new, fixed) for monitor_id, first, new, fixed in rows}
    return outbox.post(
        to=User.objects.filter(membership__organization=organization, membership__weekly_digest=True),
        template="digest",
        subject=f"{organization.name}: weekly summary of your monitors",
        topic=f"digest:{organization.pk}",
        organization=organization,
        key=f"digest:{organization.pk}:{week.year}-{week.week}",
        context={
            "since": now - WEEK,
            "until": now,
            "monitors": [_digest_row(monitor, *runs.get(monitor.id, ({}, 0, 0))) for monitor in monitors],
            "settings_url": f"{settings.BASE_URL}{reverse('organization-settings', args=[organization.slug])}",
        },
    )


def _digest_row(monitor: Monitor, first: dict[str, RunScore], new: int, fixed: int) -> dict[str, Any]:
    """Return a monitor's row in the digest.

    `scores` has the scores before the week's first run and now, by type.
    """
    return {
        "monitor": monitor,
        "new": new,
        "fixed": fixed,
        "scores": {
            name: {
                "before": first[name]["before"] if name in first else None,
                "after": now["score"],
                "grade": now["grade"],
            }
            for name, now in monitor.scores.items()
        },
    }
