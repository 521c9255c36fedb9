"""Changes of a list between a run that has just ended and the snapshot before: what makes `list.changed`."""

from __future__ import annotations

from typing import TypedDict

from infrastructure.postgresql.statements import fetch
from scans.models import Scan
from sites.lists import snapshots
from sites.lists.differences import SnapshotDiff, diff, without_nested_loops
from sites.models import ListRun
from website_scan.json_types import Count, component
from website_scan.messages import cut

# Sites and checks listed of each kind, and characters of an address: a message may have 256 KB.
LISTED = 10
URL_CHARACTERS = 500
# Sites with a better, and with a worse grade of any type; array_position is NULL for no grade.
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
    """Return what has changed since the snapshot before; None without one, or if nothing is better or worse.

    Better or worse is a grade of a site, or the number of sites on which a check fails. A changed score alone is not.
    """
    before = snapshots.previous(run) if run.status in snapshots.WHOLE else None
    if before is None:
        return None
    grades = _grades(run, before)
    found = diff(run, before, LISTED)
    if not (grades["better"] or grades["worse"] or found["fewer_failures"] or found["more_failures"]):
        return None
    del found["fewer_failures"][LISTED:]
    del found["more_failures"][LISTED:]
    for site in (*found["better"], *found["worse"]):
        site["url"] = cut(site["url"], URL_CHARACTERS)
    for urls in (found["lost"], found["regained"]):
        urls[:] = [cut(each, URL_CHARACTERS) for each in urls]
    return {"run_id": run.id, "with_run_id": before.id, "grades": grades, **found}


def _grades(run: ListRun, before: ListRun) -> Grades:
    types = [each for each in Scan.Type.values if each in run.types and each in before.types]
    if not types:
        return {"better": 0, "worse": 0}
    pairs = [(RANK.format(run="before", type=each), RANK.format(run="after", type=each)) for each in types]
    query = GRADES.format(
        better=" OR ".join(f"{now} < {then}" for then, now in pairs),
        worse=" OR ".join(f"{now} > {then}" for then, now in pairs),
    )
    params = {"before": before.id, "after": run.id, "letters": list(snapshots.LETTERS)}
    with without_nested_loops():
        ((better, worse),) = fetch(query, params)
    return {"better": better, "worse": worse}
