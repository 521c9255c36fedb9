"""Tests for migrations that add indexes to tables in use."""

from __future__ import annotations

import pytest
from django.db import connection, migrations, models
from django.db.migrations.loader import MigrationLoader

from infrastructure.postgresql.indexes import AddIndexConcurrently

APPS = ("accounts", "config", "reports", "scans", "webhooks")
NEW = AddIndexConcurrently("delivery", models.Index(fields=["status", "id"], name="delivery_by_status"))


@pytest.mark.django_db(transaction=True, serialized_rollback=True)
def test_invalid_index_is_rebuilt() -> None:
    before = MigrationLoader(connection).project_state()
    after = before.clone()
    NEW.state_forwards("webhooks", after)
    with connection.cursor() as cursor, connection.schema_editor(atomic=False) as editor:
        try:
            cursor.execute("CREATE INDEX delivery_by_status ON webhooks_delivery (id)")
            cursor.execute("UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'delivery_by_status'::regclass")
            cursor.execute("SET lock_timeout = '5s'")
            NEW.database_forwards("webhooks", editor, before, after)
            cursor.execute("SHOW lock_timeout")
            assert cursor.fetchone() == ("5s",)
            cursor.execute(
                "SELECT indisvalid, indnatts FROM pg_index WHERE indexrelid = 'delivery_by_status'::regclass"
            )
            assert cursor.fetchone() == (True, 2)
        finally:
            cursor.execute("RESET lock_timeout")
            cursor.execute("DROP INDEX IF EXISTS delivery_by_status")


def test_migrations_add_indexes_concurrently() -> None:
    blocking = set()
    for (app, name), migration in MigrationLoader(None).disk_migrations.items():
        if app not in APPS:
            continue
        operations = migration.operations
        new_models = {
            operation.name.lower() for operation in operations if isinstance(operation, migrations.CreateModel)
        }
        for operation in operations:
            is_on_old_table = (
                isinstance(operation, migrations.AddIndex) and operation.model_name.lower() not in new_models
            )
            if is_on_old_table and not isinstance(operation, AddIndexConcurrently):
                blocking.add((app, name))
    assert blocking == set()
