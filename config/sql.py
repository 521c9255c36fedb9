"""Queries that run with every request, as prepared statements: planned once a connection, not every time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from django.db import connection

if TYPE_CHECKING:
    from config.postgresql.base import DatabaseWrapper


def fetch(sql: str, params: Mapping[str, Any]) -> list[tuple[Any, ...]]:
    """The rows of a query whose text never changes; raises Django's database errors."""
    with connection.wrap_database_errors:
        cursor = cast("DatabaseWrapper", connection).prepared_cursor()
        return cursor.execute(sql, params, prepare=True).fetchall()


def sql_timestamp(column: str) -> str:
    """An expression that writes a `timestamptz` column as the API writes moments; see `config.ids.timestamp`."""
    return f"""to_char({column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')"""
