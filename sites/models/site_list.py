"""Models of a list of sites: its entries, its runs with the results of each entry, their counts, and shared snapshots.

A run that has ended is its own snapshot: its results and counts do not change again.
"""

from __future__ import annotations

from typing import ClassVar, TypedDict

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import MD5
from django.utils import timezone

from accounts.models import ApiKey, Organization
from scans.models.credentials import WithCredentials
from scans.models.domain import MAX_ADDRESS_LENGTH
from sites.models.audit import Audit
from sites.models.monitor import NAME_LENGTH, new_run_id
from website_scan.ids import new_id


class ListInterval(models.TextChoices):
    """Intervals of a list's runs, the shortest first."""

    WEEK = "week", "every week"
    MONTH = "month", "every month"
    QUARTER = "quarter", "every quarter"


class Fact(TypedDict, total=False):
    """Facts about a site, each a column of an export. Facts that no scan has reported are absent."""

    final_url: str
    status: int  # HTTP status code
    https: bool
    https_redirect: bool
    tls_versions: list[str]  # such as ["TLS 1.2", "TLS 1.3"]
    certificate_issuer: str
    certificate_expires_at: str  # such as "2026-11-26T18:00:00Z"
    hsts: bool
    csp: bool
    security_txt: bool
    dnssec: bool
    caa: bool
    spf: bool
    dmarc: bool
    http_version: str  # such as "HTTP/2"
    server: str
    generator: str
    title: str
    description: str
    language: str  # such as "de-AT"


class ResultFinding(TypedDict):
    """Failed or warned check of a site: the worst finding if several pages were scanned."""

    type: str
    check: str
    status: str
    severity: str
    outcome: str
    title: str
    message: str


class ListCounts(TypedDict):
    """Counts of a run, over all its sites or over the sites with one tag.

    `scores` and `grades` have the number of sites by scan type, then by score (0 to 100, as text) or by grade. `checks`
    has the numbers of sites `[failed, warned, passed]` by check ID.
    """

    sites: int
    judged: int
    scores: dict[str, dict[str, int]]
    grades: dict[str, dict[str, int]]
    checks: dict[str, list[int]]


def new_list_id() -> str:
    return new_id("lst")


def new_entry_id() -> str:
    return new_id("ent")


def new_share_id() -> str:
    """Return an ID that makes the address of a shared page impossible to guess."""
    return new_id("shr")


class SiteList(WithCredentials):
    """Named set of sites that are judged together. A run audits one or several pages of each site."""

    id = models.CharField(primary_key=True, max_length=40, default=new_list_id, editable=False)
    organization = models.ForeignKey(Organization, on_delete=models.CASCADE, related_name="lists")
    api_key = models.ForeignKey(ApiKey, on_delete=models.SET_NULL, null=True, blank=True, db_index=False)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, db_index=False
    )
    created_at = models.DateTimeField(default=timezone.now)
    name = models.CharField(max_length=NAME_LENGTH)
    types = ArrayField(models.CharField(max_length=16))
    pages_per_entry = models.PositiveIntegerField(default=1)
    every = models.CharField(max_length=8, choices=ListInterval, blank=True, default="")
    window_hours = models.PositiveSmallIntegerField(default=24, help_text="The starts of a run are spread over it.")
    timezone = models.CharField(max_length=64, default="UTC")
    next_run_at = models.DateTimeField(null=True, blank=True)
    recipients = ArrayField(
        models.BigIntegerField(),
        default=list,
        blank=True,
        help_text="Of e-mails: IDs of people, while they are members.",
    )
    tells_webhooks = models.BooleanField(default=True)
    entries_count = models.PositiveIntegerField(default=0)

    class Meta:
        verbose_name = "list of sites"
        verbose_name_plural = "lists of sites"
        indexes = [
            models.Index(fields=["organization", "-created_at", "-id"], name="list_newest_first"),
            models.Index(fields=["next_run_at"], condition=Q(next_run_at__isnull=False), name="list_due"),
        ]

    def __str__(self) -> str:
        return f"{self.id} ({self.name})"

    @property
    def list_url(self) -> str:
        """Return the address of the list's page."""
        return f"{settings.BASE_URL}/o/{self.organization.slug}/lists/{self.id}"


