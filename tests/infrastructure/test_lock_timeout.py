"""Lock timeout of migrations on a database in use."""

from __future__ import annotations

import pytest
from django.apps import apps
from django.core.management import call_command
from django.db import connection
from django.db.models.signals import pre_migrate


@pytest.mark.django_db(transaction=True, serialized_rollback=True)
def test_a_migration_waits_for_a_lock_for_a_short_time_only() -> None:
    shown: list[str] = []

    def show(**_: object) -> None:
        with connection.cursor() as cursor:
            cursor.execute("SHOW lock_timeout")
            shown.extend(cursor.fetchone())

    pre_migrate.connect(show, sender=apps.get_app_config("webhooks"))
    try:
        call_command("migrate", verbosity=0)
    finally:
        pre_migrate.disconnect(show, sender=apps.get_app_config("webhooks"))
    show()
    assert shown == ["5s", "0"]
