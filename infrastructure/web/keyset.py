"""Keyset pagination.

A page begins after a row's key, so unlike with OFFSET, the last page is as fast as the first.

`turn` implements pagination for any order and any form of cursor. `by_time` and `by_columns` return pages with links.
"""

from __future__ import annotations

import functools
import heapq
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Generic, Protocol, TypeAlias, TypeVar
from urllib.parse import urlencode

from django.db.models import F, Model, Q, QuerySet
from msgspec import Struct

M = TypeVar("M", bound=Model)
T = TypeVar("T")
K = TypeVar("K")
T_co = TypeVar("T_co", covariant=True)
# Key of a row in an order by time: the time and the ID.
Moment: TypeAlias = tuple[datetime, str]
# A row's key when the order is by columns with whole numbers.
Numbers: TypeAlias = tuple[int | None, ...]

# How many rows a page examines for a condition without an index.
WINDOW = 10_000
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class KeysetPage(Struct, Generic[T, K], frozen=True):
    """A page of rows, and the keys where the previous and next pages begin.

    A key is None if that page is missing.

    `searched_to` is the key of the last examined row, if the search stopped before the end.
    """

    rows: list[T]
    previous: K | None
    next: K | None
    searched_to: K | None = None


class LinkedPage(Struct, Generic[T, K], frozen=True):
    """A page of rows, and the query strings for the previous and next pages.

    None if there is no such page.
    """

    rows: list[T]
    previous: str | None
    next: str | None
    searched_to: K | None = None


class Read(Protocol[T_co, K]):
    """Function that reads the rows nearest to a key and after it.

    With None, it reads from the beginning.

    Returns the rows, and the key after which there may be more rows, or None at the end. With `is_backward`, reads rows
    before the key.
    """

    def __call__(self, beyond: K | None, *, is_backward: bool) -> tuple[Sequence[T_co], K | None]: ...


class Order(Struct, Generic[K], frozen=True):
    """An order for rows, and how its keys are written in links.

    `parse` returns None for text that is not a key.

    `beside` is for a page without rows: it returns the key from which to read in the other direction, so that the row
    of the link's own key is included. Its arguments are that key, and True if the page was read backward.
    """

    parse: Callable[[str], K | None]
    text: Callable[[K], str]
    beside: Callable[[K, bool], K | None]
    is_descending: bool = False

    @property
    def names(self) -> tuple[str, str]:
        """Return the query parameter names that link to the previous and the next page."""
        return ("after", "before") if self.is_descending else ("before", "after")


def turn(
    read: Read[T, K],
    *,
    back: K | None,
    on: K | None,
    size: int,
    key: Callable[[T], K],
    beside: Callable[[K, bool], K | None],
) -> KeysetPage[T, K]:
    """Return the page before the key `back`, the page after the key `on`, or the first page.

    A page has `size` rows.

    If fewer than `size` rows come before `back`, the first page is returned.
    """
    if back is not None:
        rows, end = read(back, is_backward=True)
        if end is not None:
            return KeysetPage(list(reversed(rows)), end, key(rows[0]) if rows else beside(back, True))
        on = None
    rows, end = read(on, is_backward=False)
    previous = None
    if on is not None:
        previous = key(rows[0]) if rows else beside(on, False)
    return KeysetPage(list(rows), previous, end, end if len(rows) < size else None)


def linked(
    read: Read[T, K],
    query: Mapping[str, str],
    *,
    order: Order[K],
    size: int,
    key: Callable[[T], K],
    filters: Mapping[str, str],
) -> LinkedPage[T, K]:
    """Return the page for a query string's parameters, or the first page if the key in them is invalid.

    `filters` are query parameters that are added to the links.
    """
    back, on = (order.parse(query.get(name, "")) for name in order.names)
    page = turn(read, back=back, on=on, size=size, key=key, beside=order.beside)
    previous_query, next_query = (
        None if link_key is None else urlencode({**filters, name: order.text(link_key)})
        for name, link_key in zip(order.names, (page.previous, page.next), strict=True)
    )
    return LinkedPage(page.rows, previous_query, next_query, page.searched_to)