class TypeScores(models.Model):
    """Abstract model of a score and a grade for each scan type. The score is None for a type that was not judged."""

    security_score = models.PositiveSmallIntegerField(null=True, blank=True)
    performance_score = models.PositiveSmallIntegerField(null=True, blank=True)
    accessibility_score = models.PositiveSmallIntegerField(null=True, blank=True)
    seo_score = models.PositiveSmallIntegerField(null=True, blank=True)
    security_grade = models.CharField(max_length=2, blank=True, default="")
    performance_grade = models.CharField(max_length=2, blank=True, default="")
    accessibility_grade = models.CharField(max_length=2, blank=True, default="")
    seo_grade = models.CharField(max_length=2, blank=True, default="")

    class Meta:
        abstract = True

    def score_of(self, type: str) -> int | None:
        score: int | None = getattr(self, f"{type}_score")
        return score

    def grade_of(self, type: str) -> str | None:
        return getattr(self, f"{type}_grade") or None


class ListEntry(TypeScores):
    """Site of a list, with its latest result."""

    class State(models.TextChoices):
        NEW = "new", "not yet judged"
        JUDGED = "judged"
        PARTIAL = "partial", "judged in part"
        FAILED = "failed", "could not be judged"

    HISTORY = 12  # number of mean scores in the sparkline

    id = models.CharField(primary_key=True, max_length=40, default=new_entry_id, editable=False)
    site_list = models.ForeignKey(SiteList, on_delete=models.CASCADE, related_name="entries", db_index=False)
    url = models.CharField(max_length=8192, help_text="Canonical.")
    host = models.CharField(max_length=300)
    tags = ArrayField(models.CharField(max_length=60), default=list, blank=True)
    note = models.CharField(max_length=500, blank=True, default="")
    created_at = models.DateTimeField(default=timezone.now)

    # Columns of the latest result. A failed result does not change scores, score changes and failing checks.
    state = models.CharField(max_length=8, choices=State, default=State.NEW)
    error_code = models.CharField(max_length=40, blank=True, default="")
    error_message = models.TextField(blank=True, default="")
    moved_to = models.CharField(
        max_length=300, blank=True, default="", help_text="The other host that it permanently redirects to."
    )
    judged_at = models.DateTimeField(null=True, blank=True)
    result = models.ForeignKey(
        "ListResult", on_delete=models.SET_NULL, null=True, blank=True, related_name="+", db_index=False
    )
    # Difference between each score and the score of the previous result.
    security_change = models.SmallIntegerField(null=True, blank=True)
    performance_change = models.SmallIntegerField(null=True, blank=True)
    accessibility_change = models.SmallIntegerField(null=True, blank=True)
    seo_change = models.SmallIntegerField(null=True, blank=True)
    failing = ArrayField(models.CharField(max_length=80), default=list, blank=True, help_text="IDs of failed checks.")
    outcomes = ArrayField(
        models.CharField(max_length=160),
        default=list,
        db_default=[],
        blank=True,
        help_text="Outcomes that failed or warned, such as hsts.short.",
    )
    history = ArrayField(
        models.PositiveSmallIntegerField(), default=list, blank=True, help_text="Means of its scores, oldest first."
    )

    class Meta:
        verbose_name_plural = "list entries"
        indexes = [
            models.Index(fields=["site_list", "host", "id"], name="list_entry_by_host"),
            GinIndex(fields=["failing"], name="list_entry_failing"),
            # Deletion of results sets `result` to NULL, so PostgreSQL looks up the entries by result.
            models.Index(fields=["result"], condition=Q(result__isnull=False), name="list_entry_result"),
        ]
        constraints = [models.UniqueConstraint(F("site_list"), MD5("url"), name="list_entry_unique")]

    def __str__(self) -> str:
        return f"{self.site_list_id}: {self.url}"

    def change_of(self, type: str) -> int | None:
        change: int | None = getattr(self, f"{type}_change")
        return change


