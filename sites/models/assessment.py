"""Models for assessments, in which people judge a sample of a site's pages by success criterion."""

from __future__ import annotations

from typing import ClassVar, TypedDict

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.utils import timezone

from accounts.models import ApiKey, Organization
from infrastructure.leases import Leased
from website_scan.accessibility.standards import LABELS, LEVELS, Standard
from website_scan.ids import new_id
from website_scan.messages import cut
from website_scan.report.conformance import Result as AutomaticResult
from website_scan.report.fixes import Part, parts

STANDARDS = [(standard.value, label) for standard, label in LABELS.items()]


def new_assessment_id() -> str:
    return new_id("asm")


class AssessmentQuerySet(models.QuerySet["Assessment"]):
    def waiting(self) -> AssessmentQuerySet:
        """Return the assessments for which results of an audit have not been copied completely."""
        return self.exclude(pending_audit_id="")


class Assessment(Leased):
    """Assessment of a site by a standard, made from an audit and by people.

    It owns copies of all evidence that it needs, so it outlives audits, reports and members. It is open, then finished;
    a finished one can be reopened.
    """

    class Status(models.TextChoices):
        OPEN = "open"
        FINISHED = "finished"

    id = models.CharField(primary_key=True, max_length=40, default=new_assessment_id, editable=False)
    organization = models.ForeignKey(Organization, on_delete=models.CASCADE, related_name="assessments", db_index=False)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, db_index=False
    )
    name = models.CharField(max_length=100)
    url = models.CharField(max_length=8192, help_text="Start of the site.")
    standard = models.CharField(max_length=16, choices=STANDARDS, default=Standard.WCAG_22.value)
    level = models.CharField(max_length=3, choices=[(level, level) for level in LEVELS], default="AA")
    status = models.CharField(max_length=8, choices=Status, default=Status.OPEN)
    created_at = models.DateTimeField(default=timezone.now)
    updated_at = models.DateTimeField(default=timezone.now, help_text="When a person or a refresh last changed it.")
    finished_at = models.DateTimeField(null=True, blank=True)
    shared_at = models.DateTimeField(null=True, blank=True, help_text="Since when anyone with the link can read it.")

    # Texts by the evaluators.
    scope = models.TextField(blank=True, default="", help_text="What belongs to the site, and what does not.")
    evaluators = models.TextField(blank=True, default="", help_text="Who evaluates, one person per line.")
    method = models.TextField(blank=True, default="")
    owner_name = models.CharField(max_length=200, blank=True, default="", help_text="Who is responsible for the site.")
    contact_email = models.EmailField(max_length=254, blank=True, default="")
    contact_url = models.URLField(max_length=500, blank=True, default="")
    contact_phone = models.CharField(max_length=60, blank=True, default="")
    burden = models.TextField(blank=True, default="", help_text="Content whose repair is a disproportionate burden.")
    exempt_content = models.TextField(blank=True, default="", help_text="Content outside the law's scope.")
    alternatives = models.TextField(blank=True, default="", help_text="Accessible alternatives to failing content.")
    enforcement = models.TextField(blank=True, default="", help_text="Where people can complain.")

    # The audit whose results are in the assessment, and the one whose results are being copied. No foreign keys:
    # audits expire.
    audit_id = models.CharField(max_length=40, blank=True, default="")
    evidence_at = models.DateTimeField(null=True, blank=True, help_text="When the audit ended.")
    pending_audit_id = models.CharField(max_length=40, blank=True, default="")
    enqueued_at = models.DateTimeField(default=timezone.now)
    refresh_error = models.CharField(max_length=300, blank=True, default="")
    next_page_number = models.PositiveIntegerField(default=1, help_text="Numbers of deleted pages are not used again.")

    objects: ClassVar[models.Manager[Assessment]] = AssessmentQuerySet.as_manager()

    class Meta:
        indexes = [
            models.Index(fields=["organization", "-created_at", "-id"], name="assessment_newest_first"),
            models.Index(fields=["enqueued_at"], condition=~Q(pending_audit_id=""), name="assessment_pending"),
        ]

    def __str__(self) -> str:
        return f"{self.id} ({self.name})"

    @property
    def standard_at_level(self) -> str:
        """Return the standard with the level, or with the criteria of WCAG that the standard refers to."""
        return Standard(self.standard).at_level(self.level)

    @property
    def is_finished(self) -> bool:
        return self.status == self.Status.FINISHED

    @property
    def is_refreshing(self) -> bool:
        """Return True while results of an audit are being copied."""
        return bool(self.pending_audit_id)

    @property
    def assessment_url(self) -> str:
        """Return the URL of the conformance report, which is public if the assessment is shared."""
        return f"{settings.BASE_URL}/assessment/{self.id}"


