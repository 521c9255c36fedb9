"""Migration operation that creates an index while the service runs."""

from __future__ import annotations

from typing import Any

from django.contrib.postgres import operations


class AddIndexConcurrently(operations.AddIndexConcurrently):
    """Django's AddIndexConcurrently, made repeatable.

    Drops the invalid index that an interrupted run leaves behind.

    The operation disables `lock_timeout`, because it waits for running transactions and blocks no queries meanwhile.
    """

    def database_forwards(self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any) -> None:
        with schema_editor.connection.cursor() as cursor:
            cursor.execute("SHOW lock_timeout")
            (lock_timeout,) = cursor.fetchone()
        schema_editor.execute("SET lock_timeout = 0")
        try:
            schema_editor.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {schema_editor.quote_name(self.index.name)}")
            super().database_forwards(app_label, schema_editor, from_state, to_state)
        finally:
            schema_editor.execute(f"SET lock_timeout = '{lock_timeout}'")
