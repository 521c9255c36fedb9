"""Models for organizations, people, memberships, API keys, tiers, usage and the activity log."""

from __future__ import annotations

from typing import ClassVar

from django.contrib.auth.models import AbstractUser
from django.contrib.postgres.fields import ArrayField
from django.core.validators import MinValueValidator
from django.db import models
from django.db.models.functions import Lower
from django.utils import timezone

from accounts.addresses import without_addresses
from accounts.models.user_manager import UserManager
from infrastructure.api.scopes import Scope
from infrastructure.web.time_zones import validate_time_zone
from website_scan.ids import new_id


class User(AbstractUser):
    """Person with an account. The e-mail address is the user name."""

    username = None  # type: ignore[assignment]  # None removes the inherited column.
    first_name = models.CharField("first name", max_length=150, blank=True, validators=[without_addresses])
    last_name = models.CharField("last name", max_length=150, blank=True, validators=[without_addresses])
    email = models.EmailField("e-mail address", max_length=254, unique=True)
    time_zone = models.CharField(
        max_length=64,
        blank=True,
        default="",
        db_default="",
        validators=[validate_time_zone],
        help_text="Name of the IANA time zone database. Empty: the browser's on pages, and UTC in e-mails.",
    )
    closed_at = models.DateTimeField(null=True, blank=True, editable=False)

    USERNAME_FIELD = "email"
    REQUIRED_FIELDS: ClassVar[list[str]] = []

    # AuthenticationMiddleware stores here the IDs of the identity providers that authenticated the session's user.
    session_providers: frozenset[str] = frozenset()

    objects: ClassVar[UserManager[User]] = UserManager()  # type: ignore[assignment]  # replaces the inherited manager

    class Meta:
        constraints = [
            models.UniqueConstraint(
                Lower("email"),
                name="user_email_unique",
                violation_error_message="There is an account with this e-mail address already.",
            )
        ]

    def __str__(self) -> str:
        return self.email


class Interval(models.TextChoices):
    """How often a monitor runs, most frequent first."""

    HOUR = "hour", "every hour"
    SIX_HOURS = "6h", "every 6 hours"
    DAY = "day", "every day"
    WEEK = "week", "every week"
    MONTH = "month", "every month"


# Default retention periods of a tier in days, which operators can change.
REPORTS_KEPT_DAYS = 30
DELIVERIES_KEPT_DAYS = 30
ACTIVITY_KEPT_DAYS = 365


class Tier(models.Model):
    """An organization's tier, with its quota, limits and retention periods.

    Operators can edit tiers.
    """

    name = models.SlugField(max_length=40, primary_key=True)
    scans_per_month = models.PositiveIntegerField()
    quota_per_owner = models.BooleanField(
        default=False,
        db_default=False,
        help_text="All organizations on this plan with the same owner share the scans of a month.",
    )
    concurrent_scans = models.PositiveIntegerField()
    requests_per_minute = models.PositiveIntegerField()
    webhooks = models.PositiveIntegerField()
    schedules = models.PositiveIntegerField(help_text="Number of monitors.")
    pages_per_audit = models.PositiveIntegerField(db_default=10)
    lists = models.PositiveIntegerField(default=1, db_default=1, help_text="Number of lists of sites.")
    list_entries = models.PositiveIntegerField(
        default=10, db_default=10, help_text="Number of sites in all lists together."
    )
    assessments = models.PositiveIntegerField(
        default=1, db_default=1, help_text="Number of assessments of conformance."
    )
    journeys = models.PositiveIntegerField(default=1, db_default=1, help_text="Number of journeys.")
    shortest_interval = models.CharField(max_length=8, choices=Interval, default=Interval.DAY, db_default=Interval.DAY)
    reports_kept_days = models.PositiveSmallIntegerField(
        default=REPORTS_KEPT_DAYS,
        db_default=REPORTS_KEPT_DAYS,
        validators=[MinValueValidator(1)],
        help_text="Counted from the creation of the scan. Changes apply to new scans only.",
    )
    scans_kept_days = models.PositiveSmallIntegerField(
        null=True,
        blank=True,
        help_text="For ended scans without a report; at least as long as reports. Empty: forever.",
    )
    snapshots_kept_days = models.PositiveSmallIntegerField(
        null=True,
        blank=True,
        help_text="Of lists of sites, after their run. Empty: as long as the list. Changes apply to new runs only.",
    )
    deliveries_kept_days = models.PositiveSmallIntegerField(
        default=DELIVERIES_KEPT_DAYS,
        db_default=DELIVERIES_KEPT_DAYS,
        validators=[MinValueValidator(1)],
        help_text="After they were delivered or had failed.",
    )
    activity_kept_days = models.PositiveSmallIntegerField(
        null=True,
        blank=True,
        default=ACTIVITY_KEPT_DAYS,
        db_default=ACTIVITY_KEPT_DAYS,
        validators=[MinValueValidator(30)],
        help_text="For entries of the activity log. Empty: forever.",
    )

    class Meta:
        ordering = ("scans_per_month",)
        constraints = [
            models.CheckConstraint(
                condition=models.Q(scans_kept_days=None) | models.Q(scans_kept_days__gte=models.F("reports_kept_days")),
                name="tier_keeps_scans_of_reports",
                violation_error_message="Scans must be kept at least as long as their reports.",
            )
        ]

    def __str__(self) -> str:
        return self.name


