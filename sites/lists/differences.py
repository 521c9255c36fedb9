"""Difference between two snapshots of a list: sites that got better or worse, and checks that fail on more or fewer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated, Any, TypedDict

from django.db import connection, transaction

from infrastructure.postgresql.statements import fetch
from scans.models import Scan
from sites.lists.snapshots import named
from sites.models import ListRun
from sites.models.stored_json import RunId
from website_scan.json_types import Count, Grade, Score, TypeName

# Results of the same address in both runs, and the mean change of the scores that both have. An address is a site,
# also if its entry was deleted and added again.
PAIRS = """
    SELECT {columns}, ({sum})::float / nullif(num_nonnulls({changes}), 0) AS change
    FROM sites_listresult AS after
    JOIN sites_listresult AS before ON before.run_id = %(before)s AND before.url = after.url AND before.status = 'done'
    WHERE after.run_id = %(after)s AND after.status = 'done'
"""
LETTERS_OF_PAIR = ("before.statuses AS statuses_before", "after.statuses AS statuses_after")
SITE_OF_PAIR = ("after.url", "after.entry_id", "after.tags")
TOTALS = """
    SELECT count(*), count(*) FILTER (WHERE change > 0), count(*) FILTER (WHERE change < 0),
        string_agg(rpad(statuses_before, %(width_before)s, '-'), ''),
        string_agg(rpad(statuses_after, %(width_after)s, '-'), '')
    FROM ({pairs}) AS pair
"""
EXTREMES = """
    WITH pair AS MATERIALIZED ({pairs})
    (SELECT change, url, entry_id, tags, {names} FROM pair WHERE change > 0 ORDER BY change DESC, url LIMIT %(limit)s)
    UNION ALL
    (SELECT change, url, entry_id, tags, {names} FROM pair WHERE change < 0 ORDER BY change, url LIMIT %(limit)s)
"""
# Sites that are in one run only, or that were judged in one only.
COMINGS = """
    SELECT count(*) FILTER (WHERE before.id IS NULL), count(*) FILTER (WHERE after.id IS NULL),
        count(*) FILTER (WHERE before.status = 'done' AND after.status = 'failed'),
        count(*) FILTER (WHERE before.status = 'failed' AND after.status = 'done'),
        (array_agg(after.url ORDER BY after.url)
            FILTER (WHERE before.status = 'done' AND after.status = 'failed'))[:%(limit)s],
        (array_agg(after.url ORDER BY after.url)
            FILTER (WHERE before.status = 'failed' AND after.status = 'done'))[:%(limit)s]
    FROM (SELECT * FROM sites_listresult WHERE run_id = %(before)s) AS before
    FULL JOIN (SELECT * FROM sites_listresult WHERE run_id = %(after)s) AS after ON after.url = before.url
