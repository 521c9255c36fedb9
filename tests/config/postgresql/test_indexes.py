"""Migrations on a database that serves meanwhile."""

from __future__ import annotations

import pytest
from django.db import connection, migrations
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader

from config.postgresql.indexes import AddIndexConcurrently

BEFORE, AFTER = ("webhooks", "0003_held"), ("webhooks", "0004_index_of_what_waits")
OURS = ("accounts", "config", "reports", "scans", "webhooks")


def migrate(*targets: tuple[str, str]) -> None:
    MigrationExecutor(connection).migrate(list(targets))


@pytest.mark.django_db(transaction=True, serialized_rollback=True)
def test_an_index_that_was_broken_off_is_made_anew_and_the_limit_on_waits_stays() -> None:
    with connection.cursor() as cursor:
        try:
            migrate(BEFORE)
            cursor.execute("CREATE INDEX delivery_waiting ON webhooks_delivery (id)")
            cursor.execute("UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'delivery_waiting'::regclass")
            cursor.execute("SET lock_timeout = '5s'")
        finally:
            migrate(*MigrationExecutor(connection).loader.graph.leaf_nodes())
        cursor.execute("SHOW lock_timeout")
        assert cursor.fetchone() == ("5s",)
        cursor.execute("RESET lock_timeout")
        cursor.execute("SELECT indisvalid FROM pg_index WHERE indexrelid = 'delivery_waiting'::regclass")
        assert cursor.fetchone() == (True,)


def test_no_index_of_a_table_that_is_there_stops_its_writers() -> None:
    stopping = set()
    for (app, name), migration in MigrationLoader(None).disk_migrations.items():
        if app not in OURS:
            continue
        made = {each.name.lower() for each in migration.operations if isinstance(each, migrations.CreateModel)}
        for each in migration.operations:
            is_of_old = isinstance(each, migrations.AddIndex) and each.model_name.lower() not in made
            if is_of_old and not isinstance(each, AddIndexConcurrently):
                stopping.add((app, name))
    assert stopping == {("webhooks", "0002_attempts")}  # which changes its table's rows anyway
