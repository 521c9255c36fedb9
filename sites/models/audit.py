"""Models for audits and their pages."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, ClassVar, NotRequired, Protocol, TypedDict

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.core.exceptions import ObjectDoesNotExist
from django.db import models
from django.db.models import Q
from django.utils import timezone

from accounts.models import REPORTS_KEPT_DAYS, ApiKey, Organization
from infrastructure.leases import Leased
from scans.models.categories import WithCategories
from scans.models.credentials import WithCredentials
from scans.models.domain import MAX_ADDRESS_LENGTH
from scans.models.requirements import WithRequirements
from scans.models.scan import KEPT, Scan
from scans.models.viewing import WithViewing
from sites.models.journey import Journey
from website_scan.ids import new_id
from website_scan.json_types import Grade, ScanId, Score, component, values
from website_scan.report_json import StoredFix
from website_scan.requirements.model import Requirements
from website_scan.scoring import mean_grade, rounded

UNFINISHED = ("queued", "discovering", "running")
MAX_SCORE = 100


@component("AuditScore")
class TypeScore(TypedDict):
    """Mean score for one scan type over the pages that have a score so far."""

    score: Score | None
    grade: Grade | None


class TypeTotal(TypedDict):
    """Sums over an audit's pages for one scan type. The audit's score is computed from these sums."""

    pages: int  # Number of pages that have a score.
    sum: int  # Sum of these pages' scores.
    flawless: int  # Number of pages with the grade A+.
    gaps: int  # Number of pages with a partial report.
    cap: int | None  # Lowest score cap from faults of the whole origin.
    caps: dict[str, int]  # Number of pages with a capped score by the reason of the cap.


@component("PageScan")
class PageResult(TypedDict):
    """Result of one scan of an audit's page."""

    scan_id: ScanId
    status: Annotated[str, values(Scan.Status.choices)]
    score: Score | None
    grade: Grade | None
    error: NotRequired[Annotated[PageError, "Why it has no score; absent if it has one."]]


class CountedFinding(Protocol):
    """Finding of an audit, with the points that fixing it gains, as in `AuditFinding`."""

    type: str
    held_pages: int
    points: float
    later: float


class PageError(TypedDict):
    """Error code and message of a page or scan that has no result."""

    code: str
    message: str


class SamplePage(TypedDict):
    """Example of a page that has a finding, with its scan."""

    url: str
    scan_id: ScanId
    state: NotRequired[Annotated[str, "Name of the state of a journey; absent for pages."]]


def name_of_page(page: SamplePage) -> str:
    """Return the URL of a page, or the name and the URL of a journey's state, because states may share a URL."""
    return f"{page['state']} ({page['url']})" if "state" in page else page["url"]


def no_fix() -> StoredFix:
    return {"text": "", "snippets": []}


def new_audit_id() -> str:
    return new_id("aud")


class AuditQuerySet(models.QuerySet["Audit"]):
    def unfinished(self) -> AuditQuerySet:
        """Return the audits that are queued, discovering or running."""
        return self.filter(status__in=UNFINISHED)

    def expired(self) -> AuditQuerySet:
        """Return the finished audits whose reports have all expired."""
        before = timezone.now() - KEPT
        last = Q(released_at__lte=before) | Q(released_at=None)
        return self.filter(last, created_at__lte=before, status__in=Audit.FINAL)


