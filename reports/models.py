"""Models for reports, which never change, and for mutes, which apply to all of an organization's reports."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import ExpressionWrapper, Q
from django.utils import timezone

from accounts.models import ApiKey, Organization
from website_scan.ids import new_id, new_report_id
from website_scan.report.storage import read_export
from website_scan.report_json import ExportJson
from website_scan.stored_data import Facts, PicturePlaces, StoredBasis, StoredExhibits, StoredWaterfall

# Query annotation that is True if the report has a screenshot, without loading the picture.
HAS_SCREENSHOT = ExpressionWrapper(Q(screenshot__isnull=False), output_field=models.BooleanField())


def new_mute_id() -> str:
    return new_id("mute")


class Report(models.Model):
    """A scan's stored report.

    `body` is the response to GET /v1/report/:id, `export` the JSON export, byte for byte.

    Both are text, because jsonb would lose the order of keys.
    """

    id = models.CharField(primary_key=True, max_length=40, default=new_report_id, editable=False)
    scan = models.OneToOneField("scans.Scan", on_delete=models.CASCADE, related_name="report")
    organization = models.ForeignKey(Organization, on_delete=models.CASCADE, related_name="reports")
    body = models.TextField()
    export = models.TextField()
    facts: models.JSONField[Facts, Facts] = models.JSONField(default=dict)
    # Data for computing the score without muted findings. None in old reports.
    scoring: models.JSONField[StoredBasis | None, StoredBasis | None] = models.JSONField(null=True, blank=True)
    # Data for the report page's exhibits, such as response headers and previews. Old reports have None.
    exhibits: models.JSONField[StoredExhibits | None, StoredExhibits | None] = models.JSONField(null=True, blank=True)
    # Recordings from the browser: the waterfall of requests, and a screenshot of the first screen as WebP or JPEG.
    waterfall: models.JSONField[StoredWaterfall | None, StoredWaterfall | None] = models.JSONField(
        null=True, blank=True
    )
    screenshot = models.BinaryField(null=True)
    # The next three columns are the fields in `website_scan.result.Pictures`. `pictures` has the positions of elements
    # and frames in the other two.
    page_picture = models.BinaryField(null=True)
    film = models.BinaryField(null=True)
    pictures: models.JSONField[PicturePlaces | None, PicturePlaces | None] = models.JSONField(null=True, blank=True)
    created_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField(db_index=True)
    shared_at = models.DateTimeField(null=True, blank=True, help_text="Since when anyone with the link can read it.")

    def __str__(self) -> str:
        return self.id

    @property
    def export_json(self) -> ExportJson:
        return read_export(self.export)


class Mute(models.Model):
    """Findings that an organization mutes.

    Mutes apply when a report is read, so the report does not change.

    A mute can only be renewed or ended. It is in force until `ended_at`, or `expires_at` if that is earlier.
    """

    id = models.CharField(primary_key=True, max_length=40, default=new_mute_id, editable=False)
    organization = models.ForeignKey(Organization, on_delete=models.CASCADE, related_name="mutes", db_index=False)
    check_id = models.CharField(max_length=80)
    host = models.CharField(max_length=300, help_text="With a port that is not the scheme's own.")
    path_prefix = models.CharField(max_length=1000, blank=True, help_text="Empty: the whole host.")
    outcome = models.CharField(
        max_length=80, blank=True, default="", db_default="", help_text="Empty: all outcomes of the check."
    )
    fingerprint = models.CharField(max_length=16, blank=True, help_text="Empty: all places of the check.")
    place = models.CharField(max_length=300, blank=True, help_text="The place in words.")
    reason = models.CharField(max_length=500)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    api_key = models.ForeignKey(ApiKey, on_delete=models.SET_NULL, null=True, blank=True, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True, blank=True, help_text="When somebody ended it.")
    notice_at = models.DateTimeField(
        null=True, blank=True, help_text="When its end is announced. Empty: already announced, or too close."
    )

    class Meta:
        indexes = [
            models.Index(fields=["organization", "expires_at"], condition=Q(ended_at=None), name="mute_in_force"),
            models.Index(fields=["expires_at"], name="mute_end"),
            models.Index(fields=["notice_at"], condition=Q(notice_at__isnull=False), name="mute_notice"),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["organization", "check_id", "host", "path_prefix", "outcome", "fingerprint"],
                condition=Q(ended_at=None),
                name="mute_of_outcome_once",
            )
        ]

    def __str__(self) -> str:
        return f"{self.check_id} on {self.host}{self.path_prefix}"
