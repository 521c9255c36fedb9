"""Models of audits, their pages and findings. Pages wait as rows of their own until a slot is free for their scans."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, ClassVar, NotRequired, TypedDict

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q, Value
from django.utils import timezone

from accounts.models import REPORTS_KEPT_DAYS, ApiKey, Organization
from infrastructure.leases import Leased
from scans.models.credentials import WithCredentials
from scans.models.domain import MAX_ADDRESS_LENGTH
from scans.models.scan import KEPT, Scan
from website_scan.ids import new_id
from website_scan.json_types import Grade, ScanId, Score, component, values
from website_scan.report_json import StoredFix
from website_scan.scoring import mean_grade, rounded

UNFINISHED = ("queued", "discovering", "running")
MOST = 100  # the highest score


@component("AuditScore")
class TypeScore(TypedDict):
    """The mean of the scores of a type's pages, as far as they are known."""

    score: Score | None
    grade: Grade | None


class TypeTotal(TypedDict):
    """Totals of a scan type in an audit, from which its score is computed."""

    pages: int  # with a score
    sum: int  # of their scores
    flawless: int  # pages with an A+
    gaps: int  # pages with a partial report
    cap: int | None  # from faults of the whole origin
    caps: dict[str, int]  # pages whose scores are capped, by the reason of the lowest cap


@component("PageScan")
class PageResult(TypedDict):
    """A scan of a page of an audit."""

    scan_id: ScanId
    status: Annotated[str, values(Scan.Status.choices)]
    score: Score | None
    grade: Grade | None
    error: NotRequired[Annotated[PageError, "Why it has no score; absent if it has one."]]


class PageError(TypedDict):
    """The reason why a page or a scan of it has no result."""

    code: str
    message: str


class SamplePage(TypedDict):
    """A page on which a finding was made."""

    url: str
    scan_id: ScanId


def new_audit_id() -> str:
    return new_id("aud")


class AuditQuerySet(models.QuerySet["Audit"]):
    def unfinished(self) -> AuditQuerySet:
        """Filter audits that are queued, discovering or running."""
        return self.filter(status__in=UNFINISHED)

    def expired(self) -> AuditQuerySet:
        """Filter finished audits whose last scan's report has expired."""
        before = timezone.now() - KEPT
        last = Q(released_at__lte=before) | Q(released_at=None)
        return self.filter(last, created_at__lte=before, status__in=Audit.FINAL)