class Audit(WithCredentials, WithViewing, WithRequirements, WithCategories, Leased):
    """Audit of one page, a list of pages, a whole site, or the states of a journey, for one or more scan types.

    queued → (discovering →) running → completed | partial | failed | cancelled; nothing leaves a final state.
    """

    class Kind(models.TextChoices):
        PAGE = "page"
        PAGES = "pages"
        SITE = "site"
        JOURNEY = "journey"

    class RunOf(models.TextChoices):
        MONITOR = "monitor"
        LIST = "list"
        DRY_RUN = "dry_run"

    class Status(models.TextChoices):
        QUEUED = "queued"
        DISCOVERING = "discovering"
        RUNNING = "running"
        COMPLETED = "completed"
        PARTIAL = "partial"
        FAILED = "failed"
        CANCELLED = "cancelled"

    FINAL: ClassVar[frozenset[str]] = frozenset({Status.COMPLETED, Status.PARTIAL, Status.FAILED, Status.CANCELLED})

    id = models.CharField(primary_key=True, max_length=40, default=new_audit_id, editable=False)
    organization = models.ForeignKey(Organization, on_delete=models.CASCADE, related_name="audits")
    api_key = models.ForeignKey(ApiKey, on_delete=models.SET_NULL, null=True, blank=True, db_index=False)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, db_index=False
    )
    kind = models.CharField(max_length=8, choices=Kind)
    url = models.CharField(max_length=8192, help_text="The page, the first page of the list, or the start of the site.")
    journey = models.ForeignKey(
        Journey, on_delete=models.SET_NULL, null=True, blank=True, related_name="runs", db_index=False
    )
    types = ArrayField(models.CharField(max_length=16))
    discover = ArrayField(models.CharField(max_length=8), default=list, blank=True)
    include = ArrayField(models.CharField(max_length=500), default=list, blank=True)
    exclude = ArrayField(models.CharField(max_length=500), default=list, blank=True)
    max_pages = models.PositiveIntegerField(help_text="Of a journey: states for which its run reserves scans.")
    status = models.CharField(max_length=16, choices=Status, default=Status.QUEUED)
    created_at = models.DateTimeField(default=timezone.now)
    started_at = models.DateTimeField(null=True, blank=True)
    completed_at = models.DateTimeField(null=True, blank=True)
    released_at = models.DateTimeField(null=True, blank=True, help_text="When the last of its pages got a slot.")

    kept_days = models.PositiveSmallIntegerField(
        default=REPORTS_KEPT_DAYS,
        db_default=REPORTS_KEPT_DAYS,
        help_text="How long the reports of its scans are kept, as the plan was when it was created.",
    )

    pages_found = models.PositiveIntegerField(default=0)
    pages_planned = models.PositiveIntegerField(default=0)
    pages_done = models.PositiveIntegerField(default=0)
    pages_failed = models.PositiveIntegerField(default=0)
    scans_done = models.PositiveIntegerField(default=0)
    # Keys are scan types.
    totals: models.JSONField[dict[str, TypeTotal], dict[str, TypeTotal]] = models.JSONField(default=dict, blank=True)
    notes = models.JSONField(default=list, blank=True, help_text="Notes from the discovery of pages.")
    spare_pages = models.JSONField(
        default=list, blank=True, help_text="URLs found beyond the list, which replace pages that are left out."
    )
    follows_links = models.BooleanField(
        default=False, db_default=False, help_text="Its visits follow links, because discovery has not read all pages."
    )
    error_code = models.CharField(max_length=40, blank=True, default="")
    error_message = models.TextField(blank=True, default="")
    shared_at = models.DateTimeField(null=True, blank=True, help_text="Since when anyone with the link can read it.")
    run_of = models.CharField(
        max_length=8,
        choices=RunOf,
        blank=True,
        default="",
        db_default="",
        help_text="Part of the run of a monitor or a list, which report it, or a dry run of a journey.",
    )
    addresses = ArrayField(
        models.CharField(max_length=MAX_ADDRESS_LENGTH),
        null=True,
        blank=True,
        help_text="Addresses of the URL's host (`address_of`), by which visits of lists wait. Empty: unknown.",
    )
    request_id = models.CharField(
        max_length=128, blank=True, default="", db_default="", help_text="Of the request that asked for it, if any."
    )

    # Columns of a worker's claim to discover the pages: one worker at a time, as for scans.
    attempts = models.PositiveSmallIntegerField(default=0)
    worker = models.CharField(max_length=100, blank=True, default="")
    enqueued_at = models.DateTimeField(default=timezone.now)

    objects: ClassVar[models.Manager[Audit]] = AuditQuerySet.as_manager()

    class Meta:
        indexes = [
            models.Index(fields=["organization", "-created_at", "-id"], name="audit_newest_first"),
            # Index of audits that are not runs of monitors or lists.
            models.Index(
                fields=["organization", "-created_at", "-id"],
                condition=Q(run_of=""),
                name="audit_newest_asked_for",
            ),
            models.Index(fields=["organization", "status", "-created_at", "-id"], name="audit_status"),
            models.Index(
                fields=["organization", "released_at"], condition=Q(status__in=UNFINISHED), name="audit_unfinished"
            ),
            models.Index(fields=["created_at"], name="audit_oldest"),
            models.Index(fields=["kept_days", "created_at"], name="audit_kept"),
            # Index for the task that deletes old credentials.
            models.Index(
                fields=["created_at"],
                condition=models.Q(encrypted_credentials__isnull=False),
                name="audit_with_credentials",
            ),
            models.Index(fields=["journey"], condition=Q(journey__isnull=False), name="audit_of_journey"),
        ]

    def __str__(self) -> str:
        return f"{self.id} ({self.kind} {self.url})"

    @property
    def own_requirements(self) -> Requirements | None:
        """Return the own requirements. Audits of a list have those of the list, so that each of them needs no copy."""
        if self.run_of != self.RunOf.LIST:
            return super().own_requirements
        try:
            return self.list_result.site_list.own_requirements
        except ObjectDoesNotExist:
            return None

    @property
    def is_final(self) -> bool:
        return self.status in self.FINAL

    @property
    def is_background(self) -> bool:
        """Return True if the visits of the audit have lower priority than interactive scans."""
        return bool(self.run_of) or self.kind != self.Kind.PAGE

    @property
    def is_dry_run(self) -> bool:
        """Return True if the audit only executes the steps of a journey. It has no types, and ends without pages."""
        return self.run_of == self.RunOf.DRY_RUN

    @property
    def states_planned(self) -> int:
        """Return for how many states the visit of a page reserves scans.

        1 unless the audit is a run of a journey. 0 for a dry run.
        """
        if self.is_dry_run:
            return 0
        return self.max_pages if self.kind == self.Kind.JOURNEY else 1

    @property
    def is_kept(self) -> bool:
        """Return True if the audit is unfinished or still has a retained report."""
        last = self.released_at or self.created_at
        return not self.is_final or last > timezone.now() - timedelta(days=self.kept_days)

    @property
    def scores(self) -> dict[str, TypeScore]:
        """Return the mean score of the pages and its grade by scan type."""
        return {scan_type: self._score(self.totals.get(scan_type)) for scan_type in self.types}

    def cap_reasons(self, type: str) -> dict[str, int]:
        """Return the number of capped pages by the reason of their lowest cap, for one scan type."""
        return self.totals[type]["caps"] if type in self.totals else {}

    def pages_judged(self, type: str) -> int:
        """Return the number of pages that have a score for the scan type."""
        return self.totals[type]["pages"] if type in self.totals else 0

    def gain(self, finding: CountedFinding) -> float:
        """Return the points that the audit's score gains if the finding is fixed on all pages."""
        total = self.totals.get(finding.type)
        if not total or not total["pages"]:
            return 0.0
        fixed = total["sum"] / total["pages"] + finding.points / total["pages"]
        # Fixing a finding that causes the cap removes the cap. Any other cap still limits the score.
        value = min(fixed, MAX_SCORE) if finding.held_pages else _capped(fixed, total)
        return round(max(0.0, value - _capped(total["sum"] / total["pages"], total)), 1)

    def gain_without_caps(self, finding: CountedFinding) -> float:
        """Return the points that the audit's score would gain from a fix if no cap applied."""
        judged = self.pages_judged(finding.type)
        return round(finding.later / judged, 1) if judged else 0.0

    def _score(self, total: TypeTotal | None) -> TypeScore:
        if not total or not total["pages"]:
            return {"score": None, "grade": None}
        value = rounded(_capped(total["sum"] / total["pages"], total))
        return {"score": value, "grade": mean_grade(value, total["flawless"] == total["pages"])}

    @property
    def audit_url(self) -> str:
        """Return the URL of the audit's page, which exists as soon as the audit is created."""
        return f"{settings.BASE_URL}/audit/{self.id}"