class Organization(models.Model):
    """Tenant that owns scans, reports, API keys and all other data."""

    name = models.CharField(max_length=100, validators=[without_addresses])
    slug = models.SlugField(max_length=60, unique=True)
    tier = models.ForeignKey(Tier, on_delete=models.PROTECT, default="free")
    members: models.ManyToManyField[User, Membership] = models.ManyToManyField(User, through="Membership")
    shares_reports = models.BooleanField(default=False, help_text="New reports are shared from the start.")
    second_factor_required = models.BooleanField(
        default=False, db_default=False, help_text="Members without one cannot see the organization's pages."
    )
    login_provider = models.CharField(
        max_length=40,
        blank=True,
        default="",
        db_default="",
        help_text="The identity provider that members with an address of the domain below log in with.",
    )
    login_domain = models.CharField(max_length=253, blank=True, default="", db_default="")
    created_at = models.DateTimeField(default=timezone.now)
    closed_at = models.DateTimeField(null=True, blank=True, help_text="When it was closed; its rows are being deleted.")

    def __str__(self) -> str:
        return self.name


def limits_field() -> ArrayField[list[str], list[str]]:
    """Return a column for the sites that a viewer or member is limited to. Empty: all sites."""
    return ArrayField(models.CharField(max_length=300), default=list, db_default=[], blank=True)


class Membership(models.Model):
    class Role(models.TextChoices):
        OWNER = "owner"
        ADMIN = "admin"
        MEMBER = "member"
        VIEWER = "viewer"

    organization = models.ForeignKey(Organization, on_delete=models.CASCADE)
    user = models.ForeignKey(User, on_delete=models.CASCADE)
    role = models.CharField(max_length=10, choices=Role, default=Role.MEMBER)
    weekly_digest = models.BooleanField(default=False, db_default=False)
    limited_to = limits_field()
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["organization", "user"], name="membership_unique")]

    def __str__(self) -> str:
        return f"{self.user} ({self.role})"

    def has(self, role: str) -> bool:
        """Return True if the member's role is `role` or higher."""
        return RANKS.index(self.role) >= RANKS.index(role)

    @property
    def is_limited(self) -> bool:
        """True if the member may see some sites of the organization only."""
        return bool(self.limited_to)

    @property
    def is_owner(self) -> bool:
        return self.has(self.Role.OWNER)

    @property
    def is_admin(self) -> bool:
        """True if the member may manage API keys, webhooks and members."""
        return self.has(self.Role.ADMIN)

    @property
    def is_member(self) -> bool:
        """True if the member may start scans. Viewers may only read."""
        return self.has(self.Role.MEMBER)


# Roles are in ascending order of permissions.
RANKS = (Membership.Role.VIEWER, Membership.Role.MEMBER, Membership.Role.ADMIN, Membership.Role.OWNER)


def new_key_id() -> str:
    return new_id("key")


class ApiKey(models.Model):
    """An API key. Only its digest is stored. Regenerating it replaces its secret, but not its ID."""

    id = models.CharField(primary_key=True, max_length=40, default=new_key_id, editable=False)
    organization = models.ForeignKey(Organization, on_delete=models.CASCADE, related_name="api_keys")
    name = models.CharField(max_length=100)
    scope = models.CharField(max_length=10, choices=Scope, default=Scope.MANAGE, db_default=Scope.MANAGE)
    prefix = models.CharField(max_length=20)
    digest = models.CharField(max_length=64, unique=True)
    created_by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, blank=True)
    created_at = models.DateTimeField(default=timezone.now)
    regenerated_at = models.DateTimeField(null=True, blank=True, help_text="When its secret was last replaced.")
    expires_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)
    # Time at which the current secret was last used.
    last_used_at = models.DateTimeField(null=True, blank=True)
    last_used_from = models.CharField(max_length=45, blank=True, default="", db_default="")
    # Smallest number in NOTICE_DAYS that needs no further notice. Either that notice was written, or the expiry was
    # already that near when it was chosen. Smaller numbers still need a notice.
    notice_days = models.PositiveSmallIntegerField(null=True, editable=False)

    class Meta:
        verbose_name = "API key"
        ordering = ("-created_at",)

    def __str__(self) -> str:
        return f"{self.name} ({self.prefix}…)"