def _parse_moment(raw: str) -> Moment | None:
    match = re.fullmatch(r"([0-9]{1,16})_([a-z]{1,8}_[0-9A-Za-z]{1,32})", raw, re.ASCII)
    return (EPOCH + timedelta(microseconds=int(match[1])), match[2]) if match else None


def _moment_text(key: Moment) -> str:
    return f"{(key[0] - EPOCH) // timedelta(microseconds=1)}_{key[1]}"


def _moved(key: Moment, microseconds: int) -> Moment:
    return key[0] + timedelta(microseconds=microseconds), key[1]


NEWEST_FIRST: Order[Moment] = Order(
    _parse_moment, _moment_text, lambda key, is_backward: _moved(key, 1 if is_backward else -1), is_descending=True
)
OLDEST_FIRST: Order[Moment] = Order(
    _parse_moment, _moment_text, lambda key, is_backward: _moved(key, -1 if is_backward else 1)
)


def by_time(
    sources: Sequence[QuerySet[M]],
    query: Mapping[str, str],
    *,
    size: int,
    filters: Mapping[str, str],
    match: Q | None = None,
    column: str = "created_at",
    order: Order[Moment] = NEWEST_FIRST,
) -> LinkedPage[M, Moment]:
    """Return a page of rows from all sources, ordered by time.

    By default, the newest come first.

    Each of the `sources` needs the columns `column` and `id`, and an index that ends with `column` or with both. Rows
    of different sources with the same time are ordered by the prefix of their IDs. `match` is a condition without an
    index: each page examines at most WINDOW rows of each source.
    """

    def read(beyond: Moment | None, *, is_backward: bool) -> tuple[list[M], Moment | None]:
        is_ascending = order.is_descending == is_backward
        direction = "" if is_ascending else "-"
        ordered = [rows.order_by(f"{direction}{column}", f"{direction}id") for rows in sources]
        if beyond is not None:
            ordered = [_beyond(rows, column, beyond, is_ascending=is_ascending) for rows in ordered]
        return _take(ordered, column, size, match, is_ascending=is_ascending)

    key = functools.partial(_moment_of, column=column)
    return linked(read, query, order=order, size=size, key=key, filters=filters)


def _moment_of(row: Any, column: str) -> Moment:
    return getattr(row, column), row.id


def _beyond(rows: QuerySet[M], column: str, key: Moment, *, is_ascending: bool) -> QuerySet[M]:
    moment, id = key
    side = "gte" if is_ascending else "lte"
    other = "lte" if is_ascending else "gte"
    return rows.filter(**{f"{column}__{side}": moment}).exclude(**{column: moment, f"id__{other}": id})


def _take(
    sources: Sequence[QuerySet[M]], column: str, size: int, match: Q | None, *, is_ascending: bool
) -> tuple[list[M], Moment | None]:
    """Return up to `size` rows from all sources in order, and the key to continue from."""
    windows = [_window(ordered, column, size, match, is_ascending=is_ascending) for ordered in sources]

    def order(row: M) -> tuple[datetime, str]:
        return _merge_key(_moment_of(row, column))

    merged = list(heapq.merge(*(rows for rows, _ in windows), key=order, reverse=not is_ascending))
    ends = [end for _, end in windows if end is not None]
    # Drop rows after the first key at which a source stopped. That source may have unread rows among them.
    stop = (min if is_ascending else max)(ends, key=_merge_key, default=None)
    if stop is not None:
        limit = _merge_key(stop)
        merged = [row for row in merged if (order(row) <= limit if is_ascending else order(row) >= limit)]
    if len(merged) > size:
        return merged[:size], _moment_of(merged[size - 1], column)
    return merged, stop


def _window(
    ordered: QuerySet[M], column: str, size: int, match: Q | None, *, is_ascending: bool
) -> tuple[list[M], Moment | None]:
    """Return up to `size` + 1 matching rows, and the last examined row's key.

    The key is None at the end of the source.
    """
    last = None
    if match is not None:
        beyond = ordered.values_list(column, "id")[WINDOW - 1 : WINDOW + 1]
        last = beyond[0] if len(beyond) > 1 else None
        within = f"{column}__lte" if is_ascending else f"{column}__gte"
        ordered = ordered.filter(match, **({within: last[0]} if last else {}))
    return list(ordered[: size + 1]), last