class AssessmentPage(models.Model):
    """Page or state of a page in the sample of an assessment.

    A state, such as "cart with one item", is tested by people only.
    """

    class Reason(models.TextChoices):
        START = "start", "Start page"
        STRUCTURE = "structure", "Chosen for its kind of page or its findings"
        RANDOM = "random", "Chosen at random"
        ADDED = "added", "Added by a person"

    id = models.BigAutoField(primary_key=True)
    assessment = models.ForeignKey(Assessment, on_delete=models.CASCADE, related_name="pages", db_index=False)
    number = models.PositiveIntegerField(help_text="Unique in the assessment, ascending.")
    url = models.CharField(max_length=8192)
    name = models.CharField(max_length=200, blank=True, default="")
    is_state = models.BooleanField(default=False)
    reason = models.CharField(max_length=12, choices=Reason, default=Reason.ADDED)
    # The columns below are copied from the page's report.
    scan_id = models.CharField(max_length=40, blank=True, default="", help_text="Empty: no automatic results.")
    copied_audit_id = models.CharField(max_length=40, blank=True, default="")
    judged_at = models.DateTimeField(null=True, blank=True)
    is_missing = models.BooleanField(default=False, help_text="The latest audit has no results for it.")
    digest = models.CharField(max_length=64, blank=True, default="", help_text="Of the page's structure and text.")
    changed_at = models.DateTimeField(null=True, blank=True, help_text="When an audit first saw that it had changed.")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["assessment", "number"], name="assessment_page_number")]

    def __str__(self) -> str:
        return f"{self.assessment_id} {self.number}: {self.title}"

    @property
    def title(self) -> str:
        return self.name or self.url


class AssessmentResult(models.Model):
    """Result of a success criterion on a page: what a person decided, and what automatic checks saw."""

    class Result(models.TextChoices):
        PASSED = "passed", "Passed"
        FAILED = "failed", "Failed"
        NOT_APPLICABLE = "not_applicable", "Not applicable"
        CANNOT_TELL = "cannot_tell", "Cannot tell"
        UNTESTED = "untested", "Untested"

    id = models.BigAutoField(primary_key=True)
    assessment = models.ForeignKey(Assessment, on_delete=models.CASCADE, related_name="results", db_index=False)
    page = models.ForeignKey(AssessmentPage, on_delete=models.CASCADE, related_name="results", db_index=False)
    criterion = models.CharField(max_length=10, help_text="Number of the success criterion.")
    result = models.CharField(max_length=16, choices=Result, default=Result.UNTESTED, help_text="By a person.")
    note = models.TextField(blank=True, default="", help_text="What the person saw.")
    remedy = models.TextField(blank=True, default="", help_text="What to do.")
    version = models.PositiveIntegerField(default=0, help_text="Increases with each change by a person.")
    tested_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, db_index=False
    )
    tested_by_name = models.CharField(max_length=254, blank=True, default="", help_text="Remains if the member leaves.")
    tested_at = models.DateTimeField(null=True, blank=True)
    open_failures = models.PositiveSmallIntegerField(
        default=0, help_text="Findings that fail the criterion, are not fixed and not disputed."
    )
    open_reviews = models.PositiveSmallIntegerField(default=0, help_text="The same for findings to review.")
    has_passes = models.BooleanField(default=False, help_text="Checks of the criterion ran and found no failure.")

    class Meta:
        indexes = [models.Index(fields=["assessment", "criterion"], name="assessment_by_criterion")]
        constraints = [models.UniqueConstraint(fields=["page", "criterion"], name="assessment_result_unique")]

    def __str__(self) -> str:
        return f"{self.page_id} {self.criterion}: {self.outcome}"

    @property
    def outcome(self) -> str:
        """Return the result that counts: an open automatic failure fails the criterion, whatever a person decided."""
        return self.Result.FAILED if self.open_failures else self.result

    def is_older_than(self, page: AssessmentPage) -> bool:
        """Return True if the page has changed since the person's test."""
        return self.tested_at is not None and page.changed_at is not None and self.tested_at < page.changed_at

    @property
    def automatic(self) -> AutomaticResult:
        if self.open_failures:
            return AutomaticResult.FAILS
        if self.open_reviews:
            return AutomaticResult.NEEDS_REVIEW
        return AutomaticResult.NO_FAILURE if self.has_passes else AutomaticResult.NOT_TESTED


