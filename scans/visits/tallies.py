"""Tallies of finished scans: numbers, waits, durations and processor time. They never decrease, even if rows are
deleted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.db import connection

from infrastructure.postgresql.statements import execute, fetch
from scans.models import Scan

# Upper bounds of the histogram buckets in seconds.
WAITED_S = (0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 900.0, 3600.0)
DURATION_S = (0.5, 1.0, 2.0, 5.0, 10.0, 15.0, 20.0, 30.0, 45.0, 60.0, 90.0)
CPU_S = (0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)

# Maximum number of rows in one statement. The sweeper runs again after 15 seconds.
BATCH = 10_000


def _ms(begin: str, end: str) -> str:
    """Return SQL for the milliseconds between two columns, NULL if one is NULL. At least 0: clocks differ."""
    milliseconds = f"round(1000 * extract(epoch FROM {end} - {begin}))"
    return f"CASE WHEN {milliseconds} < 0 THEN 0 ELSE {milliseconds} END"


RECORD = f"""
    INSERT INTO scans_endedscan (type, status, error_code, is_background, waited_ms, duration_ms, cpu_ms)
    SELECT type, status, error_code, is_background,
        {_ms("created_at", "started_at")}, {_ms("started_at", "completed_at")}, %(cpu_ms)s::bigint
    FROM scans_scan WHERE id = ANY(%(scans)s::text[])
"""  # noqa: S608  # of constants

CLASS = "CASE WHEN is_background THEN 'background' ELSE 'interactive' END"


def _facts(source: str) -> str:
    """Return SQL for rows (name, labels, value) that count the rows of `source`: histograms have buckets and a sum."""
    queries = [
        f"SELECT 'ended' AS name, ARRAY[type, status, error_code, {CLASS}]::varchar[] AS labels, 1::bigint AS value"  # noqa: S608  # of constants
        f" FROM {source}"
    ]
    for name, column, label, bounds in (
        ("waited", "waited_ms", CLASS, WAITED_S),
        ("duration", "duration_ms", "type", DURATION_S),
        ("cpu", "cpu_ms", "type", CPU_S),
    ):
        cases = " ".join(f"WHEN {column} <= {round(bound * 1000)} THEN '{bound}'" for bound in bounds)
        from_where = f"FROM {source} WHERE {column} IS NOT NULL"
        queries.append(f"SELECT '{name}', ARRAY[{label}, CASE {cases} ELSE '+Inf' END]::varchar[], 1 {from_where}")
        queries.append(f"SELECT '{name}_sum', ARRAY[{label}]::varchar[], {column} {from_where}")
    return " UNION ALL ".join(queries)


ADD = f"""
    WITH ended AS (
        DELETE FROM scans_endedscan WHERE id IN (
            SELECT id FROM scans_endedscan ORDER BY id LIMIT {BATCH} FOR UPDATE SKIP LOCKED
        ) RETURNING *
    )
    INSERT INTO scans_scantally AS tally (name, labels, value)
    SELECT name, labels, sum(value) FROM ({_facts("ended")}) AS facts GROUP BY name, labels ORDER BY name, labels
    ON CONFLICT (name, labels) DO UPDATE SET value = tally.value + excluded.value
"""  # noqa: S608  # of constants

# One statement reads both tables, so that rows which are being moved between them are counted once.
TALLIES = f"""
    SELECT name, labels, sum(value)::bigint FROM (
        SELECT name, labels, value FROM scans_scantally UNION ALL {_facts("scans_endedscan")}
    ) AS facts GROUP BY name, labels ORDER BY name, labels
"""  # noqa: S608  # of constants


def record_ended_scans(scans: Sequence[Scan], cpu_s: float | None) -> None:
    """Record the figures of finished scans in the transaction that ends them. `cpu_s` is the processor time of each
    scan.

    The scans must have been saved before.
    """
    ids = [scan.id for scan in scans]
    execute(RECORD, {"scans": ids, "cpu_ms": None if cpu_s is None else round(cpu_s * 1000)})


def tally_ended_scans() -> None:
    """Move the rows of finished scans into the tallies. Concurrent calls count each row once."""
    with connection.cursor() as cursor:
        cursor.execute(ADD)


def tallies() -> Mapping[str, Mapping[tuple[str, ...], int]]:
    """Return totals by name and labels: `ended`; `waited`, `duration` and `cpu` by bucket; and their sums in
    milliseconds.
    """
    totals: dict[str, dict[tuple[str, ...], int]] = {}
    rows: list[tuple[Any, ...]] = fetch(TALLIES, {})
    for name, labels, value in rows:
        totals.setdefault(name, {})[tuple(labels)] = value
    return totals
