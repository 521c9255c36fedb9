"""Search for the entries of a list that match a filter, in a sort order.

Lists of up to `MAX_SMALL_LIST` entries are searched completely, with one SQL statement. In larger lists, a search reads
a limited number of entries, so that it takes milliseconds however many entries the list has:

1. If one of the filter's conditions with an index is met by at most `MAX_CANDIDATES` entries, these are searched. The
   matching ones are also counted. The conditions for which PostgreSQL estimates the fewest entries are tried first.
2. Otherwise, the entries are read in the sort order, which has an index, until enough of them match or `MAX_EXAMINED`
   have been read. The search may then stop before the end of the list; the next page continues it.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

from django.db import connection
from django.db.models import BooleanField, Expression, ExpressionWrapper, F, Q, QuerySet
from msgspec import Struct

from sites.lists.entry_filters import MAX_SMALL_LIST, EntryFilter
from sites.models import ListEntry, SiteList
from sites.models.site_list import ENTRY_ADDRESS, SORTED_CHARACTERS

MAX_CANDIDATES = 2_000
MAX_TRIED_CONDITIONS = 3
# Conditions with a higher estimate are not tried. Without statistics, PostgreSQL expects that 0.5 % of the entries meet
# a condition. The condition for a text has four alternatives, each with this estimate.
MAX_ESTIMATED_CANDIDATES = 50_000
MAX_EXAMINED = 10_000
# Name of the sort column for whole addresses, which are never NULL.
ADDRESS = "address"
TABLE = '"sites_listentry"'

# Position of an entry in the sort order: its sort value and its ID.
Key: TypeAlias = tuple[str | int | None, str]
Sql: TypeAlias = tuple[str, tuple[Any, ...]]


class Direction(Struct, frozen=True):
    """Direction in which a search reads the entries of a list.

    `column` is a column of numbers or ADDRESS. Entries without a value are last if `is_forward`, else first. The search
    begins after the key `start`.
    """

    column: str
    is_ascending: bool
    is_forward: bool
    start: Key | None

    @property
    def has_nulls(self) -> bool:
        return self.column != ADDRESS

    @property
    def sort_value(self) -> Expression | F:
        return F(self.column) if self.has_nulls else ENTRY_ADDRESS

    @property
    def beyond(self) -> str:
        return ">" if self.is_ascending else "<"

    @property
    def sql(self) -> str:
        return "ASC" if self.is_ascending else "DESC"


class Matches(Struct, frozen=True):
    """IDs of matching entries, in the reading direction.

    `total` is the number of all matching entries, or None if they were not counted. `examined_to` is the key of the
    last entry that was read, if the search stopped before the end of the list without finding enough entries.
    """

    ids: Sequence[str]
    total: int | None
    examined_to: Key | None = None


def search(site_list: SiteList, wanted: EntryFilter, direction: Direction, limit: int) -> Matches:
    """Return the first `limit` matching entries in a direction."""
    condition = wanted.condition_in(site_list)
    if site_list.entries_count <= MAX_SMALL_LIST:
        return _search_all(site_list, condition, direction, limit)
    for indexed in _selective_conditions(site_list, wanted):
        matches = _search_candidates(site_list, indexed, condition, direction, limit)
        if matches is not None:
            return matches
    return _search_in_order(site_list, condition, direction, limit)


def _search_all(site_list: SiteList, condition: Q, direction: Direction, limit: int) -> Matches:
    """Search all entries of a list with one SQL statement.

    Without a condition, the list's column `entries_count` is the number of entries.
    """
    rows = site_list.entries.filter(condition).order_by().values_list("id", direction.sort_value)
    sql, params = rows.query.sql_with_params()
    count_sql = "(SELECT count(*) FROM matching)" if condition else "%s"
    count_params = () if condition else (site_list.entries_count,)
    page, page_params = _page_sql("matching", "true", direction, limit)
    statement = f"""
        WITH matching (id, key) AS {"" if condition else "NOT "}MATERIALIZED ({sql}) SELECT {count_sql}, {page}
    """  # All values are bound parameters.
    ((total, ids),) = _fetch((statement, (*params, *count_params, *page_params)))
    return Matches(ids, total)


def _selective_conditions(site_list: SiteList, wanted: EntryFilter) -> list[Sequence[Q]]:
    """Return the filter's indexed conditions that few entries probably meet, those with the fewest first."""
    estimates = [(_estimate(site_list, indexed), indexed) for indexed in wanted.indexed_conditions()]
    estimates.sort(key=operator.itemgetter(0))
    few = [indexed for estimate, indexed in estimates if estimate <= MAX_ESTIMATED_CANDIDATES]
    return few[:MAX_TRIED_CONDITIONS]


