"""Tests that new migrations work with the previous release.

docs/upgrades.md has the rules.
"""

from __future__ import annotations

import pytest
from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.operations.base import Operation

from infrastructure.postgresql.indexes import AddIndexConcurrently as AddOurIndexConcurrently
from infrastructure.postgresql.stored_json import ConvertJson
from tests.migrations import created_models, database_operations, migrations_since, unsafe_operations
from tests.releases import needs_previous

# Permitted removals by app.name, with the release that stopped using what they remove.
PERMITTED: dict[str, str] = {}


@needs_previous
def test_previous_release_survives_migrations() -> None:
    faults_by_migration = {}
    loader = MigrationLoader(None, ignore_no_migrations=True)
    added = {key: loader.disk_migrations[key].operations for key in migrations_since(loader)}
    created = {(app, model) for (app, _), operations in added.items() for model in created_models(operations)}
    for (app, name), operations in added.items():
        if f"{app}.{name}" not in PERMITTED:
            existing_models = loader.project_state((app, name), at_end=False).models
            required = {
                (model, field.lower())
                for (label, model), state in existing_models.items()
                for field, kind in state.fields.items()
                if label == app and not kind.null
            }
            faults_by_migration[f"{app}.{name}"] = list(
                unsafe_operations(operations, {model for label, model in created if label == app}, required)
            )
    assert {
        name: unsafe_operations for name, unsafe_operations in faults_by_migration.items() if unsafe_operations
    } == {}


@needs_previous
def test_interrupted_migrations_can_run_again() -> None:
    loader = MigrationLoader(None, ignore_no_migrations=True)
    new = [loader.disk_migrations[key] for key in migrations_since(loader)]
    unrepeatable_operations = [
        (migration.name, operation.describe())
        for migration in new
        if not migration.atomic
        for operation in database_operations(migration.operations)
        if not is_repeatable(operation)
    ]
    assert unrepeatable_operations == []


def is_repeatable(operation: Operation) -> bool:
    """Return True if an operation can be run again.

    It may have been applied completely or in part.
    """
    is_repeatable_sql = isinstance(operation, migrations.RunSQL) and " EXISTS " in str(operation.sql)
    return is_repeatable_sql or isinstance(operation, AddOurIndexConcurrently | ConvertJson)


NEW = migrations.CreateModel("New", [("id", models.BigAutoField(primary_key=True))])
CREATED = created_models([NEW])
INDEX = models.Index(fields=["status"], name="by_status")
UNIQUE = models.UniqueConstraint(fields=["status"], name="one_status")


@pytest.mark.parametrize(
    "operation",
    [
        migrations.AddField("scan", "note", models.TextField()),
        # Django drops the default after the migration.
        migrations.AddField("scan", "note", models.TextField(default="")),
        migrations.AddField("scan", "note", models.TextField(null=True, db_index=True)),
        migrations.AddField("scan", "note", models.TextField(null=True, unique=True)),
        migrations.AlterField("scan", "note", models.TextField()),
        migrations.RemoveField("scan", "note"),
        migrations.RenameField("scan", "note", "remark"),
        migrations.RenameModel("Scan", "Visit"),
        migrations.DeleteModel("Scan"),
        migrations.AlterModelTable("scan", "scans"),
        migrations.AddIndex("scan", INDEX),
        migrations.AddConstraint("scan", UNIQUE),
        migrations.RunSQL("ALTER TABLE scans_scan DROP COLUMN note"),
        migrations.RunSQL("CREATE UNIQUE INDEX one ON scans_scan (status)"),
        migrations.SeparateDatabaseAndState([migrations.RemoveField("scan", "note")]),
    ],
    ids=lambda operation: operation.describe()[:60],
)
def test_unsafe_operation_is_detected(operation: Operation) -> None:
    assert len(list(unsafe_operations([NEW, operation], CREATED))) == 1


def test_always_written_field_may_be_required() -> None:
    operation = migrations.AlterField("Scan", "note", models.TextField(help_text="What to say."))
    assert list(unsafe_operations([operation], CREATED, {("scan", "note")})) == []


@pytest.mark.parametrize(
    "operation",
    [
        migrations.AddField("scan", "note", models.TextField(null=True)),
        migrations.AddField("scan", "note", models.TextField(db_default="")),
        migrations.AddField("scan", "notes", models.ManyToManyField("scans.Note")),
        migrations.AlterField("scan", "note", models.TextField(null=True)),
        AddIndexConcurrently("scan", INDEX),
        migrations.RunSQL("CREATE INDEX CONCURRENTLY IF NOT EXISTS one ON scans_scan (status)"),
        migrations.SeparateDatabaseAndState(state_operations=[migrations.RemoveField("scan", "note")]),
        migrations.AddField("new", "note", models.TextField(unique=True)),
        migrations.AddIndex("new", INDEX),
        migrations.AddConstraint("new", UNIQUE),
    ],
    ids=lambda operation: operation.describe()[:60],
)
def test_safe_operation_is_accepted(operation: Operation) -> None:
    assert list(unsafe_operations([NEW, operation], CREATED)) == []
