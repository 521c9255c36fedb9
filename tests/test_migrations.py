"""Migrations since the previous release are compatible with the previous release's code: docs/upgrades.md."""

from __future__ import annotations

import pytest
from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.operations.base import Operation

from infrastructure.postgresql.indexes import AddIndexConcurrently as AddOurIndexConcurrently
from infrastructure.postgresql.stored_json import ConvertJson
from tests.migrations import added_since, created_models, faults, flat
from tests.releases import needs_previous

# Permitted migrations that remove something that the previous release no longer uses: app.name, and since which
# release.
PERMITTED: dict[str, str] = {}


@needs_previous
def test_previous_release_works_after_every_new_migration() -> None:
    faults_by_migration = {}
    loader = MigrationLoader(None, ignore_no_migrations=True)
    added = {key: loader.disk_migrations[key].operations for key in added_since(loader)}
    created = {(app, model) for (app, _), operations in added.items() for model in created_models(operations)}
    for (app, name), operations in added.items():
        if f"{app}.{name}" not in PERMITTED:
            models_before = loader.project_state((app, name), at_end=False).models
            required = {
                (model, field.lower())
                for (label, model), state in models_before.items()
                for field, kind in state.fields.items()
                if label == app and not kind.null
            }
            faults_by_migration[f"{app}.{name}"] = list(
                faults(operations, {model for label, model in created if label == app}, required)
            )
    assert {name: faults for name, faults in faults_by_migration.items() if faults} == {}


@needs_previous
def test_interruptible_migrations_can_be_run_again() -> None:
    loader = MigrationLoader(None, ignore_no_migrations=True)
    new = [loader.disk_migrations[key] for key in added_since(loader)]
    not_repeatable = [
        (migration.name, operation.describe())
        for migration in new
        if not migration.atomic
        for operation in flat(migration.operations)
        if not is_repeatable(operation)
    ]
    assert not_repeatable == []


def is_repeatable(operation: Operation) -> bool:
    """Return True if an operation can be run again after it was applied completely or in part."""
    in_sql = isinstance(operation, migrations.RunSQL) and " EXISTS " in str(operation.sql)
    return in_sql or isinstance(operation, AddOurIndexConcurrently | ConvertJson)


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
    assert len(list(faults([NEW, operation], CREATED))) == 1


def test_field_that_was_always_written_may_stay_required() -> None:
    operation = migrations.AlterField("Scan", "note", models.TextField(help_text="What to say."))
    assert list(faults([operation], CREATED, {("scan", "note")})) == []


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
    assert list(faults([NEW, operation], CREATED)) == []