class FormerKey(models.Model):
    """A regenerated API key's former secret. It is valid until `expires_at`.

    An expired row stays, so that the API's error message can say that the secret was replaced.
    """

    key = models.ForeignKey(ApiKey, on_delete=models.CASCADE, related_name="former")
    prefix = models.CharField(max_length=20)
    digest = models.CharField(max_length=64, unique=True)
    expires_at = models.DateTimeField()
    last_used_at = models.DateTimeField(null=True, blank=True)
    last_used_from = models.CharField(max_length=45, blank=True, default="")

    class Meta:
        ordering = ("-expires_at", "-id")

    def __str__(self) -> str:
        return f"{self.prefix}…, until {self.expires_at:%Y-%m-%d %H:%M}"


class MonthlyUsage(models.Model):
    """How many scans an organization has used in a month.

    Only `accounts.usage` writes it.
    """

    # NULL after the organization was deleted. Until the month ends, its scans still count for the owner's other
    # organizations.
    organization = models.ForeignKey(Organization, on_delete=models.SET_NULL, null=True, blank=True)
    period = models.DateField(help_text="The first day of the month.")
    used = models.PositiveIntegerField(default=0)
    owner = models.CharField(
        max_length=64, blank=True, default="", db_default="", help_text="A digest; empty if the quota is not shared."
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["organization", "period"], name="monthly_usage_unique"),
        ]
        indexes = [models.Index(fields=["owner", "period"], condition=~models.Q(owner=""), name="monthly_usage_owner")]

    def __str__(self) -> str:
        return f"{self.organization_id} {self.period:%Y-%m}: {self.used}"


class ActivityEvent(models.Model):
    """An entry in an organization's activity log.

    Only `accounts.activity` writes entries, and they never change.
    """

    organization = models.ForeignKey(Organization, on_delete=models.CASCADE, db_index=False)
    actor = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, blank=True)
    actor_email = models.CharField(max_length=254, blank=True, help_text="Stays when the person is deleted.")
    # The column is not a foreign key, so that deleting API keys need not search the activity log.
    actor_key = models.CharField(max_length=40, blank=True, default="", db_default="", help_text="An API key's ID.")
    action = models.CharField(max_length=60)
    object_name = models.CharField(max_length=300, blank=True, db_column="target")
    details = models.JSONField(default=dict, blank=True)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ("-id",)
        indexes = [
            models.Index(fields=["organization", "-id"], name="activity_newest"),
            models.Index(fields=["organization", "action", "-id"], name="activity_newest_of_action"),
            models.Index(
                fields=["organization", "actor_email", "-id"],
                condition=~models.Q(actor_email=""),
                name="activity_newest_of_person",
            ),
            models.Index(
                fields=["organization", "actor_key", "-id"],
                condition=~models.Q(actor_key=""),
                name="activity_newest_of_key",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.who}: {self.action} {self.object_name}".rstrip()

    @property
    def who(self) -> str:
        """Who acted: an e-mail address, an API key by its name at that time, or "the service"."""
        key = self.details.get("api_key")
        return self.actor_email or (f"API key {key}" if key else "the service")


def new_login_id() -> str:
    """Return a new ID for a login session. The Django session stores the ID."""
    return new_id("login")


class LoginSession(models.Model):
    """A browser in which a user is logged in.

    Deleting the row ends the browser's Django session.
    """

    id = models.CharField(primary_key=True, max_length=40, default=new_login_id, editable=False)
    user = models.ForeignKey(User, on_delete=models.CASCADE)
    address = models.CharField(max_length=45, blank=True)
    user_agent = models.CharField(max_length=300, blank=True)
    created_at = models.DateTimeField(default=timezone.now)
    last_seen_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ("-last_seen_at",)

    def __str__(self) -> str:
        return f"{self.user_id}: {self.address}"
