"""Models for monitors, their runs and the confirmed state of their pages."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any, ClassVar

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Func, Q, QuerySet, Value
from django.utils import timezone

from accounts.models import ApiKey, Interval, Organization
from accounts.visible_sites import VisibleSites
from scans.models.credentials import WithCredentials
from scans.models.requirements import WithRequirements
from scans.models.viewing import WithViewing
from sites.models.audit import Audit
from sites.models.journey import Journey
from sites.models.stored_json import LastScore, Memory, News, RunScore, UnconfirmedChanges
from website_scan.ids import new_id
from website_scan.report_json import ReducedJson

MAX_NAME_LENGTH = 100


def new_monitor_id() -> str:
    return new_id("mon")


def new_run_id() -> str:
    return new_id("run")


# Query conditions for the statuses of monitors.
STATUS_FILTERS: Mapping[str, Q] = {
    "ok": Q(paused_at=None, failing_since=None),
    "failing": Q(paused_at=None, failing_since__isnull=False),
    "paused": Q(paused_at__isnull=False),
}


class Monitor(WithCredentials, WithViewing, WithRequirements):
    """Audit that is repeated on a schedule, with alert settings and recipients of notifications.

    `next_run_at` is the time of the next run; None while a user has paused the monitor. Without quota, a monitor is
    paused until the next month, and `next_run_at` is its first run in that month.
    """

    class Pause(models.TextChoices):
        REQUESTED = "requested", "by a member or a key"
        QUOTA = "quota", "the month's scans are used"
        PLAN = "plan", "the plan allows fewer monitors"
        PROOF = "proof", "control of the journey's site is not proven"
        SECRET = "secret", "a secret of the journey has no value"

    # Pauses that nobody has requested.
    FORCED_PAUSES: ClassVar[tuple[str, ...]] = (Pause.QUOTA, Pause.PLAN, Pause.PROOF, Pause.SECRET)

    id = models.CharField(primary_key=True, max_length=40, default=new_monitor_id, editable=False)
    organization = models.ForeignKey(Organization, on_delete=models.CASCADE, related_name="monitors")
    api_key = models.ForeignKey(ApiKey, on_delete=models.SET_NULL, null=True, blank=True, db_index=False)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, db_index=False
    )
    created_at = models.DateTimeField(default=timezone.now)
    name = models.CharField(max_length=MAX_NAME_LENGTH)

    # The following fields have the same meaning as in Audit. Those of a monitor with a journey are copied from it when
    # it changes and before each run.
    kind = models.CharField(max_length=8, choices=Audit.Kind)
    journey = models.ForeignKey(
        Journey, on_delete=models.CASCADE, null=True, blank=True, related_name="monitors", db_index=False
    )
    pages = ArrayField(
        models.CharField(max_length=8192), help_text="The page, the list of pages, or the start of the site."
    )
    types = ArrayField(models.CharField(max_length=16))
    discover = ArrayField(models.CharField(max_length=8), default=list, blank=True)
    include = ArrayField(models.CharField(max_length=500), default=list, blank=True)
    exclude = ArrayField(models.CharField(max_length=500), default=list, blank=True)
    max_pages = models.PositiveIntegerField()

    every = models.CharField(max_length=8, choices=Interval)
    at = models.TimeField(null=True, blank=True, help_text="Local time; without one the start is spread by the ID.")
    day = models.PositiveSmallIntegerField(
        null=True, blank=True, help_text="With a time: ISO weekday (1 is Monday) or day of the month."
    )
    timezone = models.CharField(max_length=64, default="UTC")
    next_run_at = models.DateTimeField(null=True, blank=True)
    paused_at = models.DateTimeField(null=True, blank=True)
    pause_reason = models.CharField(max_length=16, choices=Pause, blank=True, default="")

    alert: models.JSONField[dict[str, Any], dict[str, Any]] = models.JSONField(
        help_text="Conditions for a notification."
    )
    recipients = ArrayField(
        models.BigIntegerField(),
        default=list,
        blank=True,
        help_text="Of e-mails: IDs of people, while they are members.",
    )
    webhook_ids = ArrayField(
        models.CharField(max_length=40),
        null=True,
        blank=True,
        help_text="Of webhooks that receive its events. Null: all webhooks, also future ones; empty: none.",
    )

    # Start of an outage, or of failures of the journey's steps, that a second attempt has confirmed. None while the
    # target is reachable.
    failing_since = models.DateTimeField(null=True, blank=True)
    # Scores of the last run by scan type: {"score": …, "grade": …}.
    scores: models.JSONField[dict[str, LastScore], dict[str, LastScore]] = models.JSONField(default=dict, blank=True)
    # The next two columns describe the pages' certificate that expires first.
    certificate_expires_at = models.DateTimeField(null=True, blank=True)
    certificate_host = models.CharField(max_length=300, blank=True, default="")
    memory: models.JSONField[Memory, Memory] = models.JSONField(
        default=dict,
        blank=True,
        db_default=Value({}, models.JSONField()),
        help_text="Scores that the next run is compared with, and certificates already reported.",
    )

    class Meta:
        indexes = [
            models.Index(fields=["organization", "-created_at", "-id"], name="monitor_newest_first"),
            models.Index(fields=["next_run_at"], condition=Q(next_run_at__isnull=False), name="monitor_due"),
            models.Index(fields=["journey"], condition=Q(journey__isnull=False), name="monitor_of_journey"),
        ]

    def __str__(self) -> str:
        return f"{self.id} ({self.name})"

    @property
    def url(self) -> str:
        """Return the URL of the single page, of the first listed page, or of the site's start page."""
        return self.pages[0]

    @property
    def is_paused(self) -> bool:
        return self.paused_at is not None

    @property
    def status(self) -> str:
        """Return the status of the monitor, which is a key of STATUS_FILTERS."""
        if self.is_paused:
            return "paused"
        return "failing" if self.failing_since else "ok"

    @property
    def failure(self) -> str:
        """Return what the current failure is, as words for display: an outage, or a failing step of the journey."""
        return "Journey failing" if self.memory.get("is_step_failure") else "Unreachable"

    def is_visible_within(self, scope: VisibleSites) -> bool:
        """Return True if a member who is limited to these sites may see the monitor.

        All of its pages must be visible. Journeys are closed to limited members, and their monitors with them.
        """
        return self.kind != Audit.Kind.JOURNEY and scope.allows_urls(self.pages)

    @property
    def monitor_url(self) -> str:
        """Return the URL of the monitor's page in the dashboard."""
        return f"{settings.BASE_URL}/o/{self.organization.slug}/monitors/{self.id}"