def _estimate(site_list: SiteList, indexed: Sequence[Q]) -> int:
    """Return PostgreSQL's estimate of how many entries meet a condition, which it makes without reading any."""
    sql, params = _candidates_sql(site_list, indexed)
    ((plan,),) = _fetch((f"EXPLAIN (FORMAT JSON) {sql}", params))
    return int(plan[0]["Plan"]["Plan Rows"])


def _candidates_sql(site_list: SiteList, indexed: Sequence[Q], limit: int | None = None) -> Sql:
    """Return the SQL query for the entries that meet an indexed condition, at most `limit` of each alternative."""
    queries = [
        site_list.entries.filter(alternative).order_by()[:limit].query.sql_with_params() for alternative in indexed
    ]
    params = itertools.chain.from_iterable(params for _, params in queries)
    return " UNION ALL ".join(f"({sql})" for sql, _ in queries), tuple(params)


def _search_candidates(
    site_list: SiteList, indexed: Sequence[Q], condition: Q, direction: Direction, limit: int
) -> Matches | None:
    """Search the entries that meet an indexed condition, or return None if there are too many of them."""
    # Each alternative has its own limit, so that PostgreSQL does not read all matches of a condition from its index.
    source = _candidates_sql(site_list, indexed, limit=MAX_CANDIDATES + 1)
    judged = ListEntry.objects.order_by().annotate(
        key=direction.sort_value, matches=ExpressionWrapper(condition, output_field=BooleanField())
    )
    sql, params = _from(judged.values_list("id", "key", "matches"), source)
    page, page_params = _page_sql("candidate", "matches", direction, limit)
    statement = f"""
        WITH candidate (id, key, matches) AS MATERIALIZED ({sql})
        SELECT (SELECT count(*) FROM candidate), (SELECT count(*) FROM candidate WHERE matches), {page}
    """  # noqa: S608  # All values are bound parameters.
    ((number, total, ids),) = _fetch((statement, (*params, *page_params)))
    return None if number > MAX_CANDIDATES else Matches(ids, total)


def _page_sql(relation: str, condition: str, direction: Direction, limit: int) -> Sql:
    """Return the SQL expression for an array of the next IDs of a relation with the columns `id` and `key`."""
    beyond, params = _beyond_sql(direction)
    # Addresses are never NULL, so the sort order does not need NULLS FIRST or LAST, and PostgreSQL can use the index.
    nulls = f" NULLS {'LAST' if direction.is_forward else 'FIRST'}" if direction.has_nulls else ""
    order = f"key {direction.sql}{nulls}, id {direction.sql}"
    page = f"ARRAY(SELECT id FROM {relation} WHERE {condition} AND ({beyond}) ORDER BY {order} LIMIT %s)"  # noqa: S608
    return page, (*params, limit)


def _beyond_sql(direction: Direction) -> Sql:
    """Return the SQL condition for entries beyond the start."""
    if direction.start is None:
        return "true", ()
    value, id = direction.start
    if value is None:
        null, joined = ("NULL", "AND") if direction.is_forward else ("NOT NULL", "OR")
        return f"key IS {null} {joined} id {direction.beyond} %s", (id,)
    condition = f"(key, id) {direction.beyond} (%s, %s)"
    return f"{condition} OR key IS NULL" if direction.has_nulls and direction.is_forward else condition, (value, id)


