"""Queries that run with every request, as prepared statements: planned once a connection, not every time."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, cast

from django.db import connection

if TYPE_CHECKING:
    from config.postgresql.base import DatabaseWrapper

_PLACEHOLDER = re.compile(r"%\((\w+)\)s|%%")


def fetch(sql: str, params: Mapping[str, Any]) -> list[tuple[Any, ...]]:
    """The rows of a query whose text never changes; raises Django's database errors.

    Placeholders are `%(name)s`; their values str, int, date, datetime or None.
    """
    text, names = _numbered(sql)
    with connection.wrap_database_errors:
        return cast("DatabaseWrapper", connection).fetch_prepared(text, [_as_text(params[name]) for name in names])


@lru_cache
def _numbered(sql: str) -> tuple[str, tuple[str, ...]]:
    """The query as PostgreSQL wants it, with $1, $2, …, and the names in that order."""
    names: list[str] = []

    def number(match: re.Match[str]) -> str:
        name = match[1]
        if name is None:
            return "%"
        if name not in names:
            names.append(name)
        return f"${names.index(name) + 1}"

    return _PLACEHOLDER.sub(number, sql), tuple(names)


def _as_text(value: Any) -> bytes | None:
    """A value in PostgreSQL's text format, whose type the statement knows."""
    if value is None:
        return None
    text = str(value).encode()
    if b"\0" in text:  # it would end the value there
        raise ValueError("PostgreSQL's text cannot hold a NUL")
    return text


def sql_timestamp(column: str) -> str:
    """An expression that writes a `timestamptz` column as the API writes moments; see `config.ids.timestamp`."""
    return f"""to_char({column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')"""
