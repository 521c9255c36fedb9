"""Prepared statements for frequent queries, which PostgreSQL plans only once per connection."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from typing import Any

import psycopg
from django.db import connection


def fetch(sql: str, params: Mapping[str, Any]) -> list[tuple[Any, ...]]:
    """Return a query's rows.

    Its SQL text must be constant, with `%(name)s` parameters.

    Raises Django's database errors.
    """
    with _cursor() as cursor:
        return cursor.execute(sql, params, prepare=True).fetchall()


def execute(sql: str, params: Mapping[str, Any]) -> int:
    """Run a prepared statement that returns no rows.

    Return how many rows were affected.

    Values are sent separately from the SQL text, so long values need no quoting, escaping and parsing.
    """
    with _cursor() as cursor:
        return cursor.execute(sql, params, prepare=True).rowcount


@contextmanager
def _cursor() -> Iterator[psycopg.Cursor[tuple[Any, ...]]]:
    connection.close_if_health_check_failed()
    connection.ensure_connection()
    # Django's own cursors put values into the SQL text, which then cannot be prepared.
    with connection.wrap_database_errors, psycopg.Cursor(connection.connection) as cursor:
        yield cursor


def now() -> datetime:
    """Return the time on PostgreSQL's clock, which is the same for all hosts."""
    ((moment,),) = fetch("SELECT statement_timestamp()", {})
    assert isinstance(moment, datetime)
    return moment


def server_major() -> int:
    """Return PostgreSQL's major version, such as 18."""
    ((number,),) = fetch("SELECT current_setting('server_version_num')::int / 10000", {})
    return int(number)


def sql_timestamp(column: str) -> str:
    """Return an SQL expression that formats a `timestamptz` column as in the API (`website_scan.timestamps`)."""
    return f"""to_char({column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')"""
