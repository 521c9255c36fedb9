"""Models for scan queues, counters, tallies, the blocklist and idempotency records."""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils import timezone

from accounts.models import Organization
from scans.models.domain import MAX_NAME_LENGTH
from scans.models.scan import Scan


class Turn(models.Model):
    """Time of an organization's last turn in a queue.

    The organization with the longest wait is served first.
    """

    organization = models.ForeignKey(Organization, on_delete=models.CASCADE, db_index=False)
    queue = models.CharField(max_length=16)
    taken_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["organization", "queue"], name="turn_unique")]

    def __str__(self) -> str:
        return f"{self.organization_id} {self.queue}"


class DomainTurn(models.Model):
    """Times of a domain's last visit and of its next allowed visit.

    Visits of all organizations count. `told` names the queues that will get a message at the time of the next visit.
    The sweeper deletes old rows (`scans.visits.politeness`).
    """

    domain = models.CharField(primary_key=True, max_length=MAX_NAME_LENGTH)
    taken_at = models.DateTimeField()
    free_at = models.DateTimeField(db_index=True)
    told = ArrayField(models.CharField(max_length=16), default=list)

    def __str__(self) -> str:
        return self.domain


class ScanCount(models.Model):
    """Counter of an organization's scans by month, type and status.

    Triggers on the scan table update the counters (`migrations/scan_counts.sql`), so that listing scans never counts
    rows.
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
    """Finished scan that the metrics do not count yet, written in the transaction that ends the scan.

    Each scan has a row of its own, because workers would wait for each other's lock on a counter. The sweeper adds the
    rows to the tallies (`scans.visits.tallies`). Rows belong to no organization: a deleted scan still counts.
    """

    type = models.CharField(max_length=16)
    status = models.CharField(max_length=16)
    error_code = models.CharField(max_length=40, blank=True)
    is_background = models.BooleanField()
    waited_ms = models.BigIntegerField(null=True, help_text="Until its last attempt started. Empty: it never started.")
    duration_ms = models.BigIntegerField(null=True)
    cpu_ms = models.BigIntegerField(
        null=True, help_text="Its share of the visit's processor time, the browser's included, if known."
    )

    def __str__(self) -> str:
        return f"{self.type} {self.status}"


class ScanTally(models.Model):
    """Monotonic counter for /metrics, with name, label values and value."""

    name = models.CharField(max_length=40)
    labels = ArrayField(models.CharField(max_length=40))
    value = models.BigIntegerField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["name", "labels"], name="scan_tally_unique")]

    def __str__(self) -> str:
        return f"{self.name} {self.labels}: {self.value}"


class BlockedDomain(models.Model):
    """Domain on the operator's blocklist, which also blocks its subdomains."""

    domain = models.CharField(max_length=253, unique=True)
    reason = models.CharField(max_length=200, blank=True)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ("domain",)

    def __str__(self) -> str:
        return self.domain


class IdempotencyRecord(models.Model):
    """Accepted POST request that had an Idempotency-Key, with its response."""

    organization = models.ForeignKey(Organization, on_delete=models.CASCADE)
    key = models.CharField(max_length=255)
    request_digest = models.CharField(max_length=64)
    scan = models.ForeignKey(Scan, on_delete=models.CASCADE, null=True, blank=True)
    audit = models.ForeignKey("sites.Audit", on_delete=models.CASCADE, null=True, blank=True)
    monitor = models.ForeignKey("sites.Monitor", on_delete=models.CASCADE, null=True, blank=True, db_index=False)
    site_list = models.ForeignKey("sites.SiteList", on_delete=models.CASCADE, null=True, blank=True, db_index=False)
    response = models.TextField(help_text="JSON; jsonb would lose its order.")
    created_at = models.DateTimeField(default=timezone.now, db_index=True)

    class Meta:
        indexes = [
            models.Index(fields=["monitor"], condition=models.Q(monitor__isnull=False), name="idempotency_of_monitor"),
            models.Index(fields=["site_list"], condition=models.Q(site_list__isnull=False), name="idempotency_of_list"),
        ]
        constraints = [models.UniqueConstraint(fields=["organization", "key"], name="idempotency_unique")]

    def __str__(self) -> str:
        return f"{self.organization_id} {self.key}"
