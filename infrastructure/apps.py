"""The app of the ground: its table is the maintenance switch."""

from __future__ import annotations

from typing import Any

from django.apps import AppConfig
from django.db import connections
from django.db.models.signals import post_migrate, pre_migrate

# A migration that waits for a table lets nobody else at it. Better that it fails, and is run again.
LOCK_TIMEOUT_S = 5


class InfrastructureConfig(AppConfig):
    """Limits how long migrations wait for locks."""

    name = "infrastructure"

    def ready(self) -> None:
        """Have migrations wait for locks a short time only."""
        pre_migrate.connect(_limit_waits, sender=self)
        post_migrate.connect(_lift_limit, sender=self)


def _limit_waits(using: str, **_: Any) -> None:
    with connections[using].cursor() as cursor:
        cursor.execute("SELECT set_config('lock_timeout', %s, false)", [f"{LOCK_TIMEOUT_S}s"])


def _lift_limit(using: str, **_: Any) -> None:
    with connections[using].cursor() as cursor:
        cursor.execute("RESET lock_timeout")
