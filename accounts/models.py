"""Organizations, their people, keys and limits."""

from __future__ import annotations

from typing import ClassVar

from django.contrib.auth.base_user import BaseUserManager
from django.contrib.auth.models import AbstractUser
from django.db import models
from django.db.models.functions import Lower
from django.utils import timezone

from config.ids import new_id


class UserManager(BaseUserManager["User"]):
    """People are known by their e-mail address."""

    def create_user(self, email: str, password: str | None = None, **fields: object) -> User:
        """A person who can log in; without a password only after a reset."""
        user = self.model(email=self.normalize_email(email), **fields)
        user.set_password(password)
        user.save(using=self._db)
        return user

    def create_superuser(self, email: str, password: str | None = None, **fields: object) -> User:
        """Staff with every permission, for the admin."""
        return self.create_user(email, password, is_staff=True, is_superuser=True, **fields)

    def get_by_natural_key(self, username: str | None) -> User:
        """The person with that address, whatever its case."""
        return self.get(email__iexact=username)


class User(AbstractUser):
    """A person. The e-mail address is the name to log in with."""

    username = None  # type: ignore[assignment]  # removes the inherited column
    email = models.EmailField("e-mail address", max_length=254, unique=True)

    USERNAME_FIELD = "email"
    REQUIRED_FIELDS: ClassVar[list[str]] = []

    objects: ClassVar[UserManager] = UserManager()  # type: ignore[assignment]  # replaces the inherited one

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


class Tier(models.Model):
    """A plan: what an organization may use. Rows an operator can edit."""

    name = models.SlugField(max_length=40, primary_key=True)
    scans_per_month = models.PositiveIntegerField()
    concurrent_scans = models.PositiveIntegerField()
    requests_per_minute = models.PositiveIntegerField()
    webhooks = models.PositiveIntegerField()
    schedules = models.PositiveIntegerField()

    class Meta:
        ordering = ("scans_per_month",)

    def __str__(self) -> str:
        return self.name


class Organization(models.Model):
    """The tenant: everything else belongs to one."""

    name = models.CharField(max_length=100)
    slug = models.SlugField(max_length=60, unique=True)
    tier = models.ForeignKey(Tier, on_delete=models.PROTECT, default="free")
    members: models.ManyToManyField[User, Membership] = models.ManyToManyField(User, through="Membership")
    created_at = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return self.name


class Membership(models.Model):
    """A person's role in an organization."""

    class Role(models.TextChoices):
        OWNER = "owner"
        ADMIN = "admin"
        MEMBER = "member"
        VIEWER = "viewer"

    organization = models.ForeignKey(Organization, on_delete=models.CASCADE)
    user = models.ForeignKey(User, on_delete=models.CASCADE)
    role = models.CharField(max_length=10, choices=Role, default=Role.MEMBER)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["organization", "user"], name="membership_unique")]

    def __str__(self) -> str:
        return f"{self.user} ({self.role})"


def new_key_id() -> str:
    """The public ID of an API key."""
    return new_id("key")


class ApiKey(models.Model):
    """An API key: its digest, never the key."""

    id = models.CharField(primary_key=True, max_length=40, default=new_key_id, editable=False)
    organization = models.ForeignKey(Organization, on_delete=models.CASCADE, related_name="api_keys")
    name = models.CharField(max_length=100)
    prefix = models.CharField(max_length=20)
    digest = models.CharField(max_length=64, unique=True)
    created_by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, blank=True)
    created_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name = "API key"
        ordering = ("-created_at",)

    def __str__(self) -> str:
        return f"{self.name} ({self.prefix}…)"


class MonthlyUsage(models.Model):
    """How many scans an organization has used in a month. Written by `accounts.usage` only."""

    organization = models.ForeignKey(Organization, on_delete=models.CASCADE)
    period = models.DateField(help_text="The first day of the month.")
    used = models.PositiveIntegerField(default=0)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["organization", "period"], name="monthly_usage_unique"),
        ]

    def __str__(self) -> str:
        return f"{self.organization_id} {self.period:%Y-%m}: {self.used}"
