"""Comparison of two snapshots of a list."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Annotated, Any, TypedDict

from django.db import connection, transaction

from infrastructure.postgresql.statements import fetch
from sites.lists.snapshots import comparable_types, named_check, severity_rank
from sites.models import ListRun
from sites.models.stored_json import RunId
from website_scan.json_types import Count, Grade, Score, TypeName

# Selects pairs of results with the same URL in both runs, and the mean change of the scores that both have. The URL is
# compared, not the entry, because an entry may have been deleted and added again.
PAIRS = """
    SELECT {columns} ({sum})::float / nullif(num_nonnulls({changes}), 0) AS change
    FROM sites_listresult AS after
    JOIN sites_listresult AS before ON before.run_id = %(before)s AND before.url = after.url AND before.status = 'done'
    WHERE after.run_id = %(after)s AND after.status = 'done'
"""
PAIRS_PER_BATCH = 20_000
LETTERS_OF_PAIR = ("before.statuses AS statuses_before", "after.statuses AS statuses_after")
SITE_OF_PAIR = ("after.url", "coalesce(after.entry_id, nullif(after.deleted_entry_id, '')) AS entry_id", "after.tags")
TOTALS = """
    SELECT count(*), count(*) FILTER (WHERE change > 0), count(*) FILTER (WHERE change < 0) FROM ({pairs}) AS pair
"""
EXTREMES = """
    WITH pair AS MATERIALIZED ({pairs})
    (SELECT change, url, entry_id, tags, {names} FROM pair WHERE change > 0 ORDER BY change DESC, url LIMIT %(limit)s)
    UNION ALL
    (SELECT change, url, entry_id, tags, {names} FROM pair WHERE change < 0 ORDER BY change, url LIMIT %(limit)s)
"""
# Selects the numbers and URLs of sites that only one of the two runs has, or that only one of them could judge.
ADDED_AND_LOST_SITES = """
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
    """Site whose mean score has changed between two snapshots.

    `change` has one decimal.
    """

    url: str
    entry_id: str | None
    tags: list[str]
    change: float
    types: dict[str, ScorePair]


class ChangedCheck(TypedDict):
    """Check that fails on more or fewer sites than before.

    `of` is the number of sites where it ran both times.
    """

    check: str
    name: str
    type: str
    of: Count
    failed_before: Count
    failed_after: Count
    fixed: Count
    broken: Count


class ComparedSites(TypedDict):
    """Site counts of a comparison of two snapshots.

    `compared` is the number of sites in both snapshots.
    """

    compared: Count
    better: Count
    worse: Count
    added: Count
    removed: Count
    lost: Count
    regained: Count


