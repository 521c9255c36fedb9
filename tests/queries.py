"""How often the database is asked."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

import psycopg


@contextmanager
def counted() -> Iterator[list[str]]:
    """The queries meanwhile: those of Django's cursors, and the prepared ones."""
    asked: list[str] = []
    execute = psycopg.Cursor.execute

    def noted(cursor: psycopg.Cursor[Any], query: str, *args: Any, **kwargs: Any) -> psycopg.Cursor[Any]:
        asked.append(query)
        return execute(cursor, query, *args, **kwargs)

    with mock.patch.object(psycopg.Cursor, "execute", noted):
        yield asked
