"""Count of database queries."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

import psycopg


@contextmanager
def counted() -> Iterator[list[str]]:
    """Collect the queries of the block: those of Django's cursors, and prepared statements."""
    asked: list[str] = []
    execute = psycopg.Cursor.execute

    def noted(cursor: psycopg.Cursor[Any], query: str, *args: Any, **kwargs: Any) -> psycopg.Cursor[Any]:
        asked.append(query)
        return execute(cursor, query, *args, **kwargs)

    with mock.patch.object(psycopg.Cursor, "execute", noted):
        yield asked
