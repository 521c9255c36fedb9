"""Migration operation that creates an index while the service runs."""

from __future__ import annotations

from typing import Any

from django.contrib.postgres import operations


class AddIndexConcurrently(operations.AddIndexConcurrently):
    """Django's operation, made repeatable: drops the invalid index that PostgreSQL leaves after an interrupted run.

    It lifts `lock_timeout`, and so waits for running transactions as long as they take: it blocks nobody meanwhile.
    """

    def database_forwards(self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any) -> None:
        with schema_editor.connection.cursor() as cursor:
            cursor.execute("SHOW lock_timeout")
            (before,) = cursor.fetchone()
        schema_editor.execute("SET lock_timeout = 0")
        try:
            schema_editor.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {schema_editor.quote_name(self.index.name)}")
            super().database_forwards(app_label, schema_editor, from_state, to_state)
        finally:
            schema_editor.execute(f"SET lock_timeout = '{before}'")
