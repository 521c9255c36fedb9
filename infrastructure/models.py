"""Model for the maintenance switch, which operators set."""

from __future__ import annotations

from django.db import models
from django.utils import timezone


class MaintenanceSwitch(models.Model):
    """A change to maintenance mode.

    The newest row is the current state, and older rows are the history.
    """

    is_on = models.BooleanField()
    message = models.CharField(max_length=200, blank=True, help_text="Message for clients during maintenance.")
    actor_email = models.CharField(max_length=254, blank=True, help_text="Empty: from the command line.")
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ("-id",)

    def __str__(self) -> str:
        return f"{'on' if self.is_on else 'off'}, {self.actor_email or 'the command line'}"


def last_switches(count: int) -> list[MaintenanceSwitch]:
    """Return the last `count` changes to maintenance mode, newest first."""
    return list(MaintenanceSwitch.objects.all()[:count])


def switch_maintenance(*, is_on: bool, message: str = "", actor_email: str = "") -> MaintenanceSwitch:
    """Switch maintenance on or off.

    All processes apply the change within seconds (`infrastructure.maintenance`).
    """
    return MaintenanceSwitch.objects.create(is_on=is_on, message=message if is_on else "", actor_email=actor_email)
