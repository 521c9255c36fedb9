"""Migration operation that converts the JSON in a column while the service runs."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from django.db import router, transaction
from django.db.migrations.operations.base import Operation

ROWS_AT_ONCE = 100
# Function that changes a JSON document in place, and returns False if the document needs no change.
Convert = Callable[[Any], bool]


class ConvertJson(Operation):
    """Migration operation that converts JSON in a `text` or `jsonb` column, a hundred rows per transaction.

    For migrations with `atomic = False`: no row is locked for long, and an interrupted run can be repeated.
    `backwards` reverts the conversion. `source` is an SQL expression that is read instead of the column.
    """

    reduces_to_sql = False
    reversible = True

    def __init__(
        self, table: str, column: str, type: str, forwards: Convert, backwards: Convert, *, source: str = ""
    ) -> None:
        self.table, self.column, self.type = table, column, type
        self.forwards, self.backwards = forwards, backwards
        self.source = source or column

    def state_forwards(self, app_label: str, state: Any) -> None:
        """Change nothing, because the column's type and name remain."""

    def database_forwards(self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any) -> None:  # noqa: ARG002
        self._convert(schema_editor.connection, app_label, self.forwards)

    def database_backwards(self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any) -> None:  # noqa: ARG002
        self._convert(schema_editor.connection, app_label, self.backwards)

    def describe(self) -> str:
        return f"Convert {self.column} of {self.table}"

    def _convert(self, connection: Any, app_label: str, convert: Convert) -> None:
        if not router.allow_migrate(connection.alias, app_label):
            return
        write = f"UPDATE {self.table} SET {self.column} = %s::{self.type} WHERE id = %s"  # noqa: S608 -- no user input
        last = None
        while True:
            after = "" if last is None else "WHERE id > %s"
            read = f"SELECT id, ({self.source})::text FROM {self.table} {after} ORDER BY id LIMIT %s FOR UPDATE"  # noqa: S608
            with transaction.atomic(using=connection.alias), connection.cursor() as cursor:
                cursor.execute(read, [ROWS_AT_ONCE] if last is None else [last, ROWS_AT_ONCE])
                rows = cursor.fetchall()
                documents = [(json.loads(text), id) for id, text in rows]
                changed = [(_text(document), id) for document, id in documents if document and convert(document)]
                if changed:
                    cursor.executemany(write, changed)
            if not rows:
                return
            last = rows[-1][0]


def _text(document: object) -> str:
    """Return a JSON document as text, formatted as in `reports.build`."""
    return json.dumps(document, ensure_ascii=False, separators=(",", ":"))