def _merge_key(key: Moment) -> tuple[datetime, str]:
    """Return the sort key for merging: time, then ID prefix. heapq.merge keeps the order within a source."""
    return key[0], key[1].partition("_")[0]


def numbers(count: int) -> Order[Numbers]:
    """Return an ascending order by `count` columns.

    Values are null or whole numbers up to 999,999,999.
    """

    def parse(raw: str) -> Numbers | None:
        match = re.fullmatch(r"[0-9]{0,9}(\.[0-9]{0,9})*", raw, re.ASCII)
        key = tuple(int(part) if part else None for part in raw.split(".")) if match and raw else ()
        return key if len(key) == count and key[-1] is not None else None

    def beside(key: Numbers, is_backward: bool) -> Numbers:
        assert key[-1] is not None, "the last column is never null"
        return *key[:-1], key[-1] + (-1 if is_backward else 1)

    return Order(parse, lambda key: ".".join("" if part is None else str(part) for part in key), beside)


# Ascending order by a text column, such as a host. On an empty page, the previous-page link leads to the first page.
BY_TEXT: Order[str] = Order(
    parse=lambda raw: raw.replace("\0", "") or None,
    text=str,
    beside=lambda text, is_backward: text if is_backward else "",
)


def by_columns(
    rows: QuerySet[M],
    query: Mapping[str, str],
    *,
    columns: Sequence[str],
    size: int,
    filters: Mapping[str, str],
    match: Q | None = None,
) -> LinkedPage[M, Numbers]:
    """Return a page of rows in ascending order of these whole-number columns.

    Nulls come last.

    The combination of columns must be unique, and the last column must not be null. `match` is a condition without an
    index, for rows in the order of a single column: each page examines at most WINDOW rows.
    """
    assert match is None or len(columns) == 1, "a window is a range of one column"

    def key(row: M) -> Numbers:
        return tuple(getattr(row, column) for column in columns)

    def read(beyond: Numbers | None, *, is_backward: bool) -> tuple[list[M], Numbers | None]:
        expressions = [F(column) for column in columns[:-1]]
        if is_backward:
            ordered = rows.order_by(*(column.desc(nulls_first=True) for column in expressions), f"-{columns[-1]}")
        else:
            ordered = rows.order_by(*(column.asc(nulls_last=True) for column in expressions), columns[-1])
        if beyond is not None:
            ordered = ordered.filter(_beyond_numbers(columns, beyond, is_backward=is_backward))
        end = None
        if match is not None:
            (column,) = columns
            last = list(ordered.values_list(column, flat=True)[WINDOW - 1 : WINDOW + 1])
            if len(last) > 1:
                end = (last[0],)
                ordered = ordered.filter(**{f"{column}__{'gte' if is_backward else 'lte'}": last[0]})
            ordered = ordered.filter(match)
        page = list(ordered[: size + 1])
        return page[:size], key(page[size - 1]) if len(page) > size else end

    return linked(read, query, order=numbers(len(columns)), size=size, key=key, filters=filters)


def _beyond_numbers(columns: Sequence[str], key: Numbers, *, is_backward: bool) -> Q:
    """Return a condition for rows after a key.

    The first columns are equal and the next one is greater.

    Backward, the next column is less. Nulls count as greater than all numbers.
    """
    condition, equal = Q(), Q()
    for column, value in zip(columns, key, strict=True):
        if value is not None:
            is_beyond = Q(**{f"{column}__{'lt' if is_backward else 'gt'}": value})
            if not is_backward and column != columns[-1]:
                is_beyond |= Q(**{f"{column}__isnull": True})
            condition |= equal & is_beyond
        elif is_backward:
            condition |= equal & Q(**{f"{column}__isnull": False})
        equal &= Q(**{f"{column}__isnull": True}) if value is None else Q(**{column: value})
    return condition


def search_text(query: Mapping[str, str]) -> str:
    """Return the search text (`q`) without NUL characters and outer spaces, cut to 200 characters."""
    return query.get("q", "").replace("\0", "").strip()[:200]
