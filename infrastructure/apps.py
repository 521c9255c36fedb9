"""Django app `infrastructure`. Its only table is the maintenance switch."""

from __future__ import annotations

from typing import Any

from django.apps import AppConfig
from django.db import connections
from django.db.models.signals import post_migrate, pre_migrate

# While a migration waits for a table's lock, all later queries on the table wait behind it. So the migration should
# fail soon, and be run again.
LOCK_TIMEOUT_S = 5


class InfrastructureConfig(AppConfig):
    """App configuration; sets PostgreSQL's `lock_timeout` for migrations."""

    name = "infrastructure"

    def ready(self) -> None:
        """Set `lock_timeout` before migrations, and reset it after them."""
        pre_migrate.connect(_limit_waits, sender=self)
        post_migrate.connect(_lift_limit, sender=self)


def _limit_waits(using: str, **_: Any) -> None:
    with connections[using].cursor() as cursor:
        cursor.execute("SELECT set_config('lock_timeout', %s, false)", [f"{LOCK_TIMEOUT_S}s"])


def _lift_limit(using: str, **_: Any) -> None:
    with connections[using].cursor() as cursor:
        cursor.execute("RESET lock_timeout")