class ListRun(models.Model):
    """Run of a list: one scan of each entry. States: running → completed | partial | failed | cancelled.

    A run that has ended is a snapshot.
    """

    class Status(models.TextChoices):
        RUNNING = "running"
        COMPLETED = "completed"
        PARTIAL = "partial"
        FAILED = "failed"
        CANCELLED = "cancelled"

    ENDED: ClassVar[frozenset[str]] = frozenset({Status.COMPLETED, Status.PARTIAL, Status.FAILED, Status.CANCELLED})

    id = models.CharField(primary_key=True, max_length=40, default=new_run_id, editable=False)
    site_list = models.ForeignKey(SiteList, on_delete=models.CASCADE, related_name="runs", db_index=False)
    status = models.CharField(max_length=10, choices=Status, default=Status.RUNNING)
    is_requested = models.BooleanField(default=False, help_text="Requested by somebody, outside the schedule.")
    started_at = models.DateTimeField(default=timezone.now)
    ended_at = models.DateTimeField(null=True, blank=True)
    kept_days = models.PositiveSmallIntegerField(
        null=True, blank=True, help_text="As the plan was when it began. Empty: as long as its list."
    )
    types = ArrayField(models.CharField(max_length=16))
    pages_per_entry = models.PositiveIntegerField()
    window_hours = models.PositiveSmallIntegerField()
    entries = models.PositiveIntegerField(help_text="Number of its results.")
    done = models.PositiveIntegerField(default=0, help_text="Sites with a score.")
    failed = models.PositiveIntegerField(default=0, help_text="Sites that could not be judged.")
    left_out = models.PositiveIntegerField(default=0, help_text="Sites that were not looked at.")
    error_code = models.CharField(max_length=40, blank=True, default="")
    error_message = models.TextField(blank=True, default="")
    # IDs of checks, in the order of the letters of `ListResult.statuses`; IDs of new checks are appended.
    checks: models.JSONField[list[str], list[str]] = models.JSONField(default=list, blank=True)

    class Meta:
        indexes = [
            models.Index(fields=["site_list", "-started_at", "-id"], name="list_run_newest_first"),
            models.Index(fields=["kept_days", "ended_at"], name="list_run_kept"),
        ]
        constraints = [
            models.UniqueConstraint(fields=["site_list"], condition=Q(status="running"), name="list_run_one_at_once")
        ]

    def __str__(self) -> str:
        return f"{self.site_list_id} at {self.started_at:%Y-%m-%d %H:%M}"

    @property
    def has_ended(self) -> bool:
        return self.status in self.ENDED


