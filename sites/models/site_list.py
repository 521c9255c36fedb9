"""Models for lists of sites and their entries.

`list_run` has the models for runs.
"""

from __future__ import annotations

from typing import NotRequired, TypedDict

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.db.models import F, Q
from django.db.models.fields.json import KeyTransform
from django.db.models.functions import MD5, Collate, Left
from django.utils import timezone

from accounts.models import ApiKey, Organization
from scans.models.categories import WithCategories
from scans.models.credentials import WithCredentials
from scans.models.requirements import WithRequirements
from scans.models.viewing import WithViewing
from sites.models.monitor import MAX_NAME_LENGTH
from website_scan.ids import new_id

# Entries are sorted by the first characters of their URLs, because rows of PostgreSQL's indexes may have 2,704 bytes.
# The order is that of bytes, so that it does not depend on the database's language.
SORTED_CHARACTERS = 600
# A week has 167 hours if clocks are put forward, and the last sites need time for their scans and repetitions.
MAX_WEEKLY_WINDOW_HOURS = 160
HTTP_STATUS = KeyTransform("status", "facts")
# Names of scan types in the names of indexes, which Django limits to 30 characters.
SHORT_TYPES = {"security": "security", "performance": "speed", "accessibility": "access", "seo": "seo"}
ENTRY_ADDRESS = Collate(Left("url", SORTED_CHARACTERS), "C")


class ListInterval(models.TextChoices):
    """Intervals between the runs of a list, shortest first."""

    WEEK = "week", "every week"
    MONTH = "month", "every month"
    QUARTER = "quarter", "every quarter"


class Fact(TypedDict, total=False):
    """Facts about a site, one for each column of an export.

    Unknown facts are absent.
    """

    final_url: str
    status: int  # HTTP status code.
    https: bool
    https_redirect: bool
    tls_versions: list[str]  # For example ["TLS 1.2", "TLS 1.3"].
    certificate_issuer: str
    certificate_expires_at: str  # For example "2026-11-26T18:00:00Z".
    hsts: bool
    csp: bool
    security_txt: bool
    dnssec: bool
    caa: bool
    ipv6: bool
    name_server_ipv6: bool
    name_server_networks: bool  # The name servers are in different networks.
    dane: bool
    rpki: bool
    mx: bool
    spf: bool
    dkim: bool
    dmarc: bool
    mta_sts: bool
    tls_rpt: bool
    mail_starttls: bool
    mail_dane: bool
    http_version: str  # For example "HTTP/2".
    server: str
    generator: str
    title: str
    description: str
    language: str  # For example "de-AT".


class StoredTarget(TypedDict):
    """Share of sites that must reach a goal by the end of a day in UTC.

    The goal is to pass a check, or to have a minimum score of a scan type. `tag` is empty for all sites. Either `check`
    or `type` is empty; `least` is None for a check.
    """

    tag: str
    check: str
    type: str
    least: int | None
    percent: int
    by: str  # For example "2027-06-30".


class ResultFinding(TypedDict):
    """Failed or warned check of a site.

    If several pages were scanned, the page with the worst verdict is used.
    """

    type: str
    check: str
    status: str
    severity: str
    outcome: str
    title: str
    message: str


class NotJudged(TypedDict):
    """Sites of a finished run that have no score.

    `codes` has the numbers of failed sites by error code. `first_failed` are the IDs of the first failed results.
    """

    left_out: int
    codes: dict[str, int]
    first_failed: list[int]


class ListCounts(TypedDict):
    """Statistics of a list run, for all its sites or for the sites with one tag.

    `sites` are all sites except those that were left out. `scores` and `grades` have the number of sites by scan type,
    then by score (0 to 100, as text) or by grade. `checks` has the numbers of sites `[failed, warned, passed]` by check
    ID. `not_judged` is absent until the run ends, and in runs of former releases.
    """

    sites: int
    judged: int
    scores: dict[str, dict[str, int]]
    grades: dict[str, dict[str, int]]
    checks: dict[str, list[int]]
    not_judged: NotRequired[NotJudged]


class CriterionCounts(TypedDict):
    """Sites of a list run on which a success criterion fails, and those on which it needs a person's review.

    A site on which the criterion fails is only in the former. `first_failed` and `first_to_review` are IDs of the
    results of the first sites.
    """

    failed: int
    to_review: int
    first_failed: list[int]
    first_to_review: list[int]


def empty_criterion_counts() -> CriterionCounts:
    """Return the statistics of a criterion that fails on no site and needs no review."""
    return {"failed": 0, "to_review": 0, "first_failed": [], "first_to_review": []}


class ConformanceCounts(TypedDict):
    """Statistics of a list run's accessibility scans, for all its sites or for the sites with one tag.

    `criteria` are by the number of a success criterion. `failed_sites` has the numbers of sites that fail a standard,
    by standard and then by the lowest level that they fail.
    """

    criteria: dict[str, CriterionCounts]
    failed_sites: dict[str, dict[str, int]]


def empty_conformance_counts() -> ConformanceCounts:
    """Return the statistics of no accessibility scans."""
    return {"criteria": {}, "failed_sites": {}}


