"""Deletion of the results of an expired run."""

from __future__ import annotations

from django.db import transaction

from infrastructure.postgresql.statements import execute
from infrastructure.retention import HasTime

# A transaction of this number of rows ends within a second.
RESULTS_PER_DELETION = 10_000
# Results have only one reference, that of an entry to its latest result.
DELETE = """
    WITH batch AS MATERIALIZED (
        SELECT id FROM sites_listresult WHERE run_id = %(run)s LIMIT %(limit)s
    ), entry AS (
        UPDATE sites_listentry SET result_id = NULL WHERE result_id IN (SELECT id FROM batch)
    )
    DELETE FROM sites_listresult WHERE id IN (SELECT id FROM batch)
"""


def delete_results(run_id: str, has_time: HasTime) -> bool:
    """Delete all results of a run in batches. Returns False if time ran out."""
    while has_time():
        with transaction.atomic():
            number = execute(DELETE, {"run": run_id, "limit": RESULTS_PER_DELETION})
        if number < RESULTS_PER_DELETION:
            return True
    return False