class Audit(WithCredentials, Leased):
    """Audit of one page, a list of pages, or a site, for one or more types.

    queued → (discovering →) running → completed | partial | failed | cancelled; nothing leaves a final state.
    """

    class Kind(models.TextChoices):
        PAGE = "page"
        PAGES = "pages"
        SITE = "site"

    class RunOf(models.TextChoices):
        MONITOR = "monitor"
        LIST = "list"

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
    types = ArrayField(models.CharField(max_length=16))
    discover = ArrayField(models.CharField(max_length=8), default=list, blank=True)
    include = ArrayField(models.CharField(max_length=500), default=list, blank=True)
    exclude = ArrayField(models.CharField(max_length=500), default=list, blank=True)
    max_pages = models.PositiveIntegerField()
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
    # By type.
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
        help_text="Part of the run of a monitor or a list: nobody waits for it, and only these tell about it.",
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

    # Columns of the discovery's claim: one worker at a time, as for scans.
    attempts = models.PositiveSmallIntegerField(default=0)
    worker = models.CharField(max_length=100, blank=True, default="")
    enqueued_at = models.DateTimeField(default=timezone.now)

    objects: ClassVar[models.Manager[Audit]] = AuditQuerySet.as_manager()

    class Meta:
        indexes = [
            models.Index(fields=["organization", "-created_at", "-id"], name="audit_newest_first"),
            # Audits that people and programs requested themselves.
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
            # Rows with credentials, for their retention.
            models.Index(
                fields=["created_at"],
                condition=models.Q(encrypted_credentials__isnull=False),
                name="audit_with_credentials",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.id} ({self.kind} {self.url})"

    @property
    def is_final(self) -> bool:
        return self.status in self.FINAL

    @property
    def is_background(self) -> bool:
        """Return True if the audit's visits yield to interactive scans."""
        return bool(self.run_of) or self.kind != self.Kind.PAGE

    @property
    def is_kept(self) -> bool:
        """Return True while a report of its scans is retained, or may still come."""
        last = self.released_at or self.created_at
        return not self.is_final or last > timezone.now() - timedelta(days=self.kept_days)

    @property
    def scores(self) -> dict[str, TypeScore]:
        """Return by type the mean of its pages' known scores, and its grade."""
        return {each: self._score(self.totals.get(each)) for each in self.types}

    def cap_reasons(self, type: str) -> dict[str, int]:
        """Return why scores of this type are capped, with the number of pages. Only the lowest cap of a page counts."""
        return self.totals[type]["caps"] if type in self.totals else {}

    def pages_judged(self, type: str) -> int:
        """Return the number of pages with a score of this type."""
        return self.totals[type]["pages"] if type in self.totals else 0

    def gain(self, finding: AuditFinding) -> float:
        """Return what the type's score gains if the finding is fixed on all pages."""
        total = self.totals.get(finding.type)
        if not total or not total["pages"]:
            return 0.0
        fixed = total["sum"] / total["pages"] + finding.points / total["pages"]
        # What holds the score takes its cap with it. Below a cap that stays, nothing more can be won.
        value = min(fixed, MOST) if finding.held_pages else _capped(fixed, total)
        return round(max(0.0, value - _capped(total["sum"] / total["pages"], total)), 1)

    def gain_without_caps(self, finding: AuditFinding) -> float:
        """Return what the type's score would win if no cap applied."""
        judged = self.pages_judged(finding.type)
        return round(finding.later / judged, 1) if judged else 0.0

    def _score(self, total: TypeTotal | None) -> TypeScore:
        if not total or not total["pages"]:
            return {"score": None, "grade": None}
        value = rounded(_capped(total["sum"] / total["pages"], total))
        return {"score": value, "grade": mean_grade(value, total["flawless"] == total["pages"])}

    @property
    def audit_url(self) -> str:
        """Return the address of the audit's page, which exists from the start."""
        return f"{settings.BASE_URL}/audit/{self.id}"


def _capped(mean: float, total: TypeTotal) -> float:
    """Apply the cap of the origin: to all its pages, including those that were judged before it was found."""
    return mean if total["cap"] is None else min(mean, total["cap"])


class AuditPage(models.Model):
    """Page of an audit. waiting → released → done | failed; pages that wait when the audit ends are left out."""

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
    # By type, written when its visit ends.
    results: models.JSONField[dict[str, PageResult], dict[str, PageResult]] = models.JSONField(default=dict, blank=True)
    worst_score = models.PositiveSmallIntegerField(null=True, blank=True)
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

    @property
    def error(self) -> PageError | None:
        """Return why the page has no result; None if it has one, or still may get one."""
        if self.status not in (self.Status.FAILED, self.Status.LEFT_OUT):
            return None
        own = next((each["error"] for each in self.results.values() if "error" in each), None)
        if own is not None:
            return own
        if self.audit.status == Audit.Status.CANCELLED:
            return {"code": "SCAN_CANCELLED", "message": "The audit was cancelled before the page was scanned."}
        return {"code": self.audit.error_code, "message": self.audit.error_message}


def no_fix() -> StoredFix:
    return {"text": "", "snippets": []}


class AuditFinding(models.Model):
    """Failed or warned check of an audit, counted over its pages as their visits end. Its places are AuditPlaces.

    Status, severity and words are those of the first page on which it is worst: a fail before a warning, then by
    severity.
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
        """Return its outcomes with the name of the check, such as `hsts.short`."""
        return [f"{self.check_id}.{each}" for each in self.outcomes]

    @property
    def only_outcome(self) -> str:
        """Return the outcome if it is the same on all pages, else an empty text, which no mute of an outcome covers."""
        return self.outcome if self.outcomes == [self.outcome] else ""


class AuditPlace(models.Model):
    """Place of a finding (an element, a header, a file…) with the pages of the audit that have it."""

    # Limit per finding, which the places of one page may exceed, because every page may show the check another place.
    # Known places are counted on.
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
