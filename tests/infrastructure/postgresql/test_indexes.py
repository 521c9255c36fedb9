"""Index migrations on a database in use."""

from __future__ import annotations

import pytest
from django.db import connection, migrations, models
from django.db.migrations.loader import MigrationLoader

from infrastructure.postgresql.indexes import AddIndexConcurrently

OURS = ("accounts", "config", "reports", "scans", "webhooks")
NEW = AddIndexConcurrently("delivery", models.Index(fields=["status", "id"], name="delivery_by_status"))


@pytest.mark.django_db(transaction=True, serialized_rollback=True)
def test_an_index_that_was_broken_off_is_made_anew_and_the_limit_on_waits_stays() -> None:
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
    assert stopping == set()
