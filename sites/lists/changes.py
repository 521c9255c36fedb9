"""Changes of a list since the previous snapshot, for the webhook event `list.changed`."""

from __future__ import annotations

from typing import TypedDict

from infrastructure.postgresql.statements import fetch
from sites.lists import snapshots
from sites.lists.comparisons import compare_ended_run
from sites.lists.differences import SnapshotDiff, without_nested_loops
from sites.models import ListRun
from website_scan.json_types import Count, component
from website_scan.messages import cut

# Numbers of sites and checks and lengths of URLs are limited, because an event may have at most 256 KB.
MAX_LISTED_CHANGES = 10
MAX_URL_LENGTH = 500
# Selects the numbers of sites with a better and with a worse grade of any type. Missing grades have the rank NULL.
GRADES = """
    SELECT count(*) FILTER (WHERE {better}), count(*) FILTER (WHERE {worse})
    FROM sites_listresult AS after
    JOIN sites_listresult AS before ON before.run_id = %(before)s AND before.url = after.url AND before.status = 'done'
    WHERE after.run_id = %(after)s AND after.status = 'done'
"""
RANK = "array_position(%(letters)s::text[], {run}.{type}_grade::text)"


@component("ChangedGrades")
class Grades(TypedDict):
    """Numbers of sites with a better and with a worse grade.

    A site with several scan types may count for both.
    """

    better: Count
    worse: Count


@component("ListChanges")
class Changes(SnapshotDiff):
    """Difference from the previous snapshot in the API's format.

    It also counts the sites with changed grades.
    """

    grades: Grades


def changes_of(run: ListRun) -> Changes | None:
    """Return the changes since the previous snapshot, or None if there are none.

    Also returns None without a previous snapshot. Changes are changed grades of sites, sites that cannot be reached any
    more or again, and changed numbers of sites that fail a check, but not changed scores alone.
    """
    before = snapshots.previous(run) if run.status in snapshots.WHOLE else None
    if before is None:
        return None
    grades = _grades(run, before)
    difference = compare_ended_run(run, before, MAX_LISTED_CHANGES)
    sites = difference["sites"]
    has_changed_sites = grades["better"] or grades["worse"] or sites["lost"] or sites["regained"]
    if not (has_changed_sites or difference["fewer_failures"] or difference["more_failures"]):
        return None
    del difference["fewer_failures"][MAX_LISTED_CHANGES:]
    del difference["more_failures"][MAX_LISTED_CHANGES:]
    for site in (*difference["better"], *difference["worse"]):
        site["url"] = cut(site["url"], MAX_URL_LENGTH)
    for urls in (difference["lost"], difference["regained"]):
        urls[:] = [cut(url, MAX_URL_LENGTH) for url in urls]
    return {"run_id": run.id, "with_run_id": before.id, "grades": grades, **difference}


def _grades(run: ListRun, before: ListRun) -> Grades:
    types = snapshots.comparable_types(run, before)
    if not types:
        return {"better": 0, "worse": 0}
    pairs = [(RANK.format(run="before", type=type), RANK.format(run="after", type=type)) for type in types]
    query = GRADES.format(
        better=" OR ".join(f"{now} < {then}" for then, now in pairs),
        worse=" OR ".join(f"{now} > {then}" for then, now in pairs),
    )
    params = {"before": before.id, "after": run.id, "letters": list(snapshots.LETTERS)}
    with without_nested_loops():
        ((better, worse),) = fetch(query, params)
    return {"better": better, "worse": worse}