class ListResult(TypeScores):
    """Result of the scan of one entry: part of a run, or without a run if a member scanned the entry again.

    States: waiting → started → ended → done | failed. A result that still waits when its run ends is `left_out`. An
    `ended` result has all its findings and facts, but `counting.py` has not counted it yet.
    """

    class Status(models.TextChoices):
        WAITING = "waiting"
        STARTED = "started"
        ENDED = "ended"
        DONE = "done"
        FAILED = "failed"
        LEFT_OUT = "left_out"

    UNFINISHED: ClassVar[tuple[str, ...]] = (Status.WAITING, Status.STARTED, Status.ENDED)

    id = models.BigAutoField(primary_key=True)
    site_list = models.ForeignKey(SiteList, on_delete=models.CASCADE, related_name="results", db_index=False)
    run = models.ForeignKey(
        ListRun, on_delete=models.CASCADE, null=True, blank=True, related_name="results", db_index=False
    )
    entry = models.ForeignKey(ListEntry, on_delete=models.SET_NULL, null=True, blank=True, related_name="results")
    position = models.PositiveIntegerField(default=0, help_text="In the order of the run.")
    starts_at = models.DateTimeField()
    status = models.CharField(max_length=8, choices=Status, default=Status.WAITING)
    ended_at = models.DateTimeField(null=True, blank=True)
    audit = models.OneToOneField(Audit, on_delete=models.SET_NULL, null=True, blank=True, related_name="list_result")
    url = models.CharField(max_length=8192)
    addresses = ArrayField(
        models.CharField(max_length=MAX_ADDRESS_LENGTH),
        null=True,
        blank=True,
        help_text="Addresses of its host (`address_of`); empty if it has none. Null: not looked up yet.",
    )
    tags = ArrayField(models.CharField(max_length=60), default=list, blank=True)
    error_code = models.CharField(max_length=40, blank=True, default="")
    error_message = models.TextField(blank=True, default="")
    moved_to = models.CharField(max_length=300, blank=True, default="")
    is_partial = models.BooleanField(default=False)

    pages = models.PositiveIntegerField(default=0, help_text="Pages with a score.")
    # Number of failed or warned checks by severity.
    severities: models.JSONField[dict[str, int], dict[str, int]] = models.JSONField(default=dict, blank=True)
    # `seen` has the worst status of each check, by check ID. Counting empties it and writes `statuses` instead: one
    # letter (f, w, p or -) for each of the run's checks.
    seen: models.JSONField[dict[str, str], dict[str, str]] = models.JSONField(default=dict, blank=True)
    statuses = models.TextField(blank=True, default="")
    findings: models.JSONField[list[ResultFinding], list[ResultFinding]] = models.JSONField(default=list, blank=True)
    facts: models.JSONField[Fact, Fact] = models.JSONField(default=dict, blank=True)

    class Meta:
        indexes = [
            models.Index(fields=["run", "position"], name="list_result_of_run"),
            models.Index(
                fields=["site_list", "starts_at", "position"], condition=Q(status="waiting"), name="list_result_due"
            ),
            models.Index(
                fields=["site_list", "run"],
                condition=Q(status__in=("waiting", "started", "ended")),
                name="list_result_unfinished",
            ),
            models.Index(fields=["site_list"], name="list_result_of_list"),
            models.Index(fields=["ended_at"], condition=Q(run__isnull=True), name="list_result_by_itself"),
            models.Index(fields=["run"], condition=Q(status__in=("started", "ended")), name="list_result_under_way"),
        ]

    def __str__(self) -> str:
        return f"{self.run_id or self.site_list_id}: {self.url}"


class ListCount(models.Model):
    """Counts of a run over all its sites (empty tag), or over the sites with one tag."""

    id = models.BigAutoField(primary_key=True)
    run = models.ForeignKey(ListRun, on_delete=models.CASCADE, related_name="counts", db_index=False)
    tag = models.CharField(max_length=60, blank=True, default="")
    data: models.JSONField[ListCounts, ListCounts] = models.JSONField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "tag"], name="list_count_unique")]

    def __str__(self) -> str:
        return f"{self.run_id} {self.tag}".rstrip()


class ListShare(models.Model):
    """Public page of a list's snapshot, visible to anybody who has its address; deleting it revokes the address."""

    id = models.CharField(primary_key=True, max_length=40, default=new_share_id, editable=False)
    site_list = models.ForeignKey(SiteList, on_delete=models.CASCADE, related_name="shares")
    run = models.ForeignKey(
        ListRun,
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        related_name="shares",
        help_text="Empty: always the latest snapshot.",
    )
    has_table = models.BooleanField(default=False, help_text="With all sites, not only the summary.")
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, db_index=False
    )
    created_at = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return f"{self.id} of {self.site_list_id}"

    @property
    def share_url(self) -> str:
        """Return the address of the public page."""
        return f"{settings.BASE_URL}/list/{self.id}"
