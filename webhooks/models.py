"""Models of webhooks, events, deliveries and attempts.

Deliveries are written together with their event.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.utils import timezone

from accounts.models import Organization
from infrastructure.leases import Lease, Leased
from website_scan.ids import new_id
from website_scan.urls import Url


def new_webhook_id() -> str:
    return new_id("wh")


def new_event_id() -> str:
    """Return a new event ID.

    Every attempt sends it in the header `webhook-id`.
    """
    return new_id("evt")


def new_delivery_id() -> str:
    return new_id("dlv")


class EventKind(models.TextChoices):
    """Kind of event.

    The label is the condition under which the event is sent. A new kind needs an example in `examples.py` and a message
    in `delivery/formats.py`.
    """

    SCAN_COMPLETED = "scan.completed", "A scan ended with a full report."
    SCAN_FAILED = "scan.failed", "A scan ended without a report."
    SCAN_PARTIAL = "scan.partial", "A scan ended with a report, but some checks could not run."
    AUDIT_COMPLETED = "audit.completed", "An audit ended; some of its pages may be missing."
    AUDIT_FAILED = "audit.failed", "An audit ended, and none of its pages could be checked."
    AUDIT_SCAN = "audit.scan", "A scan of an audit of several pages ended."
    MONITOR_CHANGED = "monitor.changed", "A monitor found a change: something new, fixed, worse or better."
    MONITOR_FAILED = "monitor.failed", "A monitor can no longer reach its page or site."
    MONITOR_RECOVERED = "monitor.recovered", "A monitor can reach its page or site again."
    MONITOR_ALERT = "monitor.alert", "Monitors have alerts: one event for all of some minutes, grouped by cause."
    LIST_COMPLETED = "list.completed", "A run of a list ended; some of its sites may be missing."
    LIST_CHANGED = "list.changed", "A run of a list found sites that are better or worse than in the run before."


# Webhooks of chats receive MONITOR_ALERT instead, because people read them.
GROUPED_EVENTS = frozenset({EventKind.MONITOR_CHANGED, EventKind.MONITOR_FAILED, EventKind.MONITOR_RECOVERED})

MAX_NAME_LENGTH = 100


class Webhook(models.Model):
    """Webhook of an organization.

    While it is disabled, its deliveries wait.
    """

    class Reason(models.TextChoices):
        REQUESTED = "requested", "by its organization"
        GONE = "gone", "it answered 410"
        FAILING = "failing", "nothing but failures for days"

    class Format(models.TextChoices):
        """Body format of a webhook.

        Events are stored as STANDARD, and converted when they are sent.
        """

        STANDARD = "standard", "Standard"
        SLACK = "slack", "Slack"
        TEAMS = "teams", "Microsoft Teams"

    id = models.CharField(primary_key=True, max_length=40, default=new_webhook_id, editable=False)
    organization = models.ForeignKey(Organization, on_delete=models.CASCADE, related_name="webhooks")
    name = models.CharField(max_length=MAX_NAME_LENGTH, db_default="")
    url = models.CharField(max_length=8192)
    receiver = models.CharField(
        max_length=300, help_text="The URL's host and port, by which concurrent attempts are limited."
    )
    events = ArrayField(models.CharField(max_length=32, choices=EventKind))
    format = models.CharField(max_length=16, choices=Format, default=Format.STANDARD, db_default=Format.STANDARD)
    encrypted_secret = models.BinaryField()
    created_at = models.DateTimeField(default=timezone.now)

    enabled = models.BooleanField(default=True)
    disabled_at = models.DateTimeField(null=True, blank=True)
    disabled_reason = models.CharField(max_length=16, choices=Reason, blank=True, default="")
    # Time of the first failed attempt since the last success, and the number of failures since then.
    failing_since = models.DateTimeField(null=True, blank=True)
    failures = models.PositiveIntegerField(default=0)

    class Meta:
        ordering = ("created_at", "id")

    def __str__(self) -> str:
        return f"{self.id} ({self.name})"

    @property
    def is_signed(self) -> bool:
        """Return True if the receiver can check signatures. Slack and Teams ignore them."""
        return self.format == self.Format.STANDARD

    @property
    def public_url(self) -> str:
        """URL without the parts that may contain tokens.

        Leaves out the query, and for Slack and Teams also the path.
        """
        if self.format != self.Format.STANDARD:
            return f"{Url.of(self.url).scheme}://{self.receiver}/…"
        path, mark, _ = self.url.partition("?")
        return path + "?…" if mark else path

    @property
    def is_chat(self) -> bool:
        """True if people read the messages, so that alerts of monitors are grouped."""
        return self.format != self.Format.STANDARD

    @property
    def reason(self) -> str | None:
        """Reason why the webhook is disabled, or None while it is enabled."""
        return self.disabled_reason or None


class FormerSecret(models.Model):
    """Former secret of a webhook.

    It remains valid until `expires_at` in addition to the current secret.
    """

    webhook = models.ForeignKey(Webhook, on_delete=models.CASCADE, related_name="former_secrets")
    encrypted_secret = models.BinaryField()
    expires_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.webhook_id}, until {self.expires_at:%Y-%m-%d %H:%M}"


class Event(models.Model):
    """Event for webhooks.

    Every attempt sends the same `body`, converted if the webhook has another format.
    """

    id = models.CharField(primary_key=True, max_length=40, default=new_event_id, editable=False)
    organization = models.ForeignKey(Organization, on_delete=models.CASCADE)
    # The next four foreign keys are null for test events.
    scan = models.ForeignKey("scans.Scan", on_delete=models.CASCADE, null=True, blank=True, related_name="events")
    audit = models.ForeignKey(
        "sites.Audit", on_delete=models.CASCADE, null=True, blank=True, related_name="events", db_index=False
    )
    monitor = models.ForeignKey(
        "sites.Monitor", on_delete=models.CASCADE, null=True, blank=True, related_name="events", db_index=False
    )
    site_list = models.ForeignKey(
        "sites.SiteList", on_delete=models.CASCADE, null=True, blank=True, related_name="events", db_index=False
    )
    kind = models.CharField(max_length=32, choices=EventKind)
    body = models.BinaryField()
    request_id = models.CharField(
        max_length=128, blank=True, default="", db_default="", help_text="Of the request that led to it, if any."
    )
    created_at = models.DateTimeField(default=timezone.now, db_index=True)

    class Meta:
        indexes = [
            models.Index(fields=["audit"], condition=models.Q(audit__isnull=False), name="event_of_audit"),
            models.Index(fields=["monitor"], condition=models.Q(monitor__isnull=False), name="event_of_monitor"),
            models.Index(fields=["site_list"], condition=models.Q(site_list__isnull=False), name="event_of_list"),
        ]

    def __str__(self) -> str:
        return f"{self.id} ({self.kind})"

    @property
    def is_test(self) -> bool:
        """Return True for a test event.

        A test event belongs to no scan, audit, monitor or list.
        """
        return not (self.scan_id or self.audit_id or self.monitor_id or self.site_list_id)


# The lease is longer than an attempt, which takes 10 s at most.
DELIVERY_LEASE = Lease(timedelta(seconds=20))


class Delivery(Leased):
    """Delivery of an event to one webhook: pending → delivered | failed.

    A replay makes the delivery pending again.
    """

    class Status(models.TextChoices):
        PENDING = "pending"
        DELIVERED = "delivered"
        FAILED = "failed"

    id = models.CharField(primary_key=True, max_length=40, default=new_delivery_id, editable=False)
    webhook = models.ForeignKey(Webhook, on_delete=models.CASCADE, db_index=False, related_name="deliveries")
    event = models.ForeignKey(Event, on_delete=models.CASCADE, related_name="deliveries")
    status = models.CharField(max_length=16, choices=Status, default=Status.PENDING)
    # Number of finished attempts since the last replay, for the next pause.
    attempts_made = models.PositiveSmallIntegerField(default=0)
    next_attempt_at = models.DateTimeField(default=timezone.now)
    # Claims skip deliveries of a disabled webhook (`delivery.claims`).
    is_held = models.BooleanField(default=False, db_default=False)
    created_at = models.DateTimeField(default=timezone.now)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name_plural = "deliveries"
        indexes = [
            models.Index(
                fields=["webhook", "next_attempt_at", "id"],
                condition=Q(status="pending", is_held=False),
                name="delivery_waiting",
            ),
            models.Index(
                fields=["lease_expires_at"],
                condition=Q(status="pending", lease_expires_at__isnull=False),
                name="delivery_in_flight",
            ),
            models.Index(fields=["webhook", "-created_at", "-id"], name="delivery_newest"),
            models.Index(fields=["finished_at"], condition=~Q(status="pending"), name="delivery_finished"),
        ]

    def __str__(self) -> str:
        return f"{self.id} ({self.status})"

    @property
    def is_sending(self) -> bool:
        return self.lease_expires_at is not None and self.lease_expires_at > timezone.now()

    @property
    def planned_at(self) -> datetime | None:
        """Time of the next attempt, or None if no attempt is planned."""
        is_planned = self.status == self.Status.PENDING and not self.is_sending and self.webhook.enabled
        return self.next_attempt_at if is_planned else None


class Attempt(models.Model):
    """Attempt to deliver an event.

    Contains the receiver's response or the error.
    """

    # One statement deletes a log of 100,000 rows, because the database deletes attempts.
    delivery = models.ForeignKey(Delivery, on_delete=models.DO_NOTHING, db_constraint=False, related_name="attempts")
    at = models.DateTimeField(help_text="When it began.")
    latency_ms = models.PositiveIntegerField(help_text="Until the answer was read, or the attempt failed.")
    response_status = models.PositiveSmallIntegerField(null=True, blank=True)
    response_body = models.TextField(blank=True, default="", help_text="The first 2 KiB, as text.")
    error_code = models.CharField(max_length=40, blank=True, default="")
    error_message = models.CharField(max_length=300, blank=True, default="")
    blocked = models.BooleanField(default=False, help_text="Refused by the net guard: nothing was sent.")

    class Meta:
        ordering = ("at", "id")

    def __str__(self) -> str:
        return f"{self.delivery_id} at {self.at:%Y-%m-%d %H:%M:%S}: {self.response_status or self.error_code}"

    @property
    def failure(self) -> Attempt | None:
        """Return this attempt if it failed, otherwise None."""
        return self if self.error_code else None
