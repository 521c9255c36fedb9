"""Models for the current state of an organization's sites.

They are derived from the latest results (ADR 31), so that lists of a thousand sites need no reports.
"""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import MD5

from accounts.models import Organization
from sites.models.site_list import TypeScores


class SiteState(TypeScores):
    """Current state of a site, which is a host that the organization has scanned.

    Scores are those of the main page: the start page over https, or before its first scan, the page that was scanned
    first. `critical` and `high` count checks that fail on any page and are not muted.
    """

    class Level(models.IntegerChoices):
        """Levels of urgency, most urgent first."""

        CRITICAL = 0, "Critical problems"
        UNREACHABLE = 1, "Unreachable"
        HIGH = 2, "High problems"
        FINE = 3, "No urgent problems"

    # `urgency` is the level times this number, plus the lowest score.
    LEVEL_STEP = 1_000
    NO_SCORE = 999

    id = models.BigAutoField(primary_key=True)
    organization = models.ForeignKey(Organization, on_delete=models.CASCADE, related_name="site_states", db_index=False)
    host = models.CharField(max_length=300, help_text="With a port that is not the scheme's own.")
    url = models.CharField(max_length=8192, help_text="The main page.")
    scanned_at = models.DateTimeField(help_text="When the latest scan of any of its pages ended.")
    # The last scan of the main page has failed because of the site, since this time. None after a success.
    failing_since = models.DateTimeField(null=True, blank=True)
    error_message = models.TextField(blank=True, default="")
    critical = models.PositiveIntegerField(default=0)
    high = models.PositiveIntegerField(default=0)
    lowest_score = models.PositiveSmallIntegerField(null=True, blank=True)
    urgency = models.PositiveIntegerField(default=Level.FINE * LEVEL_STEP + NO_SCORE)

    class Meta:
        indexes = [models.Index(fields=["organization", "urgency", "id"], name="site_state_by_urgency")]
        constraints = [models.UniqueConstraint(fields=["organization", "host"], name="site_state_unique")]

    def __str__(self) -> str:
        return self.host


class SiteFinding(models.Model):
    """Critical or high failure of a check on a page, as of the page's latest scan.

    If a later scan no longer has the finding, `fixed_at` is set, and the row is deleted some weeks later.
    """

    id = models.BigAutoField(primary_key=True)
    organization = models.ForeignKey(Organization, on_delete=models.CASCADE, related_name="+", db_index=False)
    host = models.CharField(max_length=300)
    url = models.CharField(max_length=8192)
    type = models.CharField(max_length=16)
    check_id = models.CharField(max_length=80)
    outcome = models.CharField(max_length=80, blank=True, default="")
    severity = models.CharField(max_length=8)
    title = models.TextField()
    # The finding's places, for mutes of single places. If the report has cut the list, it may have had more places.
    fingerprints = ArrayField(models.CharField(max_length=64), default=list, blank=True)
    is_cut = models.BooleanField(default=False)
    scan_id = models.CharField(max_length=40, help_text="The scan of the report, which may have expired.")
    since = models.DateTimeField(help_text="When a scan had the finding first.")
    is_new = models.BooleanField(default=False, help_text="The scan before `since` did not have the finding.")
    fixed_at = models.DateTimeField(null=True, blank=True)
    expires_at = models.DateTimeField(help_text="When the report expires.")

    class Meta:
        indexes = [
            models.Index(fields=["organization", "host"], name="site_finding_of_site"),
            models.Index(fields=["organization", "fixed_at"], condition=Q(fixed_at__isnull=False), name="site_fixed"),
            models.Index(fields=["expires_at"], name="site_finding_expired"),
        ]
        constraints = [
            models.UniqueConstraint(F("organization"), MD5("url"), F("type"), F("check_id"), name="site_finding_unique")
        ]

    def __str__(self) -> str:
        return f"{self.check_id} on {self.url}"
