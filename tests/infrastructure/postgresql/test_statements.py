"""Tests that prepared statements agree with Django's cursors.

They have the same results and errors.
"""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest
from django.db import DataError, OperationalError, connection, connections, transaction

from infrastructure.postgresql import statements
from infrastructure.postgresql.statements import execute, fetch


@pytest.mark.django_db
def test_fetch_passes_typed_parameters() -> None:
    moment = datetime(2026, 2, 28, 23, 59, 59, 120_000, tzinfo=UTC)
    sql = """SELECT %(text)s::text, %(number)s::bigint, %(day)s::date, %(moment)s::timestamptz, %(none)s::text,
        %(text)s::text LIKE '100%%'"""
    values = {"text": "100 % 'quoted' \\ ü", "number": -7, "day": date(2026, 2, 28), "moment": moment, "none": None}
    assert fetch(sql, values) == [("100 % 'quoted' \\ ü", -7, date(2026, 2, 28), moment, None, True)]


@pytest.mark.django_db
def test_fetch_prepares_a_statement_once() -> None:
    for number in range(3):
        assert fetch("SELECT %(number)s::int + 1 AS once", {"number": number}) == [(number + 1,)]
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_prepared_statements WHERE statement LIKE '%%AS once'")
        assert cursor.fetchone() == (1,)


@pytest.mark.django_db
def test_execute_returns_number_of_rows() -> None:
    with connection.cursor() as cursor:
        cursor.execute("CREATE TEMPORARY TABLE noted (text text) ON COMMIT DROP")
    insert = "INSERT INTO noted SELECT %(text)s FROM generate_series(1, %(rows)s)"
    assert execute(insert, {"text": "100 % 'quoted' \\ ü", "rows": 2}) == 2
    assert fetch("SELECT DISTINCT text FROM noted", {}) == [("100 % 'quoted' \\ ü",)]


@pytest.mark.django_db
def test_NUL_in_parameter_raises_DataError() -> None:
    with pytest.raises(DataError, match="NUL"), transaction.atomic():
        fetch("SELECT %(text)s::text", {"text": "before\0after"})


@pytest.mark.django_db
def test_invalid_value_raises_DataError() -> None:
    with pytest.raises(DataError, match="out of range"), transaction.atomic():
        fetch("SELECT %(number)s::bigint", {"number": 10**30})
    assert fetch("SELECT %(number)s::bigint", {"number": 7}) == [(7,)]


@pytest.mark.django_db
def test_terminated_connection_is_replaced(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    wrapper = connections.create_connection("default")
    monkeypatch.setattr(statements, "connection", wrapper)
    try:
        ((backend,),) = fetch("SELECT pg_backend_pid()", {})
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_terminate_backend(%s, 5000)", [backend])
        with pytest.raises(OperationalError):
            fetch("SELECT pg_backend_pid()", {})
        wrapper.close_if_unusable_or_obsolete()  # Django calls this method between two requests.
        ((after,),) = fetch("SELECT pg_backend_pid()", {})
        assert after != backend
    finally:
        wrapper.close()
