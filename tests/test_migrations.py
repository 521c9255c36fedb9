"""Every migration since the previous release is compatible with the previous release's code: docs/upgrades.md."""

from __future__ import annotations

import pytest
from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.operations.base import Operation

from infrastructure.postgresql.indexes import AddIndexConcurrently as AddOurIndexConcurrently
from infrastructure.postgresql.stored_json import ConvertJson
from tests.migrations import added_since, faults, flat, made_by
from tests.releases import needs_previous

# Permitted migrations that remove something that the previous release no longer uses: app.name, and since when.
EXCUSED: dict[str, str] = {}


@needs_previous
def test_the_previous_release_stands_every_new_migration() -> None:
    found = {}
    loader = MigrationLoader(None, ignore_no_migrations=True)
    added = {key: loader.disk_migrations[key].operations for key in added_since(loader)}
    made = {(app, model) for (app, _), operations in added.items() for model in made_by(operations)}
    for (app, name), operations in added.items():
        if f"{app}.{name}" not in EXCUSED:
            models_before = loader.project_state((app, name), at_end=False).models
            required = {
                (model, field.lower())
                for (label, model), state in models_before.items()
                for field, kind in state.fields.items()
                if label == app and not kind.null
            }
            found[f"{app}.{name}"] = list(
                faults(operations, {model for label, model in made if label == app}, required)
            )
    assert {name: said for name, said in found.items() if said} == {}


@needs_previous
def test_a_migration_that_can_be_broken_off_halfway_can_be_run_again() -> None:
    loader = MigrationLoader(None, ignore_no_migrations=True)
    new = [loader.disk_migrations[key] for key in added_since(loader)]
    once = [
        (each.name, operation.describe())
        for each in new
        if not each.atomic
        for operation in flat(each.operations)
        if not is_repeatable(operation)
    ]
    assert once == []


def is_repeatable(operation: Operation) -> bool:
    """Return True if an operation can run again after it was applied completely or in part."""
    in_sql = isinstance(operation, migrations.RunSQL) and " EXISTS " in str(operation.sql)
    return in_sql or isinstance(operation, AddOurIndexConcurrently | ConvertJson)


NEW = migrations.CreateModel("New", [("id", models.BigAutoField(primary_key=True))])
MADE = made_by([NEW])
INDEX = models.Index(fields=["status"], name="by_status")
UNIQUE = models.UniqueConstraint(fields=["status"], name="one_status")


@pytest.mark.parametrize(
    "operation",
    [
        migrations.AddField("scan", "note", models.TextField()),
        migrations.AddField("scan", "note", models.TextField(default="")),  # Django drops it after the migration
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
def test_what_old_code_does_not_stand_is_found(operation: Operation) -> None:
    assert len(list(faults([NEW, operation], MADE))) == 1


def test_a_field_that_was_never_empty_may_stay_so() -> None:
    operation = migrations.AlterField("Scan", "note", models.TextField(help_text="What to say."))
    assert list(faults([operation], MADE, {("scan", "note")})) == []


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
def test_what_old_code_stands_is_left_alone(operation: Operation) -> None:
    assert list(faults([NEW, operation], MADE)) == []
