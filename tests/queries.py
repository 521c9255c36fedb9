"""Count of database queries, and what PostgreSQL reads for one."""

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
    """Collect the queries of the block: those of Django's cursors, and prepared statements."""
    asked: list[str] = []
    execute = psycopg.Cursor.execute

    def noted(cursor: psycopg.Cursor[Any], query: str, *args: Any, **kwargs: Any) -> psycopg.Cursor[Any]:
        asked.append(query)
        return execute(cursor, query, *args, **kwargs)

    with mock.patch.object(psycopg.Cursor, "execute", noted):
        yield asked


def explained(sql: str, parameters: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Run a query, and return the nodes of its plan with their figures."""
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {sql}", parameters)
        ((found,),) = cursor.fetchall()
    (plan,) = found if isinstance(found, list) else json.loads(found)
    return list(_nodes(plan["Plan"]))


def rows_read(plan: list[dict[str, Any]]) -> float:
    """Return the rows that the nodes of a plan have read, those that they left out as well."""

    def of_one(node: dict[str, Any]) -> float:
        left_out = sum(node.get(f"Rows Removed by {each}", 0) for each in ("Filter", "Join Filter"))
        return float((node["Actual Rows"] + left_out) * node["Actual Loops"])

    return sum(map(of_one, plan))


def _nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for each in plan.get("Plans", ()):
        yield from _nodes(each)
