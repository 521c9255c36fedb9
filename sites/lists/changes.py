"""Changes between a run of a list that has just ended and the previous snapshot: data of the `list.changed` event."""

from __future__ import annotations

from typing import TypedDict

from infrastructure.postgresql.statements import fetch
from scans.models import Scan
from sites.lists import snapshots
from sites.lists.differences import SnapshotDiff, diff, without_nested_loops
from sites.models import ListRun
from website_scan.json_types import Count, component
from website_scan.messages import cut

# Maximum number of listed sites and checks of each kind, and of characters of a URL: an event is limited to 256 KB.
LISTED = 10
URL_CHARACTERS = 500
# Numbers of sites with a better and with a worse grade of any type. array_position() is NULL for a missing grade.
GRADES = """
    SELECT count(*) FILTER (WHERE {better}), count(*) FILTER (WHERE {worse})
    FROM sites_listresult AS after
    JOIN sites_listresult AS before ON before.run_id = %(before)s AND before.url = after.url AND before.status = 'done'
    WHERE after.run_id = %(after)s AND after.status = 'done'
"""
RANK = "array_position(%(letters)s::text[], {run}.{type}_grade::text)"


@component("ChangedGrades")
class Grades(TypedDict):
    """Number of sites with a better, and with a worse grade of any type; a site may be in both."""

    better: Count
    worse: Count


@component("ListChanges")
class Changes(SnapshotDiff):
    """Difference from the snapshot before, as the API returns it, and the number of sites with another grade."""

    grades: Grades


def changes_of(run: ListRun) -> Changes | None:
    """Return the changes since the previous snapshot, or None if there is no previous snapshot or nothing has changed.

    Changed grades of sites count as changes, and changed numbers of sites that fail a check. A score alone does not.
    """
    before = snapshots.previous(run) if run.status in snapshots.WHOLE else None
    if before is None:
        return None
    grades = _grades(run, before)
    difference = diff(run, before, LISTED)
    if not (grades["better"] or grades["worse"] or difference["fewer_failures"] or difference["more_failures"]):
        return None
    del difference["fewer_failures"][LISTED:]
    del difference["more_failures"][LISTED:]
    for site in (*difference["better"], *difference["worse"]):
        site["url"] = cut(site["url"], URL_CHARACTERS)
    for urls in (difference["lost"], difference["regained"]):
        urls[:] = [cut(url, URL_CHARACTERS) for url in urls]
    return {"run_id": run.id, "with_run_id": before.id, "grades": grades, **difference}


def _grades(run: ListRun, before: ListRun) -> Grades:
    types = [type for type in Scan.Type.values if type in run.types and type in before.types]
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
