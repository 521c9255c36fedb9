"""Model of a person's quiet hours."""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db import models

from accounts.models.organizations import User


class QuietHours(models.Model):
    """Local times of day when a person gets no alerts.

    Quiet hours that end at or before their start last until the next day. `days` are the ISO weekdays on which they
    start.
    """

    user = models.OneToOneField(User, on_delete=models.CASCADE, primary_key=True, related_name="quiet_hours")
    start = models.TimeField()
    end = models.TimeField()
    days = ArrayField(models.PositiveSmallIntegerField())
    timezone = models.CharField(max_length=64)
    allows_critical = models.BooleanField(default=True, help_text="Critical alerts at any time.")

    class Meta:
        verbose_name_plural = "quiet hours"

    def __str__(self) -> str:
        return f"{self.user_id}: {self.start:%H:%M} to {self.end:%H:%M} {self.timezone}"