def monitors_of_host(monitors: QuerySet[Monitor], host: str) -> QuerySet[Monitor]:
    """Return the monitors of pages on the host.

    `host` includes the port unless it is the scheme's default.
    """
    pages = Func(F("pages"), Value("\n"), function="array_to_string", output_field=models.TextField())
    address = rf"(^|\n)https?://{re.escape(host.replace(chr(0), ''))}[/?]"
    return monitors.alias(joined_pages=pages).filter(joined_pages__regex=address)


class MonitorRun(models.Model):
    """Run of a monitor.

    The status is due → running → done | failed, or skipped if the previous run is unfinished or a pause begins. A run
    whose target was unreachable is due again some minutes later, before it fails.
    """

    class Status(models.TextChoices):
        DUE = "due"
        RUNNING = "running"
        DONE = "done"
        FAILED = "failed"
        SKIPPED = "skipped"

    UNFINISHED: ClassVar[tuple[str, ...]] = (Status.DUE, Status.RUNNING)

    id = models.CharField(primary_key=True, max_length=40, default=new_run_id, editable=False)
    monitor = models.ForeignKey(Monitor, on_delete=models.CASCADE, related_name="runs", db_index=False)
    due_at = models.DateTimeField()
    is_requested = models.BooleanField(default=False, help_text="Requested by somebody, outside the schedule.")
    status = models.CharField(max_length=8, choices=Status, default=Status.DUE)
    not_before = models.DateTimeField(help_text="When it may start, or start again.")
    attempts = models.PositiveSmallIntegerField(default=0)
    started_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)
    # Audit of the last attempt. None after the audit has been deleted by retention.
    audit = models.OneToOneField(Audit, on_delete=models.SET_NULL, null=True, blank=True, related_name="run")
    error_code = models.CharField(max_length=40, blank=True, default="")
    error_message = models.TextField(blank=True, default="")

    # Keys of `scores` are scan types: {"before": …, "score": …, "grade": …}. `news` has the changes in the format of
    # webhook events (docs/monitors.md).
    scores: models.JSONField[dict[str, RunScore], dict[str, RunScore]] = models.JSONField(default=dict, blank=True)
    news: models.JSONField[News, News] = models.JSONField(default=dict, blank=True)
    is_told = models.BooleanField(default=False, help_text="A notification was sent.")

    class Meta:
        indexes = [
            models.Index(fields=["not_before", "id"], condition=Q(status="due"), name="monitor_run_due"),
            models.Index(fields=["monitor"], condition=Q(status__in=("due", "running")), name="monitor_run_unfinished"),
            models.Index(fields=["started_at"], condition=Q(status="running"), name="monitor_run_running"),
            models.Index(fields=["due_at", "id"], name="monitor_run_oldest"),
            # This index serves the list of the last runs with changes.
            models.Index(fields=["monitor", "-due_at"], condition=~Q(news={}), name="monitor_run_news"),
        ]
        constraints = [models.UniqueConstraint(fields=["monitor", "due_at"], name="monitor_run_once")]

    def __str__(self) -> str:
        return f"{self.monitor_id} at {self.due_at:%Y-%m-%d %H:%M}"

    @property
    def next_try_at(self) -> datetime | None:
        """Return the time when a due run starts or is retried, or None for other runs."""
        return self.not_before if self.status == MonitorRun.Status.DUE else None

    def is_waiting(self, now: datetime) -> bool:
        """Return True if the start of the run is in the future."""
        return self.next_try_at is not None and self.next_try_at > now


class MonitorState(models.Model):
    """Last confirmed report of one page and scan type.

    The next run is compared with it.
    """

    id = models.BigAutoField(primary_key=True)
    monitor = models.ForeignKey(Monitor, on_delete=models.CASCADE, related_name="states", db_index=False)
    page = models.CharField(max_length=64, help_text="SHA-256 of the URL, which may be longer than an index takes.")
    url = models.CharField(max_length=8192)
    type = models.CharField(max_length=16)
    scan_id = models.CharField(max_length=40, help_text="The scan of the report, which may have expired.")
    confirmed_at = models.DateTimeField()
    # Column `document` has the report's fields for comparisons. It is empty until a scan of the page has succeeded.
    document: models.JSONField[ReducedJson, ReducedJson] = models.JSONField()
    doubts: models.JSONField[UnconfirmedChanges, UnconfirmedChanges] = models.JSONField(default=dict, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["monitor", "page", "type"], name="monitor_state_unique")]

    def __str__(self) -> str:
        return f"{self.monitor_id} {self.type} of {self.url}"

    @property
    def confirmed(self) -> ReducedJson | None:
        """Return the confirmed report, or None if no scan of the page has succeeded yet."""
        return self.document or None