def new_list_id() -> str:
    return new_id("lst")


def new_entry_id() -> str:
    return new_id("ent")


def new_share_id() -> str:
    """Return a random ID for a shared page, whose URL must be impossible to guess."""
    return new_id("shr")


class UndeletedLists(models.Manager["SiteList"]):
    """Lists without the large ones that somebody has deleted, which remain stored until the next night."""

    def get_queryset(self) -> models.QuerySet[SiteList]:
        return super().get_queryset().filter(deleted_at=None)


class SiteList(WithCredentials, WithViewing, WithRequirements, WithCategories):
    """Named list of sites.

    A run of the list audits one or several pages of each site.
    """

    id = models.CharField(primary_key=True, max_length=40, default=new_list_id, editable=False)
    organization = models.ForeignKey(Organization, on_delete=models.CASCADE, related_name="lists")
    api_key = models.ForeignKey(ApiKey, on_delete=models.SET_NULL, null=True, blank=True, db_index=False)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, db_index=False
    )
    created_at = models.DateTimeField(default=timezone.now)
    name = models.CharField(max_length=MAX_NAME_LENGTH)
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
    webhook_ids = ArrayField(
        models.CharField(max_length=40),
        null=True,
        blank=True,
        help_text="Of webhooks that receive its events. Null: all webhooks, also future ones; empty: none.",
    )
    targets: models.JSONField[list[StoredTarget], list[StoredTarget]] = models.JSONField(
        default=list, db_default=[], blank=True
    )
    entries_count = models.PositiveIntegerField(default=0)
    deleted_at = models.DateTimeField(
        null=True, blank=True, editable=False, help_text="A large list remains stored until the next night."
    )

    objects = UndeletedLists()
    with_deleted = models.Manager["SiteList"]()

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
        """Return the URL of the list's page in the dashboard."""
        return f"{settings.BASE_URL}/o/{self.organization.slug}/lists/{self.id}"

    @property
    def run_window_hours(self) -> int:
        """Return the hours over which a run spreads its starts.

        A due run is skipped while another one is in progress, so a weekly run must end before the next one is due.
        """
        is_weekly = self.every == ListInterval.WEEK
        return min(self.window_hours, MAX_WEEKLY_WINDOW_HOURS) if is_weekly else self.window_hours


class TypeScores(models.Model):
    """Abstract model with a score and a grade for every scan type.

    Without a scan of the type, the score is None and the grade is empty.
    """

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
    """Site in a list, with its latest result."""

    class State(models.TextChoices):
        NEW = "new", "not yet judged"
        JUDGED = "judged"
        PARTIAL = "partial", "judged in part"
        FAILED = "failed", "could not be judged"

    # Number of mean scores in the sparkline.
    HISTORY = 12

    id = models.CharField(primary_key=True, max_length=40, default=new_entry_id, editable=False)
    site_list = models.ForeignKey(SiteList, on_delete=models.CASCADE, related_name="entries", db_index=False)
    url = models.CharField(max_length=8192, help_text="Canonical.")
    host = models.CharField(max_length=300)
    tags = ArrayField(models.CharField(max_length=60), default=list, blank=True)
    note = models.CharField(max_length=500, blank=True, default="")
    created_at = models.DateTimeField(default=timezone.now)

    # The following columns describe the latest result. A failed scan leaves scores and failing checks unchanged.
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
    # The next four columns are differences from the scores of the previous result.
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
    facts: models.JSONField[Fact, Fact] = models.JSONField(default=dict, db_default={}, blank=True)
    history = ArrayField(
        models.PositiveSmallIntegerField(), default=list, blank=True, help_text="Means of its scores, oldest first."
    )

    class Meta:
        verbose_name_plural = "list entries"
        indexes = [
            models.Index("site_list", ENTRY_ADDRESS, "id", name="list_entry_by_address"),
            GinIndex(fields=["failing"], name="list_entry_failing"),
            GinIndex(fields=["outcomes"], name="list_entry_outcomes"),
            GinIndex(fields=["tags"], name="list_entry_tags"),
            models.Index(fields=["site_list", "state"], name="list_entry_state"),
            models.Index("site_list", HTTP_STATUS, name="list_entry_http_status"),
            *(
                models.Index(fields=["site_list", f"{type}_{value}", "id"], name=f"list_entry_{short}_{value}")
                for type, short in SHORT_TYPES.items()
                for value in ("score", "change")
            ),
            *(
                models.Index(fields=["site_list", f"{type}_grade"], name=f"list_entry_{short}_grade")
                for type, short in SHORT_TYPES.items()
            ),
            # Index for deletions of results, which set `result` to NULL.
            models.Index(fields=["result"], condition=Q(result__isnull=False), name="list_entry_result"),
        ]
        constraints = [models.UniqueConstraint(F("site_list"), MD5("url"), name="list_entry_unique")]

    def __str__(self) -> str:
        return f"{self.site_list_id}: {self.url}"

    def change_of(self, type: str) -> int | None:
        change: int | None = getattr(self, f"{type}_change")
        return change
