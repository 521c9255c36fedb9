"""Tests that migrations have a lock timeout."""

from __future__ import annotations

import pytest
from django.apps import apps
from django.core.management import call_command
from django.db import connection
from django.db.models.signals import pre_migrate


@pytest.mark.django_db(transaction=True, serialized_rollback=True)
def test_migrate_sets_a_lock_timeout() -> None:
    timeouts: list[str] = []

    def record_timeout(**_: object) -> None:
        with connection.cursor() as cursor:
            cursor.execute("SHOW lock_timeout")
            timeouts.extend(cursor.fetchone())

    pre_migrate.connect(record_timeout, sender=apps.get_app_config("webhooks"))
    try:
        call_command("migrate", verbosity=0)
    finally:
        pre_migrate.disconnect(record_timeout, sender=apps.get_app_config("webhooks"))
    record_timeout()
    assert timeouts == ["5s", "0"]
