"""Detection of migration operations that are incompatible with the running code of the previous release."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Container, Iterable, Iterator

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.operations.base import Operation

from tests.releases import PREVIOUS, ROOT

REMOVES = (
    *(migrations.DeleteModel, migrations.RemoveField),
    *(migrations.RenameModel, migrations.RenameField, migrations.AlterModelTable),
)
# Statements in RunSQL that remove or rename something, add a constraint, or lock a table to build an index.
IN_SQL = re.compile(
    r"\b(DROP\s+(TABLE|COLUMN)|RENAME|SET\s+NOT\s+NULL|CREATE\s+(UNIQUE\s+)?INDEX\s+(?!CONCURRENTLY))", re.IGNORECASE
)


def added_since(loader: MigrationLoader) -> list[tuple[str, str]]:
    """Return the project's own migrations that the previous release does not have, by app and name."""
    ask = ["git", "ls-tree", "-r", "--name-only", PREVIOUS]
    old = set(subprocess.run(ask, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split())
    paths = {key: type(each).__module__.replace(".", "/") + ".py" for key, each in loader.disk_migrations.items()}
    return [key for key, path in paths.items() if (ROOT / path).exists() and path not in old]


def made_by(operations: Iterable[Operation]) -> set[str]:
    """Return the names of the models that the operations create."""
    return {each.name_lower for each in flat(operations) if isinstance(each, migrations.CreateModel)}


def faults(
    operations: Iterable[Operation], made: Container[str], required: Container[tuple[str, str]] = ()
) -> Iterator[str]:
    """Yield the operations on which old code would fail or wait, with the reason.

    `made`: models created by new migrations, whose tables old code does not use. `required`: fields, by model and name,
    to which old code always writes a value.
    """
    for operation in flat(operations):
        if isinstance(operation, migrations.CreateModel):
            continue
        name = str(getattr(operation, "model_name", getattr(operation, "name", ""))).lower()
        if isinstance(operation, migrations.AlterField) and (name, operation.name.lower()) in required:
            continue
        if name not in made and (fault := fault_of(operation)):
            yield f"{operation.describe()}: {fault}"


def flat(operations: Iterable[Operation]) -> Iterator[Operation]:
    """Yield the operations that reach the database: those inside SeparateDatabaseAndState, too."""
    for operation in operations:
        if isinstance(operation, migrations.SeparateDatabaseAndState):
            yield from flat(operation.database_operations)
        else:
            yield operation


def fault_of(operation: Operation) -> str | None:
    """Return the reason why an operation on a table in use is unsafe for an upgrade; None if it is safe."""
    if isinstance(operation, REMOVES):
        return "old code asks for what is gone"
    if isinstance(operation, migrations.AddField):
        return fault_of_field(operation.field)
    if isinstance(operation, migrations.AlterField):
        field = operation.field
        return "old code may write nothing here" if not field.null and not field.has_db_default() else None
    if isinstance(operation, AddIndexConcurrently):
        return None
    if isinstance(operation, migrations.AddIndex):
        return "the table cannot be written while the index is made"
    if isinstance(operation, migrations.AddConstraint) and isinstance(operation.constraint, models.UniqueConstraint):
        return "the table cannot be written while its index is made, and old code may break it"
    if isinstance(operation, migrations.RunSQL) and (found := IN_SQL.search(str(operation.sql))):
        return f"{found[1]} in SQL"
    return None


def fault_of_field(field: models.Field[object, object]) -> str | None:
    """Return the reason why a new field is unsafe, or None: old code inserts rows without the new column."""
    if field.many_to_many:
        return None
    if not field.null and not field.has_db_default():
        return "old code writes no value, and the column has neither db_default nor null"
    is_indexed: bool = field.db_index  # type: ignore[attr-defined]  # the stubs leave it out
    if is_indexed or field.unique:
        return "the table cannot be written while the column's index is made"
    return None
