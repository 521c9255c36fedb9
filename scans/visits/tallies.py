"""Counters of finished scans for /metrics.

They have the number of scans, their waits, durations and CPU times. They never decrease, even if rows are deleted.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from django.db import connection

from infrastructure.postgresql.statements import execute, fetch
from scans.models import Scan

# Upper bounds of the histograms' buckets in seconds.
WAIT_BUCKETS_S = (0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 900.0, 3600.0)
DURATION_BUCKETS_S = (0.5, 1.0, 2.0, 5.0, 10.0, 15.0, 20.0, 30.0, 45.0, 60.0, 90.0)
CPU_S = (0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)

# A statement moves at most this many rows. The sweeper, which runs every 15 seconds, moves further rows.
BATCH = 10_000


def _ms_sql(begin: str, end: str) -> str:
    """Return SQL for the milliseconds between two columns.

    The value is NULL if one of them is NULL, and at least 0, because clocks differ.
    """
    milliseconds = f"round(1000 * extract(epoch FROM {end} - {begin}))"
    return f"CASE WHEN {milliseconds} < 0 THEN 0 ELSE {milliseconds} END"


RECORDED_COLUMNS = ("type", "status", "error_code", "is_background", "created_at", "started_at", "completed_at")
RECORD_ENDED_SCANS = f"""
    INSERT INTO scans_endedscan (type, status, error_code, is_background, waited_ms, duration_ms, cpu_ms)
    SELECT type, status, error_code, is_background,
        {_ms_sql("created_at", "started_at")}, {_ms_sql("started_at", "completed_at")}, %(cpu_ms)s::bigint
    FROM jsonb_populate_recordset(NULL::scans_scan, %(rows)s::jsonb)
"""  # noqa: S608  # of constants

CLASS = "CASE WHEN is_background THEN 'background' ELSE 'interactive' END"


def _tally_sql(source: str) -> str:
    """Return SQL for tally rows of the scans in `source`.

    Rows are (name, labels, value). Histograms have buckets and a sum.
    """
    queries = [
        f"SELECT 'ended' AS name, ARRAY[type, status, error_code, {CLASS}]::varchar[] AS labels, 1::bigint AS value"  # noqa: S608  # of constants
        f" FROM {source}"
    ]
    for name, column, label, bounds in (
        ("waited", "waited_ms", CLASS, WAIT_BUCKETS_S),
        ("duration", "duration_ms", "type", DURATION_BUCKETS_S),
        ("cpu", "cpu_ms", "type", CPU_S),
    ):
        cases = " ".join(f"WHEN {column} <= {round(bound * 1000)} THEN '{bound}'" for bound in bounds)
        source_clause = f"FROM {source} WHERE {column} IS NOT NULL"
        queries.append(f"SELECT '{name}', ARRAY[{label}, CASE {cases} ELSE '+Inf' END]::varchar[], 1 {source_clause}")
        queries.append(f"SELECT '{name}_sum', ARRAY[{label}]::varchar[], {column} {source_clause}")
    return " UNION ALL ".join(queries)


ADD_TO_TALLIES = f"""
    WITH ended AS (
        DELETE FROM scans_endedscan WHERE id IN (
            SELECT id FROM scans_endedscan ORDER BY id LIMIT {BATCH} FOR UPDATE SKIP LOCKED
        ) RETURNING *
    )
    INSERT INTO scans_scantally AS tally (name, labels, value)
    SELECT name, labels, sum(value) FROM ({_tally_sql("ended")}) AS facts GROUP BY name, labels ORDER BY name, labels
    ON CONFLICT (name, labels) DO UPDATE SET value = tally.value + excluded.value
"""  # noqa: S608  # of constants

# A single statement reads both tables, so that rows moving between them are counted exactly once.
TALLIES = f"""
    SELECT name, labels, sum(value)::bigint FROM (
        SELECT name, labels, value FROM scans_scantally UNION ALL {_tally_sql("scans_endedscan")}
    ) AS facts GROUP BY name, labels ORDER BY name, labels
"""  # noqa: S608  # of constants


def record_ended_scans(scans: Sequence[Scan], cpu_s: float | None) -> None:
    """Record finished scans for the tallies, in the transaction that ends them.

    `cpu_s` is the CPU time of each scan. The row of a scan may have been deleted, as after a dry run of a journey.
    """
    rows = json.dumps([{name: getattr(scan, name) for name in RECORDED_COLUMNS} for scan in scans], default=str)
    execute(RECORD_ENDED_SCANS, {"rows": rows, "cpu_ms": None if cpu_s is None else round(cpu_s * 1000)})


def tally_ended_scans() -> None:
    """Add the recorded finished scans to the tallies, and delete the records.

    Concurrent calls count each row once.
    """
    with connection.cursor() as cursor:
        cursor.execute(ADD_TO_TALLIES)


def tallies() -> Mapping[str, Mapping[tuple[str, ...], int]]:
    """Return the totals of every counter by its label values.

    The counters are `ended`, `waited`, `duration`, `cpu`, and sums of milliseconds.
    """
    totals: dict[str, dict[tuple[str, ...], int]] = {}
    rows: list[tuple[Any, ...]] = fetch(TALLIES, {})
    for name, labels, value in rows:
        totals.setdefault(name, {})[tuple(labels)] = value
    return totals
