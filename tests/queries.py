"""How often the database is asked."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from django.db import connection


@contextmanager
def counted() -> Iterator[list[str]]:
    """The queries meanwhile: those of Django's cursors, and the prepared ones, which go round them."""
    asked: list[str] = []
    prepared = connection.fetch_prepared

    def noted(sql: str, params: Any) -> list[tuple[Any, ...]]:
        asked.append(sql)
        return prepared(sql, params)

    def wrapped(execute: Callable[..., Any], sql: str, *rest: Any) -> Any:
        asked.append(sql)
        return execute(sql, *rest)

    connection.fetch_prepared = noted
    try:
        with connection.execute_wrapper(wrapped):
            yield asked
    finally:
        connection.fetch_prepared = prepared
