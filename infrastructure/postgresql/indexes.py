"""Indexes that are made while the service runs."""

from __future__ import annotations

from typing import Any

from django.contrib.postgres import operations


class AddIndexConcurrently(operations.AddIndexConcurrently):
    """Django's, which can be run again after it was broken off: PostgreSQL then leaves an index that is not valid.

    It waits for transactions that are under way as long as they take: nobody waits for it meanwhile.
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