class Difference(TypedDict):
    """Difference between two snapshots, with the largest changes first.

    `types` are the scan types of both snapshots, without security if they judged different categories. `checks_added`
    and `checks_removed` ran in one snapshot only, so they are not compared.
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
    """Difference between two snapshots with the IDs of both runs, the largest changes first."""


def calculate_difference(run: ListRun, other: ListRun, limit: int = 50) -> Difference:
    """Return the difference between the snapshots `other` and `run`.

    Each kind of change has at most `limit` sites. Only sites that were judged in both snapshots are compared, by scan
    types and checks that both snapshots have.
    """
    with without_nested_loops():
        return _diff(run, other, limit)


@contextmanager
def without_nested_loops() -> Iterator[None]:
    """Disable nested loop joins in PostgreSQL until the transaction ends.

    The planner's statistics do not include a run that has just ended. The planner then expects a single row, and a
    comparison of 10,000 sites takes minutes.
    """
    with transaction.atomic(savepoint=False), connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_nestloop = off")
        yield


def _diff(run: ListRun, other: ListRun, limit: int) -> Difference:
    types = comparable_types(run, other)
    params = {"before": other.id, "after": run.id, "limit": limit}
    compared, better, worse = 0, 0, 0
    changed: list[ChangedSite] = []
    checks: list[ChangedCheck] = []
    if types:
        ((compared, better, worse),) = fetch(TOTALS.format(pairs=_pairs_sql(types, ())), params)
        checks = _changed_checks(run, other, _pairs_sql(types, LETTERS_OF_PAIR), params)
        scores = _score_columns(types)
        pairs = _pairs_sql(types, (*SITE_OF_PAIR, *(f"{column} AS {name}" for name, column in scores.items())))
        rows = fetch(EXTREMES.format(pairs=pairs, names=", ".join(scores)), params)
        changed = [_changed_site(types, row) for row in rows]
    ((added, removed, lost, regained, lost_urls, regained_urls),) = fetch(ADDED_AND_LOST_SITES, params)
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
        "better": [site for site in changed if site["change"] > 0],
        "worse": [site for site in changed if site["change"] < 0],
        "lost": lost_urls or [],
        "regained": regained_urls or [],
        "fewer_failures": _sort_by_change(check for check in checks if check["failed_after"] < check["failed_before"]),
        "more_failures": _sort_by_change(check for check in checks if check["failed_after"] > check["failed_before"]),
        "checks_added": [check for check in run.checks if check not in set(other.checks)],
        "checks_removed": [check for check in other.checks if check not in set(run.checks)],
    }


def _pairs_sql(types: Sequence[str], columns: Iterable[str]) -> str:
    """Return the SQL query for pairs of results and their mean score change.

    The query also selects `columns`.
    """
    changes = [f"after.{type}_score - before.{type}_score" for type in types]
    total = " + ".join(f"coalesce({change}, 0)" for change in changes)
    return PAIRS.format(columns="".join(f"{column}, " for column in columns), sum=total, changes=", ".join(changes))


def _score_columns(types: Sequence[str]) -> dict[str, str]:
    """Return SQL columns of scores and grades by alias, in the order that `_changed_site` expects."""
    return {
        f"{type}_{value}_{run}": f"{run}.{type}_{value}"
        for type in types
        for run in ("before", "after")
        for value in ("score", "grade")
    }


def _changed_site(types: Sequence[str], row: Sequence[Any]) -> ChangedSite:
    change, url, entry_id, tags, *values = row
    scores: dict[str, ScorePair] = {}
    for index, type in enumerate(types):
        before, grade_before, after, grade_after = values[4 * index : 4 * index + 4]
        if before is not None and after is not None:
            scores[type] = {
                "before": {"score": before, "grade": grade_before},
                "after": {"score": after, "grade": grade_after},
            }
    return {"url": url, "entry_id": entry_id, "tags": tags, "change": round(change, 1), "types": scores}


def _changed_checks(run: ListRun, other: ListRun, pairs: str, params: Mapping[str, Any]) -> list[ChangedCheck]:
    """Return the checks with more or fewer failures in the later snapshot.

    The statuses of the compared sites are read in batches, because those of a million sites have hundreds of megabytes.
    """
    checks = [check for check in run.checks if check in set(other.checks)]
    # Numbers of sites by check: where it ran both times, where it failed both times, and where its failure is fixed or
    # new.
    numbers = dict.fromkeys(checks, (0, 0, 0, 0))
    for before, after in _letters_of_pairs(len(other.checks), len(run.checks), pairs, params):
        columns_before, columns_after = _StatusColumns(other.checks, before), _StatusColumns(run.checks, after)
        for check in checks:
            ran_before, failed_before = columns_before.of(check)
            ran_after, failed_after = columns_after.of(check)
            ran = ran_before & ran_after
            failed_before, failed_after = failed_before & ran, failed_after & ran
            both = (failed_before & failed_after).bit_count()
            more = (ran.bit_count(), both, failed_before.bit_count() - both, failed_after.bit_count() - both)
            numbers[check] = tuple(map(sum, zip(numbers[check], more, strict=True)))  # type: ignore[assignment]
    return [
        {
            **named_check(check),
            "of": ran,
            "failed_before": fixed + both,
            "failed_after": broken + both,
            "fixed": fixed,
            "broken": broken,
        }
        for check, (ran, both, fixed, broken) in numbers.items()
        if fixed or broken
    ]


def _letters_of_pairs(
    width_before: int, width_after: int, pairs: str, params: Mapping[str, Any]
) -> Iterator[tuple[str, str]]:
    """Yield the status letters of batches of compared sites, before and after."""
    with connection.chunked_cursor() as cursor:
        cursor.execute(f"SELECT statuses_before, statuses_after FROM ({pairs}) AS pair", params)  # noqa: S608
        while rows := cursor.fetchmany(PAIRS_PER_BATCH):
            yield (
                "".join(before.ljust(width_before, "-") for before, _ in rows),
                "".join(after.ljust(width_after, "-") for _, after in rows),
            )


class _StatusColumns:
    """Statuses of many sites by check, in a compact form.

    A set of sites is an integer with one byte for each site, because operations on integers compare millions of
    statuses in milliseconds.
    """

    RAN = bytes(chr(code) in "fwp" for code in range(256))
    FAILED = bytes(chr(code) == "f" for code in range(256))

    def __init__(self, checks: Sequence[str], letters: str) -> None:
        self._positions = {check: position for position, check in enumerate(checks)}
        self._letters = letters.encode()

    def of(self, check: str) -> tuple[int, int]:
        """Return the sites where the check ran and the sites where it failed, as bit masks."""
        column = self._letters[self._positions[check] :: len(self._positions)]
        return int.from_bytes(column.translate(self.RAN)), int.from_bytes(column.translate(self.FAILED))


def _sort_by_change(checks: Iterable[ChangedCheck]) -> list[ChangedCheck]:
    """Sort checks by severity, then by the change in the number of failures."""
    return sorted(
        checks,
        key=lambda check: (severity_rank(check), -abs(check["failed_after"] - check["failed_before"]), check["check"]),
    )
