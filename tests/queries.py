"""Helpers that collect queries or count the rows a query reads."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from unittest import mock

import psycopg
from django.db import connection


@contextmanager
def counted() -> Iterator[list[str]]:
    """Collect the database queries in a block.

    They come from Django cursors and from prepared statements.
    """
    queries: list[str] = []
    execute = psycopg.Cursor.execute

    def recording_execute(cursor: psycopg.Cursor[Any], query: str, *args: Any, **kwargs: Any) -> psycopg.Cursor[Any]:
        queries.append(query)
        return execute(cursor, query, *args, **kwargs)

    with mock.patch.object(psycopg.Cursor, "execute", recording_execute):
        yield queries


def explained(sql: str, parameters: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Run a query and return the nodes of its plan.

    EXPLAIN ANALYZE reports them.
    """
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {sql}", parameters)
        ((output,),) = cursor.fetchall()
    (plan,) = output if isinstance(output, list) else json.loads(output)
    return list(_nodes(plan["Plan"]))


def rows_read(plan: list[dict[str, Any]]) -> float:
    """Return how many rows a query plan has read.

    Filtered rows are included.
    """

    def rows_of_node(node: dict[str, Any]) -> float:
        filtered_out = sum(node.get(f"Rows Removed by {name}", 0) for name in ("Filter", "Join Filter"))
        return float((node["Actual Rows"] + filtered_out) * node["Actual Loops"])

    return sum(map(rows_of_node, plan))


def _nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for child in plan.get("Plans", ()):
        yield from _nodes(child)
