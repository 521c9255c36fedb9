"""A monitor: an audit that repeats, and says what changed. Its runs, and what is known of its pages."""

from __future__ import annotations

from typing import Any, ClassVar

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q, Value
from django.utils import timezone

from accounts.models import ApiKey, Interval, Organization
from scanner.ids import new_id
from scans.models.keyed import Keyed
from sites.models.audit import Audit


def new_monitor_id() -> str:
    return new_id("mon")


class Monitor(Keyed):
    """What is looked at again and again, when, and who is told what.

    `next_run_at` is when it is due; None while somebody has paused it. Out of quota it is paused until the new month,
    which `next_run_at` says then.
    """

    class Pause(models.TextChoices):
        REQUESTED = "requested", "by a member or a key"
        QUOTA = "quota", "the month's scans are used"
        PLAN = "plan", "the plan allows fewer monitors"

    id = models.CharField(primary_key=True, max_length=40, default=new_monitor_id, editable=False)
    organization = models.ForeignKey(Organization, on_delete=models.CASCADE, related_name="monitors")
    api_key = models.ForeignKey(ApiKey, on_delete=models.SET_NULL, null=True, blank=True, db_index=False)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, db_index=False
    )
    created_at = models.DateTimeField(default=timezone.now)
    name = models.CharField(max_length=100)

    # As an audit's.
    kind = models.CharField(max_length=8, choices=Audit.Kind)
    pages = ArrayField(models.CharField(max_length=8192), help_text="The page, the pages, or where the site begins.")
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

    alert: models.JSONField[dict[str, Any], dict[str, Any]] = models.JSONField(help_text="What is worth a message.")
    recipients = ArrayField(
        models.BigIntegerField(),
        default=list,
        blank=True,
        help_text="Of e-mails: IDs of people, while they are members.",
    )
    tells_webhooks = models.BooleanField(default=True)

    # Since when it can't be reached, confirmed by a second try; None while it can.
    failing_since = models.DateTimeField(null=True, blank=True)
    # By type, of the last run: {"score": …, "grade": …}, and the pages' certificate ending first.
    scores: models.JSONField[dict[str, Any], dict[str, Any]] = models.JSONField(default=dict, blank=True)
    certificate_expires_at = models.DateTimeField(null=True, blank=True)
    certificate_host = models.CharField(max_length=300, blank=True, default="")
    memory: models.JSONField[dict[str, Any], dict[str, Any]] = models.JSONField(
        default=dict,
        blank=True,
        db_default=Value({}, models.JSONField()),
        help_text="What the next run's scores are judged by, and which certificates were told of.",
    )

    class Meta:
        indexes = [
            models.Index(fields=["organization", "-created_at", "-id"], name="monitor_newest_first"),
            models.Index(fields=["next_run_at"], condition=Q(next_run_at__isnull=False), name="monitor_due"),
        ]

    def __str__(self) -> str:
        return f"{self.id} ({self.name})"

    @property
    def url(self) -> str:
        """The page, the first of the pages, or where the site begins."""
        return self.pages[0]

    @property
    def is_paused(self) -> bool:
        return self.paused_at is not None

    @property
    def monitor_url(self) -> str:
        """The address of the monitor's page."""
        return f"{settings.BASE_URL}/o/{self.organization.slug}/monitors/{self.id}"


class MonitorRun(models.Model):
    """One look at what a monitor watches. due → running → done | failed; a beat that was left out is skipped.

    A run whose audit could reach nothing is due a second time, some minutes later, before it is failed.
    """

    class Status(models.TextChoices):
        DUE = "due"
        RUNNING = "running"
        DONE = "done"
        FAILED = "failed"
        SKIPPED = "skipped"

    UNFINISHED: ClassVar[tuple[str, ...]] = (Status.DUE, Status.RUNNING)

    id = models.BigAutoField(primary_key=True)
    monitor = models.ForeignKey(Monitor, on_delete=models.CASCADE, related_name="runs", db_index=False)
    due_at = models.DateTimeField()
    is_requested = models.BooleanField(default=False, help_text="Somebody asked for it, beside the schedule.")
    status = models.CharField(max_length=8, choices=Status, default=Status.DUE)
    not_before = models.DateTimeField(help_text="When it may start, or start again.")
    attempts = models.PositiveSmallIntegerField(default=0)
    started_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)
    # The last attempt's; None when it has expired.
    audit = models.OneToOneField(Audit, on_delete=models.SET_NULL, null=True, blank=True, related_name="run")
    error_code = models.CharField(max_length=40, blank=True, default="")
    error_message = models.TextField(blank=True, default="")

    # By type: {"before": …, "score": …, "grade": …}; and what changed, as `sites.monitors.news` describes it.
    scores: models.JSONField[dict[str, Any], dict[str, Any]] = models.JSONField(default=dict, blank=True)
    news: models.JSONField[dict[str, Any], dict[str, Any]] = models.JSONField(default=dict, blank=True)
    is_told = models.BooleanField(default=False, help_text="Whether it was worth a message.")

    class Meta:
        indexes = [
            models.Index(fields=["not_before", "id"], condition=Q(status="due"), name="monitor_run_due"),
            models.Index(fields=["monitor"], condition=Q(status__in=("due", "running")), name="monitor_run_unfinished"),
            models.Index(fields=["started_at"], condition=Q(status="running"), name="monitor_run_running"),
            models.Index(fields=["due_at"], name="monitor_run_oldest"),
            # The last ones that found something changed, however many found nothing.
            models.Index(fields=["monitor", "-due_at"], condition=~Q(news={}), name="monitor_run_news"),
        ]
        constraints = [models.UniqueConstraint(fields=["monitor", "due_at"], name="monitor_run_once")]

    def __str__(self) -> str:
        return f"{self.monitor_id} at {self.due_at:%Y-%m-%d %H:%M}"


class MonitorState(models.Model):
    """What was last confirmed of one page for one type: what the next run is compared with."""

    id = models.BigAutoField(primary_key=True)
    monitor = models.ForeignKey(Monitor, on_delete=models.CASCADE, related_name="states", db_index=False)
    page = models.CharField(max_length=64, help_text="SHA-256 of the URL, which may be longer than an index takes.")
    url = models.CharField(max_length=8192)
    type = models.CharField(max_length=16)
    scan_id = models.CharField(max_length=40, help_text="Whose report it is; that may have expired.")
    confirmed_at = models.DateTimeField()
    # What of the report a comparison needs, and what is waited for before it is believed.
    document: models.JSONField[dict[str, Any], dict[str, Any]] = models.JSONField()
    doubts: models.JSONField[dict[str, Any], dict[str, Any]] = models.JSONField(default=dict, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["monitor", "page", "type"], name="monitor_state_unique")]

    def __str__(self) -> str:
        return f"{self.monitor_id} {self.type} of {self.url}"
