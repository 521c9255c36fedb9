"""Counts of a run's sites that have no score: those that could not be judged, and those that were left out.

They are counted once, when the run ends, so that pages need not read the results of all sites.
"""

from __future__ import annotations

import json

from infrastructure.postgresql.statements import execute, fetch
from sites.models import ListCount, ListRun
from sites.models.site_list import ListCounts, NotJudged

# A summary lists only the first sites that could not be judged.
MAX_UNREACHABLE_SITES = 100
NOT_JUDGED = """
    WITH result AS (
        SELECT tag, id, position, status, error_code FROM sites_listresult, unnest(tags || ''::varchar) AS tag
        WHERE run_id = %(run)s AND status IN ('failed', 'left_out') AND (%(tag)s::text IS NULL OR tag = %(tag)s)
    ), code AS (
        SELECT tag, jsonb_object_agg(error_code, number ORDER BY number DESC, error_code) AS codes FROM (
            SELECT tag, error_code, count(*) AS number FROM result WHERE status = 'failed' GROUP BY tag, error_code
        ) AS numbers GROUP BY tag
    )
    SELECT tag, count(*) FILTER (WHERE status = 'left_out'), coalesce(min(codes::text), '{}'),
        (array_agg(id ORDER BY position) FILTER (WHERE status = 'failed'))[:%(limit)s]
    FROM result LEFT JOIN code USING (tag) GROUP BY tag
"""
SAVE = """
    INSERT INTO sites_listcount (run_id, tag, data) SELECT %(run)s, tag, %(empty)s::jsonb || data
    FROM jsonb_to_recordset(%(rows)s::jsonb) AS row (tag text, data jsonb)
    ON CONFLICT (run_id, tag) DO UPDATE SET data = sites_listcount.data || jsonb_build_object(
        'not_judged', excluded.data -> 'not_judged'
    )
"""


def empty_counts() -> ListCounts:
    """Return the statistics of no sites."""
    return {"sites": 0, "judged": 0, "scores": {}, "grades": {}, "checks": {}}


def count_not_judged(run: ListRun) -> None:
    """Add the numbers of sites without a score to the counts of a finished run and its tags."""
    numbers: dict[str, NotJudged] = {tag: _empty() for tag in (*run.counts.values_list("tag", flat=True), "")}
    numbers |= _read(run, None)
    rows = [{"tag": tag, "data": {"not_judged": not_judged}} for tag, not_judged in numbers.items()]
    execute(SAVE, {"run": run.id, "empty": json.dumps(empty_counts()), "rows": json.dumps(rows)})


def not_judged_of(run: ListRun, tag: str, counts: ListCounts | None) -> NotJudged:
    """Return the sites of a snapshot or of one of its tags that have no score. `counts` are those of the tag.

    Runs of former releases have no such counts, so their results are read.
    """
    if counts is not None and "not_judged" in counts:
        return counts["not_judged"]
    # A run that has counted them has counts of each of its tags.
    if counts is None and ListCount.objects.filter(run=run, tag="", data__has_key="not_judged").exists():
        return _empty()
    return _read(run, tag).get(tag, _empty())


def _read(run: ListRun, tag: str | None) -> dict[str, NotJudged]:
    """Return the sites of a run without a score by tag, or those of one tag."""
    rows = fetch(NOT_JUDGED, {"run": run.id, "tag": tag, "limit": MAX_UNREACHABLE_SITES})
    return {
        tag: {"left_out": left_out, "codes": json.loads(codes), "first_failed": first_failed or []}
        for tag, left_out, codes, first_failed in rows
    }


def _empty() -> NotJudged:
    return {"left_out": 0, "codes": {}, "first_failed": []}
