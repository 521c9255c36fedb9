"""Models for the findings of audits and their places."""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Value

from sites.models.audit import Audit, SamplePage, no_fix
from website_scan.report_json import StoredFix


class AuditFinding(models.Model):
    """Failed or warned check of an audit, with counts over all pages that are updated when a visit ends.

    Status, severity and texts are those of the first page with the worst verdict: a fail before a warning, then by
    severity. The places of the finding are rows of AuditPlace.
    """

    SAMPLES = 5

    id = models.BigAutoField(primary_key=True)
    audit = models.ForeignKey(Audit, on_delete=models.CASCADE, related_name="findings", db_index=False)
    type = models.CharField(max_length=16)
    check_id = models.CharField(max_length=80)
    status = models.CharField(max_length=4)
    severity = models.CharField(max_length=8)
    outcome = models.CharField(max_length=80, blank=True, default="", db_default="")
    outcomes = ArrayField(
        models.CharField(max_length=80), default=list, db_default=[], help_text="All outcomes on its pages."
    )
    title = models.TextField()
    message = models.TextField(help_text="What was seen and why it matters, without places.")
    consequence = models.TextField(blank=True, default="", db_default="", help_text="For the owner of the site.")
    fix = models.TextField(blank=True)
    how_to_fix: models.JSONField[StoredFix, StoredFix] = models.JSONField(
        default=no_fix, db_default=Value({"text": "", "snippets": []}, models.JSONField())
    )
    pages_affected = models.PositiveIntegerField()
    critical_pages = models.PositiveIntegerField(default=0, help_text="Pages on which it is a critical failure.")
    held_pages = models.PositiveIntegerField(default=0, help_text="Pages whose score a cap lowers that counts it.")
    points = models.FloatField(help_text="Sum over the pages of the points that fixing the finding gains.")
    later = models.FloatField(default=0, help_text="The same if no cap applied.")
    told_by = models.CharField(
        max_length=80,
        blank=True,
        default="",
        db_default="",
        help_text="The check of another type that tells the same on all of its pages.",
    )
    samples: models.JSONField[list[SamplePage], list[SamplePage]] = models.JSONField(
        default=list, help_text="The first pages on which it is worst: {url, scan_id}."
    )

    class Meta:
        constraints = [models.UniqueConstraint(fields=["audit", "type", "check_id"], name="audit_finding_unique")]

    def __str__(self) -> str:
        return f"{self.audit_id} {self.check_id}: {self.pages_affected} pages"

    @property
    def outcome_names(self) -> list[str]:
        """Return the finding's outcomes with the check ID as a prefix, such as `hsts.short`."""
        return [f"{self.check_id}.{outcome}" for outcome in self.outcomes]

    @property
    def only_outcome(self) -> str:
        """Return the outcome if it is the same on all pages, else an empty string, which no mute matches."""
        return self.outcome if self.outcomes == [self.outcome] else ""


class AuditPlace(models.Model):
    """Place of a finding, with the number of pages that have it."""

    # Maximum number of places per finding, because every page may have new ones. The places of one page may exceed
    # the limit. Places that are already stored are still counted.
    MOST = 500

    id = models.BigAutoField(primary_key=True)
    finding = models.ForeignKey(AuditFinding, on_delete=models.CASCADE, related_name="places", db_index=False)
    fingerprint = models.CharField(max_length=64)
    place = models.TextField(blank=True, help_text="In the words of the first page; empty for the page as a whole.")
    pages_affected = models.PositiveIntegerField()
    samples: models.JSONField[list[SamplePage], list[SamplePage]] = models.JSONField(
        default=list, help_text="The first pages with it: {url, scan_id}."
    )

    class Meta:
        constraints = [models.UniqueConstraint(fields=["finding", "fingerprint"], name="audit_place_unique")]

    def __str__(self) -> str:
        return f"{self.finding_id} {self.fingerprint}: {self.pages_affected} pages"
