"""What is kept beside scans: turns, counters, tallies, operators' blocklist, and answers to repeated requests."""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils import timezone

from accounts.models import Organization
from scans.models.domain import LONGEST_NAME
from scans.models.scan import Scan


class Turn(models.Model):
    """When an organization had its last turn in a queue: who waited longest is next (`scans.visits.queue`)."""

    organization = models.ForeignKey(Organization, on_delete=models.CASCADE, db_index=False)
    queue = models.CharField(max_length=16)
    taken_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["organization", "queue"], name="turn_unique")]

    def __str__(self) -> str:
        return f"{self.organization_id} {self.queue}"


class DomainTurn(models.Model):
    """When a visit of a domain last began, whoever asked for it, and from when on the next one may.

    `told` are the queues that hear of that moment. Deleted by the sweeper (`scans.visits.politeness`).
    """

    domain = models.CharField(primary_key=True, max_length=LONGEST_NAME)
    taken_at = models.DateTimeField()
    free_at = models.DateTimeField(db_index=True)
    told = ArrayField(models.CharField(max_length=16), default=list)

    def __str__(self) -> str:
        return self.domain


class ScanCount(models.Model):
    """How many scans an organization has, by month, type and status.

    Kept by triggers on the scan table (`migrations/scan_counts.sql`), so that a list's `total` never counts rows.
    """

    organization_id = models.BigIntegerField()
    period = models.DateField()
    type = models.CharField(max_length=16)
    status = models.CharField(max_length=16)
    count = models.BigIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["organization_id", "period", "type", "status"], name="scan_count_unique")
        ]

    def __str__(self) -> str:
        return f"{self.organization_id} {self.period:%Y-%m} {self.type} {self.status}: {self.count}"


class EndedScan(models.Model):
    """What is to be counted of a scan that has ended, written in the transaction that ends it, so that none is lost.

    Each is a row of its own, as a counter would make all workers wait for each other; the sweeper adds them to the
    tallies (`scans.visits.tallies`). Of no tenant: the scan itself may be deleted, and has been counted.
    """

    type = models.CharField(max_length=16)
    status = models.CharField(max_length=16)
    error_code = models.CharField(max_length=40, blank=True)
    is_background = models.BooleanField()
    waited_ms = models.BigIntegerField(null=True, help_text="Until its last attempt began; empty: it never did.")
    duration_ms = models.BigIntegerField(null=True)
    cpu_ms = models.BigIntegerField(null=True, help_text="Its share of its visit's, the browser's included, if known.")

    def __str__(self) -> str:
        return f"{self.type} {self.status}"


class ScanTally(models.Model):
    """A number for /metrics that only grows: its name, and the values of its labels."""

    name = models.CharField(max_length=40)
    labels = ArrayField(models.CharField(max_length=40))
    value = models.BigIntegerField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["name", "labels"], name="scan_tally_unique")]

    def __str__(self) -> str:
        return f"{self.name} {self.labels}: {self.value}"


class BlockedDomain(models.Model):
    """A domain that an operator does not want scanned; its subdomains are meant too."""

    domain = models.CharField(max_length=253, unique=True)
    reason = models.CharField(max_length=200, blank=True)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ("domain",)

    def __str__(self) -> str:
        return self.domain


class IdempotencyRecord(models.Model):
    """An accepted POST that carried an Idempotency-Key: what was asked, what it made, and the first answer."""

    organization = models.ForeignKey(Organization, on_delete=models.CASCADE)
    key = models.CharField(max_length=255)
    request_digest = models.CharField(max_length=64)
    scan = models.ForeignKey(Scan, on_delete=models.CASCADE, null=True, blank=True)
    audit = models.ForeignKey("sites.Audit", on_delete=models.CASCADE, null=True, blank=True)
    monitor = models.ForeignKey("sites.Monitor", on_delete=models.CASCADE, null=True, blank=True, db_index=False)
    response = models.TextField(help_text="JSON; jsonb would lose its order.")
    created_at = models.DateTimeField(default=timezone.now, db_index=True)

    class Meta:
        indexes = [
            models.Index(fields=["monitor"], condition=models.Q(monitor__isnull=False), name="idempotency_of_monitor")
        ]
        constraints = [models.UniqueConstraint(fields=["organization", "key"], name="idempotency_unique")]

    def __str__(self) -> str:
        return f"{self.organization_id} {self.key}"
