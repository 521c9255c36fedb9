"""Receivers, events and deliveries. A delivery row is written with the event, and is never lost."""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils import timezone

from accounts.models import Organization
from config.ids import new_id


def new_webhook_id() -> str:
    """The public ID of a webhook."""
    return new_id("wh")


def new_event_id() -> str:
    """The ID of an event: every attempt to deliver it carries the same."""
    return new_id("evt")


def new_delivery_id() -> str:
    """The public ID of a delivery."""
    return new_id("dlv")


class EventKind(models.TextChoices):
    """The kinds of events, as the API names them."""

    SCAN_COMPLETED = "scan.completed"
    SCAN_FAILED = "scan.failed"
    SCAN_PARTIAL = "scan.partial"


class Webhook(models.Model):
    """A receiver that an organization registered."""

    id = models.CharField(primary_key=True, max_length=40, default=new_webhook_id, editable=False)
    organization = models.ForeignKey(Organization, on_delete=models.CASCADE, related_name="webhooks")
    url = models.CharField(max_length=8192)
    events = ArrayField(models.CharField(max_length=32, choices=EventKind))
    encrypted_secret = models.BinaryField()
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ("created_at", "id")

    def __str__(self) -> str:
        return f"{self.id} ({self.url})"


class Event(models.Model):
    """Something that happened. `body` is what every receiver gets, byte for byte, at every attempt."""

    id = models.CharField(primary_key=True, max_length=40, default=new_event_id, editable=False)
    organization = models.ForeignKey(Organization, on_delete=models.CASCADE)
    scan = models.ForeignKey("scans.Scan", on_delete=models.CASCADE, related_name="events")
    kind = models.CharField(max_length=32, choices=EventKind)
    body = models.BinaryField()
    created_at = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return f"{self.id} ({self.kind})"


class Delivery(models.Model):
    """An event on its way to one receiver. pending → delivered | failed."""

    class Status(models.TextChoices):
        PENDING = "pending"
        DELIVERED = "delivered"
        FAILED = "failed"

    id = models.CharField(primary_key=True, max_length=40, default=new_delivery_id, editable=False)
    webhook = models.ForeignKey(Webhook, on_delete=models.CASCADE, related_name="deliveries")
    event = models.ForeignKey(Event, on_delete=models.CASCADE, related_name="deliveries")
    status = models.CharField(max_length=16, choices=Status, default=Status.PENDING)
    attempts = models.PositiveSmallIntegerField(default=0)
    # While an attempt runs, this is when it is given up for dead.
    next_attempt_at = models.DateTimeField(default=timezone.now)
    response_status = models.PositiveSmallIntegerField(null=True, blank=True)
    error = models.CharField(max_length=300, blank=True, default="")
    created_at = models.DateTimeField(default=timezone.now)
    delivered_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name_plural = "deliveries"
        indexes = [
            models.Index(fields=["next_attempt_at"], condition=models.Q(status="pending"), name="delivery_due"),
        ]

    def __str__(self) -> str:
        return f"{self.id} ({self.status})"
