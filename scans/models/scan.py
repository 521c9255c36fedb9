"""Model of a scan.

The row has all data for the scan, so lost queue messages can be sent again.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import ClassVar

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.core.validators import MaxValueValidator
from django.db import models
from django.db.models import DurationField, ExpressionWrapper, F, Func, Q, Value
from django.db.models.functions import MD5, Coalesce, Left
from django.utils import timezone

from accounts.models import REPORTS_KEPT_DAYS, ApiKey, Organization
from infrastructure.leases import Lease, Leased
from scans.models.categories import WithCategories
from scans.models.credentials import WithCredentials
from scans.models.domain import MAX_ADDRESS_LENGTH, MAX_NAME_LENGTH, DomainField
from scans.models.requirements import WithRequirements
from scans.models.viewing import WithViewing
from website_scan.ids import new_scan_id

# SQL expression for the retention period of a row's report, counted from the row's creation.
KEPT = ExpressionWrapper(F("kept_days") * Value(timedelta(days=1)), DurationField())


def path_of(url: str) -> str:
    """Return the path and query of a canonical URL."""
    return "/" + url.partition("://")[2].partition("/")[2]


def report_path(scan_id: str) -> str:
    """Return the URL path of a report page.

    `reverse` would take 10 µs for each of hundreds of links.
    """
    return f"/report/{scan_id}"


# Length of the URL prefix in an index, in ASCII characters. PostgreSQL limits B-tree entries to 2,704 bytes.
INDEXED_URL_LENGTH = 1_000
# Regular expression for the host of a canonical URL. In canonical URLs, each host has only one spelling.
HOST_PATTERN = "^https?://([^/?#]+)"


SCAN_LEASE = Lease(timedelta(seconds=settings.SCAN_LEASE_S))
WITHOUT_LEASE = Q(status="scanning") & SCAN_LEASE.run_out


class ScanQuerySet(models.QuerySet["Scan"]):
    def unfinished(self) -> ScanQuerySet:
        """Return the scans that are queued or running."""
        return self.filter(status__in=(Scan.Status.QUEUED, Scan.Status.SCANNING))

    def visits(self) -> ScanQuerySet:
        """Return the lead scan of each visit.

        Workers claim lead scans, and the concurrency limit counts lead scans.
        """
        return self.filter(lead=None)

    def single(self) -> ScanQuerySet:
        """Return the visits without an audit, which lists display individually."""
        return self.filter(lead=None, audit_page=None, is_background=False)

    def of_visit(self, lead_id: str) -> ScanQuerySet:
        """Return all scans of a visit, given the ID of its lead scan."""
        return self.filter(Q(id=lead_id) | Q(lead_id=lead_id))

    def locked(self) -> ScanQuerySet:
        """Lock the rows in a fixed order to prevent deadlocks.

        The lead scan of a visit comes first, then its other scans by ID.
        """
        return self.select_for_update(no_key=True, of=("self",)).order_by(F("lead").asc(nulls_first=True), "id")

    def without_lease(self) -> ScanQuerySet:
        """Return the running scans whose lease has expired, because their worker died."""
        return self.filter(WITHOUT_LEASE)


class Scan(WithCredentials, WithViewing, WithRequirements, WithCategories, Leased):
    """Scan of one page for one type.

    The status is queued → scanning → completed | partial | failed. Scans of several types that examine a page together
    are a visit. A worker claims the lead scan for all of them, and the other scans pass through the same states.
    `requirements` is null for scans of an audit, which have those of the audit.
    """

    class Type(models.TextChoices):
        SECURITY = "security"
        PERFORMANCE = "performance"
        ACCESSIBILITY = "accessibility"
        SEO = "seo", "SEO"

    class Status(models.TextChoices):
        QUEUED = "queued"
        SCANNING = "scanning"
        COMPLETED = "completed"
        PARTIAL = "partial"
        FAILED = "failed"

    FINAL: ClassVar[frozenset[str]] = frozenset({Status.COMPLETED, Status.PARTIAL, Status.FAILED})
    REPORTED: ClassVar[frozenset[str]] = frozenset({Status.COMPLETED, Status.PARTIAL})

    id = models.CharField(primary_key=True, max_length=40, default=new_scan_id, editable=False)
    organization = models.ForeignKey(Organization, on_delete=models.CASCADE, related_name="scans")
    api_key = models.ForeignKey(ApiKey, on_delete=models.SET_NULL, null=True, blank=True, db_index=False)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, db_index=False
    )
    type = models.CharField(max_length=16, choices=Type)
    url = models.CharField(max_length=8192, help_text="Canonical, so it may be longer than what was sent.")
    host = models.GeneratedField(
        expression=Coalesce(Func(F("url"), Value(HOST_PATTERN), function="substring"), Value("")),
        output_field=models.TextField(),
        db_persist=True,
        help_text="The URL's host, with its port where that is not the scheme's own: the site.",
    )
    domain = DomainField(
        max_length=MAX_NAME_LENGTH,
        blank=True,
        default="",
        db_default="",
        help_text="Domain by which visits are limited.",
    )
    status = models.CharField(max_length=16, choices=Status, default=Status.QUEUED)
    score = models.PositiveSmallIntegerField(null=True, blank=True, validators=[MaxValueValidator(100)])
    grade = models.CharField(max_length=2, null=True, blank=True)  # noqa: DJ001  null in the API too
    catalogue_version = models.CharField(
        max_length=40, blank=True, default="", db_default="", help_text="The rules that the score came from, if known."
    )
    created_at = models.DateTimeField(default=timezone.now)
    started_at = models.DateTimeField(null=True, blank=True)
    completed_at = models.DateTimeField(null=True, blank=True)
    period = models.DateField(help_text="The month whose quota the scan was taken from.")
    kept_days = models.PositiveSmallIntegerField(
        default=REPORTS_KEPT_DAYS,
        db_default=REPORTS_KEPT_DAYS,
        help_text="How long its report is kept, as the plan was when the scan was created.",
    )

    percent = models.PositiveSmallIntegerField(default=0)
    phase = models.CharField(max_length=16, default="queued")
    checks_done = models.PositiveSmallIntegerField(default=0)
    checks_total = models.PositiveSmallIntegerField(default=0)
    skipped_checks = models.JSONField(default=list, blank=True)
    error_code = models.CharField(max_length=40, blank=True, default="")
    error_message = models.TextField(blank=True, default="")

    enqueued_at = models.DateTimeField(default=timezone.now)
    attempts = models.PositiveSmallIntegerField(default=0)
    worker = models.CharField(max_length=100, blank=True, db_default="", help_text="Worker of the last attempt.")
    lead = models.ForeignKey(
        "self", on_delete=models.CASCADE, null=True, blank=True, related_name="companions", db_index=False
    )
    audit_page = models.ForeignKey(
        "sites.AuditPage", on_delete=models.SET_NULL, null=True, blank=True, related_name="scans", db_index=False
    )
    is_background = models.BooleanField(
        default=False,
        db_default=False,
        help_text="Part of an audit of several pages: scans that somebody waits for go first.",
    )
    is_of_list = models.BooleanField(
        default=False,
        db_default=False,
        help_text="Part of a list of sites: it waits while any other visit is at one of its addresses.",
    )
    addresses = ArrayField(
        models.CharField(max_length=MAX_ADDRESS_LENGTH),
        null=True,
        blank=True,
        help_text="Addresses of the host before the visit (`address_of`), of the leading scan. Empty: unknown.",
    )
    request_id = models.CharField(
        max_length=128, blank=True, default="", db_default="", help_text="Of the request that asked for it, if any."
    )
    is_of_journey = models.BooleanField(
        default=False, db_default=False, help_text="Part of a run of a journey, which only a browser can execute."
    )
    reserved_scans = models.PositiveSmallIntegerField(
        default=1,
        db_default=1,
        help_text="Scans taken from the quota: several until a run of a journey has ended, one for each planned state.",
    )

    objects: ClassVar[models.Manager[Scan]] = ScanQuerySet.as_manager()

    class Meta:
        indexes = [
            models.Index(fields=["organization", "-created_at", "-id"], name="scan_newest"),
            models.Index(fields=["organization", "status", "-created_at", "-id"], name="scan_status"),
            models.Index(fields=["organization", "type", "-created_at", "-id"], name="scan_type"),
            # This index serves queries for a site's scans by type. Its first two columns also serve the list of sites.
            models.Index(fields=["organization", "host", "type", "-created_at", "-id"], name="scan_of_site"),
            # This index serves the history of a page. It contains the MD5 digest of the URL, because URLs may be longer
            # than an index entry.
            models.Index(
                F("organization"),
                MD5("url"),
                F("type"),
                F("created_at").desc(),
                condition=models.Q(status__in=("completed", "partial")),
                name="scan_of_page",
            ),
            # Index for the list of a site's pages by URL prefix. Each page needs one lookup, regardless of the number
            # of scans.
            models.Index(
                F("organization"),
                F("host"),
                Left("url", INDEXED_URL_LENGTH),
                condition=models.Q(lead=None),
                name="scan_page_of_site",
            ),
            # This index serves lists of scans that were requested without an audit.
            models.Index(
                fields=["organization", "-created_at", "-id"],
                condition=models.Q(lead=None, audit_page=None, is_background=False),
                name="scan_newest_single",
            ),
            # These indexes serve the operators' lists over all organizations: the newest scans, and scans that did not
            # complete.
            models.Index(fields=["-created_at", "-id"], name="scan_newest_of_all"),
            models.Index(
                fields=["status", "-created_at", "-id"],
                condition=models.Q(status__in=("partial", "failed")),
                name="scan_not_completed",
            ),
            models.Index(
                fields=["status", "enqueued_at"],
                condition=models.Q(status__in=("queued", "scanning")),
                name="scan_unfinished",
            ),
            models.Index(
                fields=["organization"],
                condition=models.Q(status__in=("queued", "scanning"), lead=None),
                name="scan_running_visits",
            ),
            # This index serves the queue: organizations that wait for a turn, and the next visit of each organization.
            models.Index(
                fields=["organization", "is_background", "created_at", "id"],
                condition=models.Q(status="queued", lead=None),
                name="scan_waiting_visits",
            ),
            # This index serves visits that wait for a domain. The next index serves visits that wait for an address.
            models.Index(
                fields=["domain", "type"],
                condition=models.Q(status="queued", lead=None),
                name="scan_waiting_of_domain",
            ),
            GinIndex(
                fields=["addresses"],
                condition=models.Q(status="queued", lead=None),
                name="scan_waiting_at_address",
            ),
            models.Index(fields=["lead"], condition=models.Q(lead__isnull=False), name="scan_companions"),
            models.Index(
                fields=["audit_page"], condition=models.Q(audit_page__isnull=False), name="scan_of_audit_page"
            ),
            # This index serves the deletion of credentials after their retention period.
            models.Index(
                fields=["created_at"],
                condition=models.Q(encrypted_credentials__isnull=False),
                name="scan_with_credentials",
            ),
        ]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(status__in=("completed", "partial"), score__isnull=False)
                | models.Q(status__in=("queued", "scanning", "failed"), score__isnull=True),
                name="scan_score_with_result",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.id} ({self.type} of {self.url})"

    @property
    def is_final(self) -> bool:
        return self.status in self.FINAL

    @property
    def failure(self) -> Scan | None:
        """Return the scan itself if it has an error, else None.

        Templates and serializers use it to read the error.
        """
        return self if self.error_code else None

    @property
    def moment(self) -> str:
        """Return the creation time in UTC to the minute.

        With a Z appended, it is a valid HTML `datetime`.
        """
        return f"{self.created_at:%Y-%m-%d %H:%M}"

    @property
    def kept_until(self) -> datetime:
        """Return the end of the report's retention period."""
        return self.created_at + timedelta(days=self.kept_days)

    @property
    def is_kept(self) -> bool:
        """Return True until the report's retention period ends."""
        return self.kept_until > timezone.now()

    @property
    def report_url(self) -> str:
        """Return the URL of the report page.

        The page exists as soon as the scan is created.
        """
        return f"{settings.BASE_URL}{report_path(self.id)}"
