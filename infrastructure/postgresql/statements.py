"""Queries that run with every request, as prepared statements: planned once a connection, not every time."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import psycopg
from django.db import connection


def fetch(sql: str, params: Mapping[str, Any]) -> list[tuple[Any, ...]]:
    """The rows of a query whose text never changes, with `%(name)s` for its values; raises Django's database errors."""
    connection.close_if_health_check_failed()
    connection.ensure_connection()
    # Django's own cursors write the values into the query, which leaves nothing to prepare.
    with connection.wrap_database_errors, psycopg.Cursor(connection.connection) as cursor:
        return cursor.execute(sql, params, prepare=True).fetchall()


def now() -> datetime:
    """The moment by PostgreSQL's clock: the one that all processes on all hosts share."""
    ((moment,),) = fetch("SELECT statement_timestamp()", {})
    assert isinstance(moment, datetime)
    return moment


def server_major() -> int:
    """PostgreSQL's major version, such as 18."""
    ((number,),) = fetch("SELECT current_setting('server_version_num')::int / 10000", {})
    return int(number)


def sql_timestamp(column: str) -> str:
    """An expression that writes a `timestamptz` column as the API writes moments; see `scanner.ids.timestamp`."""
    return f"""to_char({column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')"""
