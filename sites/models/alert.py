"""Models of causes and alerts."""

from __future__ import annotations

from typing import TypedDict

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from accounts.models import Organization
from sites.models.monitor import Monitor, MonitorRun
from webhooks.models import Webhook


class CauseText(TypedDict):
    """Texts of a cause for messages. `check` and `type` are empty unless the cause is a finding."""

    title: str
    severity: str
    fix: str
    type: str
    check: str


class Cause(models.Model):
    """Problem of one site, which several monitors may report.

    A cause is open until a monitor reports its end. If the problem returns, it is a new row with the same key. Messages
    list causes with the same `group` together.
    """

    class Kind(models.TextChoices):
        OUTAGE = "outage"
        JOURNEY = "journey"
        FINDING = "finding"
        SCORE = "score"
        CERTIFICATE = "certificate"

    id = models.BigAutoField(primary_key=True)
    organization = models.ForeignKey(Organization, on_delete=models.CASCADE, db_index=False)
    kind = models.CharField(max_length=12, choices=Kind)
    key = models.CharField(max_length=64, help_text="SHA-256 of the problem and its site.")
    group = models.CharField(max_length=64, help_text="SHA-256 of the problem without its site.")
    site = models.CharField(max_length=300)
    text: models.JSONField[CauseText, CauseText] = models.JSONField()
    first_seen_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["organization", "key"], condition=Q(ended_at=None), name="cause_open_once")
        ]
        indexes = [
            models.Index(fields=["organization", "key", "-id"], name="cause_newest"),
            models.Index(fields=["first_seen_at"], name="cause_oldest"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} of {self.site}"


class Alert(models.Model):
    """Alert about a cause for one recipient: pending until it is settled.

    The recipient is a person or a webhook. A settled alert was either part of a message (`is_sent`), or needed none.
    """

    id = models.BigAutoField(primary_key=True)
    cause = models.ForeignKey(Cause, on_delete=models.CASCADE, db_index=False, related_name="alerts")
    monitor = models.ForeignKey(Monitor, on_delete=models.CASCADE, related_name="alerts")
    run = models.ForeignKey(MonitorRun, on_delete=models.CASCADE, related_name="alerts")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, null=True, blank=True)
    webhook = models.ForeignKey(Webhook, on_delete=models.CASCADE, null=True, blank=True)
    is_end = models.BooleanField(help_text="The cause has ended.")
    places = ArrayField(models.CharField(max_length=64), help_text="Fingerprints, or digests of pages.")
    note = models.CharField(max_length=400, blank=True, default="", help_text="What the run saw.")
    report_url = models.CharField(max_length=300, blank=True, default="")
    created_at = models.DateTimeField()
    settled_at = models.DateTimeField(null=True, blank=True)
    is_sent = models.BooleanField(default=False)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(user__isnull=False, webhook=None) | Q(user=None, webhook__isnull=False),
                name="alert_one_recipient",
            ),
        ]
        indexes = [
            models.Index(fields=["user", "webhook"], condition=Q(settled_at=None), name="alert_pending"),
            models.Index(fields=["cause", "user", "webhook"], name="alert_of_cause"),
        ]

    def __str__(self) -> str:
        return f"{self.cause_id} to {self.user_id or self.webhook_id}"
