"""Model for the name and logo on an organization's shared reports and prints."""

from __future__ import annotations

from django.db import models

from accounts.addresses import without_addresses
from accounts.models.organizations import Organization
from website_scan.ids import new_id


def new_logo_id() -> str:
    """Return a new ID for a logo. A changed logo gets another one, because browsers cache its address for a year."""
    return new_id("logo")


class Branding(models.Model):
    """Name and logo on an organization's shared reports and prints.

    The table is separate, so that queries for organizations do not load pictures. `logo` is a WebP picture.
    """

    organization = models.OneToOneField(Organization, on_delete=models.CASCADE)
    name = models.CharField(max_length=100, blank=True, validators=[without_addresses])
    logo = models.BinaryField(null=True)
    # NULL without a logo, because the column is unique.
    logo_id = models.CharField(max_length=40, null=True, unique=True, editable=False)  # noqa: DJ001
    logo_width = models.PositiveSmallIntegerField(default=0)
    logo_height = models.PositiveSmallIntegerField(default=0)

    def __str__(self) -> str:
        return self.name or f"logo of {self.organization}"