"""


class SiteScore(TypedDict):
    score: Score
    grade: Grade


class ScorePair(TypedDict):
    before: SiteScore
    after: SiteScore


class ChangedSite(TypedDict):
    """Site with another mean of the scores that it has in both snapshots."""

    url: str
    entry_id: str | None
    tags: list[str]
    change: float  # with one decimal
    types: dict[str, ScorePair]


class ChangedCheck(TypedDict):
    """Check that fails on more or on fewer of the sites on which it ran in both snapshots, `of` in number."""

    check: str
    name: str
    type: str
    of: Count
    failed_before: Count
    failed_after: Count
    fixed: Count
    broken: Count


class ComparedSites(TypedDict):
    """Numbers of sites: judged in both snapshots (of these better, worse), in one only, and lost or regained since."""

    compared: Count
    better: Count
    worse: Count
    added: Count
    removed: Count
    lost: Count
    regained: Count


class Difference(TypedDict):
    """Difference between two snapshots; the lists have the largest changes first.

    `types` are those of both. `checks_added` and `checks_removed` ran in one snapshot only, so nothing of them is
    better or worse.
    """

    types: list[TypeName]
    sites: ComparedSites
    better: list[ChangedSite]
    worse: list[ChangedSite]
    lost: list[str]
    regained: list[str]
    fewer_failures: list[ChangedCheck]
    more_failures: list[ChangedCheck]
    checks_added: list[str]
    checks_removed: list[str]


class ComparedRuns(TypedDict):
    run_id: RunId
    with_run_id: Annotated[RunId, "The snapshot that it is compared with."]


class SnapshotDiff(ComparedRuns, Difference):
    """Difference between two snapshots; the lists have the largest changes first, and an end."""


def diff(run: ListRun, other: ListRun, limit: int = 50) -> Difference:
    """Return what has changed in `run` since the snapshot `other`, with at most `limit` sites of each kind.

    Only sites that both have judged are compared, in the types and with the checks that both have.
    """
    with without_nested_loops():
        return _diff(run, other, limit)


@contextmanager
def without_nested_loops() -> Iterator[None]:
    """Keep PostgreSQL from joining the sites of two runs one by one.

    Its statistics do not know a run that has just ended, and promise that it has a single site: 10,000 took minutes.
    The setting ends with the transaction.
    """
    with transaction.atomic(savepoint=False), connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_nestloop = off")
        yield


def _diff(run: ListRun, other: ListRun, limit: int) -> Difference:
    types = [each for each in Scan.Type.values if each in run.types and each in other.types]
    params = {"before": other.id, "after": run.id, "limit": limit}
    compared, better, worse, before, after = 0, 0, 0, "", ""
    changed: list[ChangedSite] = []
    if types:
        widths = {"width_before": len(other.checks), "width_after": len(run.checks)}
        totals = TOTALS.format(pairs=_pairs(types, LETTERS_OF_PAIR))
        ((compared, better, worse, before, after),) = fetch(totals, params | widths)
        scores = _scores(types)
        pairs = _pairs(types, (*SITE_OF_PAIR, *(f"{column} AS {name}" for name, column in scores.items())))
        rows = fetch(EXTREMES.format(pairs=pairs, names=", ".join(scores)), params)
        changed = [_changed_site(types, each) for each in rows]
    ((added, removed, lost, regained, urls_lost, urls_regained),) = fetch(COMINGS, params)
    checks = _changed_checks((other.checks, before or ""), (run.checks, after or ""), compared)
    return {
        "types": types,
        "sites": {
            "compared": compared,
            "better": better,
            "worse": worse,
            "added": added,
            "removed": removed,
            "lost": lost,
            "regained": regained,
        },
        "better": [each for each in changed if each["change"] > 0],
        "worse": [each for each in changed if each["change"] < 0],
        "lost": urls_lost or [],
        "regained": urls_regained or [],
        "fewer_failures": _by_size(each for each in checks if each["failed_after"] < each["failed_before"]),
        "more_failures": _by_size(each for each in checks if each["failed_after"] > each["failed_before"]),
        "checks_added": [each for each in run.checks if each not in set(other.checks)],
        "checks_removed": [each for each in other.checks if each not in set(run.checks)],
    }


def _pairs(types: Sequence[str], columns: Iterable[str]) -> str:
    """Return the query of pairs of results with these columns, and the change of the scores of these types."""
    changes = [f"after.{each}_score - before.{each}_score" for each in types]
    total = " + ".join(f"coalesce({each}, 0)" for each in changes)
    return PAIRS.format(columns=", ".join(columns), sum=total, changes=", ".join(changes))


def _scores(types: Sequence[str]) -> dict[str, str]:
    """Return the columns of the scores and grades of pairs by their names, in the order of `_changed_site`."""
    return {
        f"{each}_{value}_{run}": f"{run}.{each}_{value}"
        for each in types
        for run in ("before", "after")
        for value in ("score", "grade")
    }


def _changed_site(types: Sequence[str], row: Sequence[Any]) -> ChangedSite:
    change, url, entry_id, tags, *values = row
    scores: dict[str, ScorePair] = {}
    for at, each in enumerate(types):
        before, grade_before, after, grade_after = values[4 * at : 4 * at + 4]
        if before is not None and after is not None:
            scores[each] = {
                "before": {"score": before, "grade": grade_before},
                "after": {"score": after, "grade": grade_after},
            }
    return {"url": url, "entry_id": entry_id, "tags": tags, "change": round(change, 1), "types": scores}


def _changed_checks(
    before: tuple[Sequence[str], str], after: tuple[Sequence[str], str], compared: int
) -> list[ChangedCheck]:
    """Compare the checks of two snapshots, given as their IDs and the letters of all compared sites in one string."""
    columns_before, columns_after = _Columns(*before), _Columns(*after)
    found: list[ChangedCheck] = []
    for check in after[0] if compared else ():
        if check not in columns_before:
            continue
        ran_before, failed_before = columns_before.of(check)
        ran_after, failed_after = columns_after.of(check)
        ran = ran_before & ran_after
        failed_before, failed_after = failed_before & ran, failed_after & ran
        both = (failed_before & failed_after).bit_count()
        fixed, broken = failed_before.bit_count() - both, failed_after.bit_count() - both
        if fixed or broken:
            found.append(
                {
                    **named(check),
                    "of": ran.bit_count(),
                    "failed_before": fixed + both,
                    "failed_after": broken + both,
                    "fixed": fixed,
                    "broken": broken,
                }
            )
    return found


class _Columns:
    """Statuses of many sites, by check. A set of sites is an integer with a byte for each, because millions of letters
    are compared in milliseconds so."""

    RAN = bytes(chr(each) in "fwp" for each in range(256))
    FAILED = bytes(chr(each) == "f" for each in range(256))

    def __init__(self, checks: Sequence[str], letters: str) -> None:
        self._places = {check: place for place, check in enumerate(checks)}
        self._letters = letters.encode()

    def __contains__(self, check: str) -> bool:
        return check in self._places

    def of(self, check: str) -> tuple[int, int]:
        """Return the sets of sites on which the check ran, and on which it failed."""
        column = self._letters[self._places[check] :: len(self._places)]
        return int.from_bytes(column.translate(self.RAN)), int.from_bytes(column.translate(self.FAILED))


def _by_size(checks: Iterable[ChangedCheck]) -> list[ChangedCheck]:
    return sorted(checks, key=lambda each: (-abs(each["failed_after"] - each["failed_before"]), each["check"]))
