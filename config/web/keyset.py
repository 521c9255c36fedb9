"""Pages of rows by time, newest first. Each begins where the one beside it ends: the last costs what the first does."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Generic, TypeAlias, TypeVar
from urllib.parse import urlencode

from django.db.models import Model, Q, QuerySet

M = TypeVar("M", bound=Model)
# Where a page begins: `created_at` and `id` of a row that is not on it.
Cursor: TypeAlias = tuple[datetime, str]

# How many rows one page looks at for a text that no index knows.
WINDOW = 10_000
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class RowPage(Generic[M]):
    """Some rows, newest first, and the query strings of the pages beside it; None where there is nothing more.

    `searched_to`: until when the rows have been looked through, where a search has stopped before the end.
    """

    rows: list[M]
    newer: str | None
    older: str | None
    searched_to: datetime | None = None


def page(
    rows: QuerySet[M], query: Mapping[str, str], *, size: int, filters: Mapping[str, str], match: Q | None = None
) -> RowPage[M]:
    """The page that `before` or `after` of a query string ask for; the newest when they make no sense.

    `rows` have `created_at` and `id`, and an index that ends with the two. `filters` go into the links. `match` is a
    condition that no index serves: it is held against a bounded number of rows at a time.
    """
    before, after = _cursor(query.get("before")), _cursor(query.get("after"))
    if after is not None:
        found, end = _take(_later(rows, after).order_by("created_at", "id"), size, match, "created_at__lte")
        if end is not None:
            older = _link(filters, before=_cursor_of(found[0]) if found else _moved(after, 1))
            return RowPage(found[::-1], _link(filters, after=end), older)
        before = None  # so few are newer that it is the first page
    ordered = rows.order_by("-created_at", "-id")
    found, end = _take(ordered if before is None else _earlier(ordered, before), size, match, "created_at__gte")
    newer = None
    if before is not None:
        newer = _link(filters, after=_cursor_of(found[0]) if found else _moved(before, -1))
    stopped = end is not None and len(found) < size
    return RowPage(found, newer, _link(filters, before=end) if end else None, end[0] if end and stopped else None)


def _take(ordered: QuerySet[M], size: int, match: Q | None, within: str) -> tuple[list[M], Cursor | None]:
    """Up to `size` rows, and after which place there may be more. `within` compares with the end of the window."""
    last = None
    if match is not None:
        beyond = ordered.values_list("created_at", "id")[WINDOW - 1 : WINDOW + 1]
        # The last of the window, unless nothing comes after it.
        last = beyond[0] if len(beyond) > 1 else None
        ordered = ordered.filter(match, **({within: last[0]} if last else {}))
    found = list(ordered[: size + 1])
    if len(found) > size:
        return found[:size], _cursor_of(found[size - 1])
    return found, last


def _earlier(rows: QuerySet[M], cursor: Cursor) -> QuerySet[M]:
    created_at, id = cursor
    return rows.filter(created_at__lte=created_at).exclude(created_at=created_at, id__gte=id)


def _later(rows: QuerySet[M], cursor: Cursor) -> QuerySet[M]:
    created_at, id = cursor
    return rows.filter(created_at__gte=created_at).exclude(created_at=created_at, id__lte=id)


def _cursor_of(row: Any) -> Cursor:
    return row.created_at, row.id


def _moved(cursor: Cursor, microseconds: int) -> Cursor:
    """A place beyond that of a row, so that the way back from an empty page does not leave the row out."""
    return cursor[0] + timedelta(microseconds=microseconds), cursor[1]


def _link(filters: Mapping[str, str], **cursor: Cursor) -> str:
    ((name, (created_at, id)),) = cursor.items()
    microseconds = (created_at - EPOCH) // timedelta(microseconds=1)
    return urlencode({**filters, name: f"{microseconds}_{id}"})


def _cursor(raw: str | None) -> Cursor | None:
    found = re.fullmatch(r"([0-9]{1,16})_([a-z]{1,8}_[0-9A-Za-z]{1,32})", raw or "", re.ASCII)
    return (EPOCH + timedelta(microseconds=int(found[1])), found[2]) if found else None
