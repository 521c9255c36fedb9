"""Find migration operations that break the previous release.

Its code may still be running during the migration.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Container, Iterable, Iterator

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.operations.base import Operation

from tests.releases import PREVIOUS, ROOT

REMOVING_OPERATIONS = (
    *(migrations.DeleteModel, migrations.RemoveField),
    *(migrations.RenameModel, migrations.RenameField, migrations.AlterModelTable),
)
# These SQL statements break running code or lock a table.
UNSAFE_SQL = re.compile(
    r"\b(DROP\s+(TABLE|COLUMN)|RENAME|SET\s+NOT\s+NULL|CREATE\s+(UNIQUE\s+)?INDEX\s+(?!CONCURRENTLY))", re.IGNORECASE
)


def migrations_since(loader: MigrationLoader) -> list[tuple[str, str]]:
    """Return the migrations since the previous release, by app and name."""
    command = ["git", "ls-tree", "-r", "--name-only", PREVIOUS]
    old_paths = set(subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split())
    paths = {
        key: type(migration).__module__.replace(".", "/") + ".py" for key, migration in loader.disk_migrations.items()
    }
    return [key for key, path in paths.items() if (ROOT / path).exists() and path not in old_paths]


def created_models(operations: Iterable[Operation]) -> set[str]:
    """Return the names of the models that the operations create."""
    return {
        operation.name_lower
        for operation in database_operations(operations)
        if isinstance(operation, migrations.CreateModel)
    }


def unsafe_operations(
    operations: Iterable[Operation], made: Container[str], required: Container[tuple[str, str]] = ()
) -> Iterator[str]:
    """Yield the operations that break old code, with reasons.

    It would fail or wait during them.

    `made` has the models that new migrations create, whose tables old code does not use. `required` has the fields, by
    model and name, to which old code always writes a value.
    """
    for operation in database_operations(operations):
        if isinstance(operation, migrations.CreateModel):
            continue
        name = str(getattr(operation, "model_name", getattr(operation, "name", ""))).lower()
        if isinstance(operation, migrations.AlterField) and (name, operation.name.lower()) in required:
            continue
        if name not in made and (fault := reason_if_unsafe(operation)):
            yield f"{operation.describe()}: {fault}"


def database_operations(operations: Iterable[Operation]) -> Iterator[Operation]:
    """Yield the operations that change the database.

    Those inside SeparateDatabaseAndState are included.
    """
    for operation in operations:
        if isinstance(operation, migrations.SeparateDatabaseAndState):
            yield from database_operations(operation.database_operations)
        else:
            yield operation


def reason_if_unsafe(operation: Operation) -> str | None:
    """Return why an operation on a used table is unsafe, or None.

    Old code runs during an upgrade.
    """
    if isinstance(operation, REMOVING_OPERATIONS):
        return "old code asks for what is gone"
    if isinstance(operation, migrations.AddField):
        return reason_if_field_is_unsafe(operation.field)
    if isinstance(operation, migrations.AlterField):
        field = operation.field
        return "old code may write nothing here" if not field.null and not field.has_db_default() else None
    if isinstance(operation, AddIndexConcurrently):
        return None
    if isinstance(operation, migrations.AddIndex):
        return "the table cannot be written while the index is made"
    if isinstance(operation, migrations.AddConstraint) and isinstance(operation.constraint, models.UniqueConstraint):
        return "the table cannot be written while its index is made, and old code may break it"
    if isinstance(operation, migrations.RunSQL) and (match := UNSAFE_SQL.search(str(operation.sql))):
        return f"{match[1]} in SQL"
    return None


def reason_if_field_is_unsafe(field: models.Field[object, object]) -> str | None:
    """Return why a new field is unsafe, or None.

    Old code inserts rows without the new column.
    """
    if field.many_to_many:
        return None
    if not field.null and not field.has_db_default():
        return "old code writes no value, and the column has neither db_default nor null"
    is_indexed: bool = field.db_index  # type: ignore[attr-defined]  # Django's stubs lack the attribute.
    if is_indexed or field.unique:
        return "the table cannot be written while the column's index is made"
    return None
