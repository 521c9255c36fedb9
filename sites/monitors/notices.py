"""E-mails about monitors, and weekly digests.

E-mails are written to the outbox in the transaction that finishes the run.

`data` is the data of the event with the same name (docs/webhooks.md): e-mails and webhooks have the same content.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

from django.conf import settings
from django.urls import reverse

from accounts import access
from accounts.mailing import outbox
from accounts.models import Organization, User
from scans.check_catalogue import check_pages
from sites.models import Monitor, MonitorRun
from sites.models.stored_json import (
    ChangedData,
    Direction,
    FailedData,
    FindingNews,
    News,
    RecoveredData,
    RunScore,
)
from sites.recipients import topic_of
from website_scan.messages import counted
from website_scan.report.references import page_url
from website_scan.timestamps import timestamp

# Maximum numbers of findings (or pages) for each kind of change, and of pages for each finding.
MAX_FINDINGS = 10
MAX_PAGES = 3
PAGES: Mapping[Literal["unreachable_pages", "reachable_pages"], str] = {
    "unreachable_pages": "Unreachable",
    "reachable_pages": "Reachable again",
}
CHANGES: Mapping[Direction, str] = {"new": "New", "worse": "Worse", "fixed": "Fixed", "better": "Better"}
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


@dataclass(frozen=True, slots=True)
class _ChangesOfKind:
    """Changes of one kind for an e-mail.

    It has the first findings or page URLs, and the total number.
    """

    title: str
    count: int
    findings: Sequence[Mapping[str, Any]] = ()
    urls: Sequence[str] = ()

    @property
    def more(self) -> int:
        return self.count - len(self.findings) - len(self.urls)


def mail_changes(run: MonitorRun, data: ChangedData) -> int:
    """Send an e-mail about a run's changes to each recipient, and return the number of recipients.

    An e-mail whose only reason is an expiring certificate has its own template.
    """
    certificate = data["certificate"]
    if certificate is not None and data["reasons"] == ["certificate"]:
        summary = f"the certificate of {certificate['host']} expires in {counted(certificate['days_left'], 'day')}"
        return _mail(run.monitor, "certificate_expiring", summary, f"changed:{run.pk}", data)
    changes = list(_changes(data, run.monitor))
    counts = _counts(changes)
    summary = counts or ("the certificate expires soon" if certificate else "the score has changed")
    return _mail(
        run.monitor, "monitor_changed", summary, f"changed:{run.pk}", {**data, "changes": changes, "counts": counts}
    )


def mail_outage(monitor: Monitor, data: FailedData) -> int:
    """Send one e-mail per outage.

    It says that the target was unreachable in two attempts.
    """
    return _mail(monitor, "monitor_failed", "unreachable", f"failed:{data['since']}", data)


def mail_recovery(monitor: Monitor, data: RecoveredData) -> int:
    """Send an e-mail that the target is reachable again.

    It lists the changes since the outage began.
    """
    counts = _counts(_changes(data["changes"], monitor)) if data["changes"] else ""
    summary, key = "reachable again", f"recovered:{data['down_since']}"
    return _mail(monitor, "monitor_recovered", summary, key, {**data, "counts": counts})


def mail_pause(monitor: Monitor, now: datetime) -> int:
    """Send one e-mail per month that the monitor has been paused because the quota is used up."""
    summary, key = "paused, because this month's scans are used up", f"paused:{now:%Y-%m}"
    return _mail(monitor, "monitor_paused", summary, key, {"goes_on_at": monitor.next_run_at})


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
    summary = f"the certificate of {monitor.certificate_host} expires in {counted(time_left.days, 'day')}"
    certificate = {"host": monitor.certificate_host, "expires_at": expires_at, "days_left": time_left.days}
    data = {"certificate": certificate, "seen_at": timestamp(seen_at) if seen_at else None}
    return _mail(monitor, "certificate_expiring", summary, f"certificate:{expires_at}:{reminder}", data)


def _mail(monitor: Monitor, template: str, summary: str, key: str, data: Mapping[str, object]) -> int:
    return outbox.post(
        to=User.objects.filter(pk__in=monitor.recipients),
        template=template,
        subject=f"{monitor.name}: {summary}",
        topic=topic_of(monitor),
        organization=monitor.organization,
        key=f"{monitor.id}:{key}",
        context={
            "name": monitor.name,
            "target": monitor.url,
            "monitor_url": monitor.monitor_url,
            "topic_words": f"about the monitor {monitor.name} of {monitor.organization}",
            **data,
        },
    )


def _counts(changes: Iterable[_ChangesOfKind]) -> str:
    """Return the numbers of changes as text, such as "2 new problems, 1 fixed, 1 page unreachable"."""
    texts: list[str] = []
    for change in changes:
        number, title = change.count, change.title.lower()
        if change.urls:
            texts.append(f"{counted(number, 'page')} {title}")
        else:
            texts.append(f"{number} {title}" if texts else counted(number, f"{title} problem"))
    return ", ".join(texts)


def _changes(data: News, monitor: Monitor) -> Iterator[_ChangesOfKind]:
    for name, title in CHANGES.items():
        if findings := data[name]:
            shown_findings = [_finding(finding, name, monitor) for finding in findings[:MAX_FINDINGS]]
            yield _ChangesOfKind(title, len(findings) + data["more"][name], findings=shown_findings)
    for key, title in PAGES.items():
        if pages := data[key]:
            urls = [page["url"] for page in pages[:MAX_FINDINGS]]
            yield _ChangesOfKind(title, len(pages) + data["more"][key], urls=urls)


def _finding(finding: FindingNews, change: Direction, monitor: Monitor) -> dict[str, Any]:
    """Return a finding for an e-mail with its first pages.

    If it is new or worse, it has the URL for muting it.
    """
    pages = finding["pages"][:MAX_PAGES]
    mute_url = ""
    if pages and change in ("new", "worse"):
        path = reverse("mute-new", args=[monitor.organization.slug])
        scan_id = pages[0]["report_url"].rpartition("/")[2]
        mute_url = f"{settings.BASE_URL}{path}?scan={scan_id}&check={finding['check']}"
    check_url = page_url(check_pages(), finding["check"])
    more_pages = finding["pages_affected"] - len(pages)
    return {**finding, "pages": pages, "more_pages": more_pages, "mute_url": mute_url, "check_url": check_url}


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