def _search_in_order(site_list: SiteList, condition: Q, direction: Direction, limit: int) -> Matches:
    """Read at most `MAX_EXAMINED` entries in the sort order, and return those that match."""
    ids: list[str] = []
    examined = MAX_EXAMINED if condition else limit
    for part in _parts(direction):
        source = _part_sql(site_list, direction, part, examined)
        rows = ListEntry.objects.filter(condition).order_by().values_list("id")[: limit - len(ids)]
        # The rows of the source are sorted, and a filter does not change their order.
        ids += [id for (id,) in _fetch(_from(rows, source))]
        if len(ids) >= limit:
            break
        if condition and (end := _last_key(site_list, direction, part, examined)) is not None:
            return Matches(ids, None, end)
    is_whole_list = direction.start is None and len(ids) < limit
    if condition:
        return Matches(ids, len(ids) if is_whole_list else None)
    return Matches(ids, site_list.entries_count)


def _parts(direction: Direction) -> Iterator[Sql]:
    """Yield the SQL conditions of the parts of a list, in the reading direction: entries with and without a value.

    They are separate because PostgreSQL cannot read an index in descending order with the NULLs last.
    """
    value, id = direction.start or (None, "")
    key, beyond = _key_sql(direction), direction.beyond
    after_value: Sql = (f"AND ({key}, id) {beyond} (%s, %s)", (value, id)) if value is not None else ("", ())
    with_value = f"{key} IS NOT NULL {after_value[0]}" if direction.has_nulls else f"true {after_value[0]}"
    after_null: Sql = (f"AND id {beyond} %s", (id,)) if direction.start and value is None else ("", ())
    valued, null = (with_value, after_value[1]), (f"{key} IS NULL {after_null[0]}", after_null[1])
    if not direction.has_nulls:
        yield valued
    elif direction.is_forward:
        if not after_null[0]:
            yield valued
        yield null
    else:
        if not after_value[0]:
            yield null
        yield valued


def _key_sql(direction: Direction) -> str:
    return direction.column if direction.has_nulls else f'left(url, {SORTED_CHARACTERS}) COLLATE "C"'


def _part_sql(site_list: SiteList, direction: Direction, part: Sql, limit: int) -> Sql:
    """Return the SQL query for the first entries of a part in the reading direction."""
    order = f"{_key_sql(direction)} {direction.sql}, id {direction.sql}"
    condition, params = part
    sql = f"SELECT * FROM {TABLE} WHERE site_list_id = %s AND {condition} ORDER BY {order} LIMIT %s"  # noqa: S608
    return sql, (site_list.id, *params, limit)


def _last_key(site_list: SiteList, direction: Direction, part: Sql, examined: int) -> Key | None:
    """Return the key of the last examined entry of a part, or None if the part has fewer entries."""
    sql, params = _part_sql(site_list, direction, part, 1)
    keys = sql.replace("SELECT *", f"SELECT {_key_sql(direction)}, id", 1)
    rows = _fetch((f"{keys} OFFSET %s", (*params, examined - 1)))
    return rows[0] if rows else None


def _from(rows: QuerySet[ListEntry, Any], source: Sql) -> Sql:
    """Return the SQL of an ORM query that reads its rows from the query `source` instead of the table."""
    sql, params = rows.query.sql_with_params()
    before, after = sql.split(f"FROM {TABLE}", 1)
    bound_before = before.count("%s")
    sources, source_params = source
    return (
        f"{before}FROM ({sources}) AS {TABLE}{after}",
        (*params[:bound_before], *source_params, *params[bound_before:]),
    )


def _fetch(sql: Sql) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(*sql)
        rows: list[tuple[Any, ...]] = cursor.fetchall()
        return rows
