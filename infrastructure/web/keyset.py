"""Keyset pagination of rows by time, newest first. The last page costs as much as the first, unlike with OFFSET."""

from __future__ import annotations

import heapq
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Generic, TypeAlias, TypeVar
from urllib.parse import urlencode

from django.db.models import Model, Q, QuerySet

M = TypeVar("M", bound=Model)
# Cursor at which a page begins: `created_at` and `id` of a row that is not on the page.
Cursor: TypeAlias = tuple[datetime, str]

# The number of rows that one page searches with a condition that no index serves.
WINDOW = 10_000
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class RowPage(Generic[M]):
    """A page of rows, newest first, with the query strings of the newer and the older page; None if there is none.

    `searched_to` is the time back to which the rows were searched, if the search stopped before the end.
    """

    rows: list[M]
    newer: str | None
    older: str | None
    searched_to: datetime | None = None


def page(
    sources: Sequence[QuerySet[M]],
    query: Mapping[str, str],
    *,
    size: int,
    filters: Mapping[str, str],
    match: Q | None = None,
) -> RowPage[M]:
    """Return the page for the cursor `before` or `after` of a query string; the newest page if the cursor is invalid.

    Each of the `sources` needs the columns `created_at` and `id`, and an index that ends with the two. Rows of several
    sources with the same `created_at` are ordered by the prefix of their IDs. `filters` go into the links. `match` is
    a condition that no index serves: each page tests at most WINDOW rows of each source.
    """
    before, after = _cursor(query.get("before")), _cursor(query.get("after"))
    if after is not None:
        ordered = [_later(rows, after).order_by("created_at", "id") for rows in sources]
        found, end = _take(ordered, size, match, is_ascending=True)
        if end is not None:
            older = _link(filters, before=_cursor_of(found[0]) if found else _moved(after, 1))
            return RowPage(found[::-1], _link(filters, after=end), older)
        before = None  # the newer rows do not fill a page: show the first page
    ordered = [rows.order_by("-created_at", "-id") for rows in sources]
    found, end = _take([_earlier(rows, before) if before else rows for rows in ordered], size, match)
    newer = None
    if before is not None:
        newer = _link(filters, after=_cursor_of(found[0]) if found else _moved(before, -1))
    stopped = end is not None and len(found) < size
    return RowPage(found, newer, _link(filters, before=end) if end else None, end[0] if end and stopped else None)


def _take(
    sources: Sequence[QuerySet[M]], size: int, match: Q | None, *, is_ascending: bool = False
) -> tuple[list[M], Cursor | None]:
    """Return up to `size` rows of all sources, merged in order, and the cursor after which there may be more."""
    taken = [_window(ordered, size, match, is_ascending=is_ascending) for ordered in sources]
    found = list(heapq.merge(*(rows for rows, _ in taken), key=_order, reverse=not is_ascending))
    ends = [end for _, end in taken if end is not None]
    # Cut off at the first cursor at which a source has stopped: beyond it, that source may have rows not yet read.
    stop = (min if is_ascending else max)(ends, key=_order_of, default=None)
    if stop is not None:
        at = _order_of(stop)
        found = [row for row in found if (_order(row) <= at if is_ascending else _order(row) >= at)]
    if len(found) > size:
        return found[:size], _cursor_of(found[size - 1])
    return found, stop


def _window(ordered: QuerySet[M], size: int, match: Q | None, *, is_ascending: bool) -> tuple[list[M], Cursor | None]:
    """Return up to `size` + 1 matching rows of a source, and the cursor of the last row searched, None at the end."""
    last = None
    if match is not None:
        beyond = ordered.values_list("created_at", "id")[WINDOW - 1 : WINDOW + 1]
        last = beyond[0] if len(beyond) > 1 else None
        within = "created_at__lte" if is_ascending else "created_at__gte"
        ordered = ordered.filter(match, **({within: last[0]} if last else {}))
    return list(ordered[: size + 1]), last


def _order(row: Any) -> tuple[datetime, str]:
    return _order_of(_cursor_of(row))


def _order_of(cursor: Cursor) -> tuple[datetime, str]:
    """Return the sort key for merging: the time, then the ID's prefix. Rows of one source keep their order."""
    return cursor[0], cursor[1].partition("_")[0]


def _earlier(rows: QuerySet[M], cursor: Cursor) -> QuerySet[M]:
    created_at, id = cursor
    return rows.filter(created_at__lte=created_at).exclude(created_at=created_at, id__gte=id)


def _later(rows: QuerySet[M], cursor: Cursor) -> QuerySet[M]:
    created_at, id = cursor
    return rows.filter(created_at__gte=created_at).exclude(created_at=created_at, id__lte=id)


def _cursor_of(row: Any) -> Cursor:
    return row.created_at, row.id


def _moved(cursor: Cursor, microseconds: int) -> Cursor:
    """Return a cursor moved beyond the row, so that the link back from an empty page includes the row."""
    return cursor[0] + timedelta(microseconds=microseconds), cursor[1]


def _link(filters: Mapping[str, str], **cursor: Cursor) -> str:
    ((name, (created_at, id)),) = cursor.items()
    microseconds = (created_at - EPOCH) // timedelta(microseconds=1)
    return urlencode({**filters, name: f"{microseconds}_{id}"})


def _cursor(raw: str | None) -> Cursor | None:
    found = re.fullmatch(r"([0-9]{1,16})_([a-z]{1,8}_[0-9A-Za-z]{1,32})", raw or "", re.ASCII)
    return (EPOCH + timedelta(microseconds=int(found[1])), found[2]) if found else None


def page_by_time(
    rows: QuerySet[M], query: Mapping[str, str], *, column: str, size: int, filters: Mapping[str, str]
) -> RowPage[M]:
    """Return a page of rows ordered by one timestamp column, as `page` does. The column must be unique and indexed."""
    before, after = _moment(query.get("before")), _moment(query.get("after"))
    if after is not None:
        found = list(rows.filter(**{f"{column}__gt": after}).order_by(column)[: size + 1])
        if len(found) > size:
            shown = found[size - 1 :: -1]
            first, last = getattr(shown[0], column), getattr(shown[-1], column)
            return RowPage(shown, _link_to(filters, after=first), _link_to(filters, before=last))
        before = None  # the newer rows do not fill a page: show the first page
    found = list((rows.filter(**{f"{column}__lt": before}) if before else rows).order_by(f"-{column}")[: size + 1])
    shown = found[:size]
    newer = older = None
    if before is not None:
        newer = _link_to(filters, after=getattr(shown[0], column) if shown else before - timedelta(microseconds=1))
    if len(found) > size:
        older = _link_to(filters, before=getattr(shown[-1], column))
    return RowPage(shown, newer, older)


def _link_to(filters: Mapping[str, str], **place: datetime) -> str:
    ((name, moment),) = place.items()
    return urlencode({**filters, name: (moment - EPOCH) // timedelta(microseconds=1)})


def _moment(raw: str | None) -> datetime | None:
    found = re.fullmatch(r"[0-9]{1,16}", raw or "", re.ASCII)
    return EPOCH + timedelta(microseconds=int(found[0])) if found else None


def search_text(query: Mapping[str, str]) -> str:
    """Return the search text (`q`), without NUL characters and surrounding spaces, cut to 200 characters."""
    return query.get("q", "").replace("\0", "").strip()[:200]
