"""Django app `infrastructure`. Its only table is the maintenance switch."""

from __future__ import annotations

from typing import Any

from django.apps import AppConfig
from django.db import connections
from django.db.models.signals import post_migrate, pre_migrate

# While a migration waits for a table's lock, all later queries on the table wait behind the migration. So the migration
# fails after this time, and is run again.
LOCK_TIMEOUT_S = 5


class InfrastructureConfig(AppConfig):
    """App configuration that sets PostgreSQL's `lock_timeout` during migrations."""

    name = "infrastructure"

    def ready(self) -> None:
        """Set `lock_timeout` before migrations, and reset it after them."""
        pre_migrate.connect(_set_lock_timeout, sender=self)
        post_migrate.connect(_reset_lock_timeout, sender=self)


def _set_lock_timeout(using: str, **_: Any) -> None:
    with connections[using].cursor() as cursor:
        cursor.execute("SELECT set_config('lock_timeout', %s, false)", [f"{LOCK_TIMEOUT_S}s"])


def _reset_lock_timeout(using: str, **_: Any) -> None:
    with connections[using].cursor() as cursor:
        cursor.execute("RESET lock_timeout")