def _capped(mean: float, total: TypeTotal) -> float:
    """Return the mean score, limited by the origin's cap, also for pages scanned before it was found."""
    return mean if total["cap"] is None else min(mean, total["cap"])


class AuditPage(models.Model):
    """Page of an audit, or state of a journey.

    The status is waiting → released → done | failed. Pages that still wait when the audit ends are left_out.
    """

    class Status(models.TextChoices):
        WAITING = "waiting"
        RELEASED = "released"
        DONE = "done"
        FAILED = "failed"
        LEFT_OUT = "left_out"

    id = models.BigAutoField(primary_key=True)
    audit = models.ForeignKey(Audit, on_delete=models.CASCADE, related_name="pages", db_index=False)
    position = models.PositiveIntegerField()
    url = models.CharField(max_length=8192)
    origin = models.CharField(max_length=300)
    status = models.CharField(max_length=8, choices=Status, default=Status.WAITING)
    # Keys are scan types. The end of the page's visit writes this field.
    results: models.JSONField[dict[str, PageResult], dict[str, PageResult]] = models.JSONField(default=dict, blank=True)
    worst_score = models.PositiveSmallIntegerField(null=True, blank=True)
    state = models.CharField(
        max_length=300, blank=True, default="", db_default="", help_text="Name of the state of a journey."
    )
    step = models.PositiveSmallIntegerField(
        null=True, blank=True, help_text="Position of the step after which the state was reached, from 0."
    )
    is_linked = models.BooleanField(
        default=False, db_default=False, help_text="Found by a visit's links, so that an error there is no page."
    )

    class Meta:
        indexes = [
            models.Index(fields=["audit", "status", "position"], name="audit_page_next"),
            models.Index(fields=["audit", "worst_score", "position"], name="audit_page_worst"),
        ]
        constraints = [models.UniqueConstraint(fields=["audit", "position"], name="audit_page_position")]

    def __str__(self) -> str:
        return f"{self.audit_id} {self.position}: {self.url}"

    def sample(self, scan_id: str) -> SamplePage:
        """Return the page as an example of a finding's pages."""
        sample: SamplePage = {"url": self.url, "scan_id": scan_id}
        if self.state:
            sample["state"] = self.state
        return sample

    @property
    def error(self) -> PageError | None:
        """Return the error of a page without a result, or None."""
        if self.status not in (self.Status.FAILED, self.Status.LEFT_OUT):
            return None
        scan_error = next((result["error"] for result in self.results.values() if "error" in result), None)
        if scan_error is not None:
            return scan_error
        if self.audit.status == Audit.Status.CANCELLED:
            return {"code": "SCAN_CANCELLED", "message": "The audit was cancelled before the page was scanned."}
        return {"code": self.audit.error_code, "message": self.audit.error_message}
