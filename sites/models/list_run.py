"""Models for the runs of lists.

A finished run is also the list's snapshot: its results and counts do not change again.
"""

from __future__ import annotations

from typing import Any, ClassVar, TypedDict

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.utils import timezone

from scans.models.categories import WithCategories
from scans.models.domain import MAX_ADDRESS_LENGTH
from sites.models.audit import Audit
from sites.models.monitor import new_run_id
from sites.models.site_list import (
    ConformanceCounts,
    Fact,
    ListCounts,
    ListEntry,
    ResultFinding,
    SiteList,
    TypeScores,
    empty_conformance_counts,
    new_share_id,
)


class Insertion(TypedDict):
    """Progress of the insertion of a run's results, which are inserted in the order of the entries' addresses.

    `of` is the number of all results and `done` that of inserted ones. `address` and `id` are those of the last entry.
    Entries that were added after `at`, a time in ISO format, are not part of the run.
    """

    of: int
    done: int
    address: str
    id: str
    at: str


class ListRun(WithCategories):
    """Run of a list, which scans each entry once.

    The status is running → completed | partial | failed | cancelled. A finished run is a snapshot of the list.
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
    # Progress of the insertion of results (`sites.lists.insertion`). None: all results have been inserted.
    insertion: models.JSONField[Insertion | None, Insertion | None] = models.JSONField(null=True, blank=True)
    # Check IDs in the order of the letters of `ListResult.statuses`. IDs of new checks are appended.
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
    """Result of one entry's scan.

    `run` is None if a member scanned the single entry outside a run.

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
    deleted_entry_id = models.CharField(
        max_length=40, blank=True, default="", db_default="", help_text="ID of its entry, if it has been deleted."
    )
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
    # Numbers of failed or warned checks by severity.
    severities: models.JSONField[dict[str, int], dict[str, int]] = models.JSONField(default=dict, blank=True)
    # `seen` has the worst status of each check by check ID, until the result is counted. Counting replaces `seen` by
    # `statuses`: one letter (f, w, p or -) for each of the run's checks.
    seen: models.JSONField[dict[str, str], dict[str, str]] = models.JSONField(default=dict, blank=True)
    statuses = models.TextField(blank=True, default="")
    findings: models.JSONField[list[ResultFinding], list[ResultFinding]] = models.JSONField(default=list, blank=True)
    facts: models.JSONField[Fact, Fact] = models.JSONField(default=dict, blank=True)

    class Meta:
        indexes = [
            models.Index(fields=["run", "position"], name="list_result_of_run"),
            models.Index(
                fields=["run", "position"],
                condition=Q(status__in=("failed", "left_out")),
                name="list_result_not_judged",
            ),
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

    @property
    def permanent_entry_id(self) -> str | None:
        """Return the ID of the entry, even after its deletion.

        Returns None if the entry was deleted before IDs were kept.
        """
        return self.entry_id or self.deleted_entry_id or None


class ListCount(models.Model):
    """Statistics of a list run for the sites with one tag, or for all sites if the tag is empty."""

    id = models.BigAutoField(primary_key=True)
    run = models.ForeignKey(ListRun, on_delete=models.CASCADE, related_name="counts", db_index=False)
    tag = models.CharField(max_length=60, blank=True, default="")
    data: models.JSONField[ListCounts, ListCounts] = models.JSONField()
    # Separate from `data`, because only the page on success criteria reads them.
    conformance: models.JSONField[ConformanceCounts, ConformanceCounts] = models.JSONField(
        default=empty_conformance_counts, db_default={"criteria": {}, "failed_sites": {}}
    )

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "tag"], name="list_count_unique")]

    def __str__(self) -> str:
        return f"{self.run_id} {self.tag}".rstrip()


class ListComparison(models.Model):
    """Stored comparison of two large snapshots of a list. `data` is None until a worker has calculated it."""

    id = models.BigAutoField(primary_key=True)
    run = models.ForeignKey(ListRun, on_delete=models.CASCADE, related_name="comparisons", db_index=False)
    other = models.ForeignKey(ListRun, on_delete=models.CASCADE, related_name="+")
    enqueued_at = models.DateTimeField(default=timezone.now)
    data: models.JSONField[dict[str, Any] | None, dict[str, Any] | None] = models.JSONField(null=True, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "other"], name="list_comparison_unique")]

    def __str__(self) -> str:
        return f"{self.run_id} and {self.other_id}"


class ListShare(models.Model):
    """Public link to a snapshot of a list. Deleting the row revokes the link."""

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
    password = models.CharField(max_length=128, blank=True, default="", db_default="", help_text="Hashed.")
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, db_index=False
    )
    created_at = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return f"{self.id} of {self.site_list_id}"

    @property
    def share_url(self) -> str:
        """Return the URL of the public page."""
        return f"{settings.BASE_URL}/list/{self.id}"
