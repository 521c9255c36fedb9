"""Model of maintenance windows."""

from __future__ import annotations

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils import timezone

from accounts.models import Organization
from website_scan.ids import new_id

MAX_WINDOW_NAME_LENGTH = 100


def new_window_id() -> str:
    return new_id("mnt")


class MaintenanceWindow(models.Model):
    """Time in which monitors send no alerts.

    It applies to monitors by ID and to those of pages on `sites`, or to the whole organization if both are empty. A
    weekly window repeats at the same local time.
    """

    id = models.CharField(primary_key=True, max_length=40, default=new_window_id, editable=False)
    organization = models.ForeignKey(Organization, on_delete=models.CASCADE, related_name="maintenance_windows")
    created_at = models.DateTimeField(default=timezone.now)
    name = models.CharField(max_length=MAX_WINDOW_NAME_LENGTH)
    starts_at = models.DateTimeField()
    ends_at = models.DateTimeField()
    is_weekly = models.BooleanField(default=False)
    timezone = models.CharField(max_length=64, default="UTC")
    monitors = ArrayField(models.CharField(max_length=40), default=list, blank=True)
    sites = ArrayField(models.CharField(max_length=300), default=list, blank=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, db_index=False
    )

    class Meta:
        ordering = ("starts_at", "id")

    def __str__(self) -> str:
        return f"{self.id} ({self.name})"
