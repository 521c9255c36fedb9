"""The maintenance switch, as operators have set it."""

from __future__ import annotations

from django.db import models
from django.utils import timezone


class MaintenanceSwitch(models.Model):
    """Maintenance was switched on or off. The newest row holds, the others are the log."""

    is_on = models.BooleanField()
    message = models.CharField(max_length=200, blank=True, help_text="What clients are told meanwhile.")
    actor_email = models.CharField(max_length=254, blank=True, help_text="Empty: from the command line.")
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ("-id",)

    def __str__(self) -> str:
        return f"{'on' if self.is_on else 'off'}, {self.actor_email or 'the command line'}"


def last_switches(count: int) -> list[MaintenanceSwitch]:
    """The last ones, newest first."""
    return list(MaintenanceSwitch.objects.all()[:count])


def switch_maintenance(*, is_on: bool, message: str = "", actor_email: str = "") -> MaintenanceSwitch:
    """Switch it for every process of the service; they follow within seconds (`infrastructure.maintenance`)."""
    return MaintenanceSwitch.objects.create(is_on=is_on, message=message if is_on else "", actor_email=actor_email)