class AssessmentCount(models.Model):
    """Number of an assessment's pages on which a criterion has the same result.

    Triggers on the table of results update the counters (`migrations/assessment_counts.sql`), so that pages with
    numbers never read all results. `count` may be 0.
    """

    id = models.BigAutoField(primary_key=True)
    assessment = models.ForeignKey(Assessment, on_delete=models.CASCADE, related_name="counts", db_index=False)
    criterion = models.CharField(max_length=10)
    result = models.CharField(max_length=16, choices=AssessmentResult.Result)
    is_failing = models.BooleanField(help_text="The pages have an open automatic failure.")
    needs_review = models.BooleanField(help_text="The pages have an open finding to review.")
    has_passes = models.BooleanField(help_text="As in AssessmentResult.")
    count = models.IntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["assessment", "criterion", "result", "is_failing", "needs_review", "has_passes"],
                name="assessment_count_unique",
            )
        ]

    def __str__(self) -> str:
        return f"{self.assessment_id} {self.criterion} {self.result}: {self.count}"


class FrozenPlace(TypedDict):
    """Place of a finding, copied from a report."""

    fingerprint: str
    text: str


class AssessmentFinding(models.Model):
    """Automatic finding on a page, copied from its report. A fixed one remains as history."""

    MAX_PLACES = 20
    MAX_FIX_SHOWN = 1_000

    id = models.BigAutoField(primary_key=True)
    assessment = models.ForeignKey(Assessment, on_delete=models.CASCADE, related_name="findings", db_index=False)
    page = models.ForeignKey(AssessmentPage, on_delete=models.CASCADE, related_name="findings", db_index=False)
    check_id = models.CharField(max_length=80)
    outcome = models.CharField(max_length=80, blank=True, default="")
    has_failed = models.BooleanField(help_text="False: the check could not decide.")
    severity = models.CharField(max_length=8)
    title = models.TextField()
    message = models.TextField()
    fix = models.TextField(blank=True, default="")
    criteria = ArrayField(models.CharField(max_length=10), default=list)
    places: models.JSONField[list[FrozenPlace], list[FrozenPlace]] = models.JSONField(default=list)
    place_count = models.PositiveIntegerField(default=0)
    first_seen_at = models.DateTimeField()
    seen_at = models.DateTimeField(help_text="When the latest audit with it ended.")
    is_new = models.BooleanField(default=False, help_text="The latest audit found it, an earlier one did not.")
    fixed_at = models.DateTimeField(null=True, blank=True)
    # A dispute by a person. It also mutes the finding in reports.
    dispute_reason = models.CharField(max_length=500, blank=True, default="")
    disputed_by_name = models.CharField(max_length=254, blank=True, default="")
    disputed_at = models.DateTimeField(null=True, blank=True)
    mute_ids = ArrayField(models.CharField(max_length=40), default=list, blank=True)

    class Meta:
        indexes = [models.Index(fields=["assessment"], name="assessment_finding_of")]
        constraints = [models.UniqueConstraint(fields=["page", "check_id"], name="assessment_finding_unique")]

    def __str__(self) -> str:
        return f"{self.page_id} {self.check_id}"

    @property
    def is_disputed(self) -> bool:
        return self.disputed_at is not None

    @property
    def is_open(self) -> bool:
        return self.fixed_at is None and not self.is_disputed

    @property
    def fix_parts(self) -> tuple[Part, ...]:
        """Return the fix, shortened, as text and code for pages."""
        return parts({"text": cut(self.fix, self.MAX_FIX_SHOWN), "snippets": []})

    def end_dispute(self) -> None:
        """Clear the dispute. The caller saves the row."""
        self.dispute_reason = self.disputed_by_name = ""
        self.disputed_at, self.mute_ids = None, []


class AssessmentEvent(models.Model):
    """Entry of an assessment's log: who changed what, and when."""

    id = models.BigAutoField(primary_key=True)
    assessment = models.ForeignKey(Assessment, on_delete=models.CASCADE, related_name="events", db_index=False)
    at = models.DateTimeField(default=timezone.now)
    actor_name = models.CharField(max_length=254, blank=True, default="", help_text="Empty: the service.")
    api_key = models.ForeignKey(ApiKey, on_delete=models.SET_NULL, null=True, blank=True, related_name="+")
    action = models.CharField(max_length=40)
    page_number = models.PositiveIntegerField(null=True, blank=True)
    page_title = models.CharField(max_length=300, blank=True, default="")
    criterion = models.CharField(max_length=10, blank=True, default="")
    before: models.JSONField[dict[str, str], dict[str, str]] = models.JSONField(default=dict, blank=True)
    after: models.JSONField[dict[str, str], dict[str, str]] = models.JSONField(default=dict, blank=True)

    class Meta:
        indexes = [models.Index(fields=["assessment", "-id"], name="assessment_event_newest")]

    def __str__(self) -> str:
        return f"{self.assessment_id} {self.action}"
