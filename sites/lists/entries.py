"""Pages of a list's entries: filters, orders and cursors.

A page takes two queries: the first returns the IDs and the total number of matches, the second the entries. A cursor
has the sort value and the ID of the entry next to the page, so that the last page is as fast as the first.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, TypeAlias

from django.db import connection
from django.db.models import F, Q
from django.http import QueryDict

from infrastructure.api.errors import InvalidParams
from infrastructure.api.pagination import MAX_PAGE, USUAL_PAGE, choice, integer
from infrastructure.web import keyset
from scans.models import Scan
from sites.models import ListEntry, SiteList
from website_scan.json_types import GRADES

MAX_TEXT = 200
TYPES: Sequence[str] = Scan.Type.values
# Columns by sort name. Entries without a value are always last.
SORTS: Mapping[str, str] = {
    "url": "host",
    **{type: f"{type}_score" for type in TYPES},
    **{f"{type}_change": f"{type}_change" for type in TYPES},
}
ORDERS = tuple(f"{sign}{name}" for name in SORTS for sign in ("", "-"))
CURSOR = re.compile(r"([ab])\.(.{0,300})\.(ent_[0-9A-Za-z]{22})", re.ASCII)


@dataclass(frozen=True, slots=True)
class EntryFilter:
    """Filter of a list's entries. Fields that are empty or None do not filter.

    `grade`, `least` and `most` (scores) apply to the scan `type`, or to any type if it is empty; `type` alone matches
    entries with a score of this type. `check` is the ID of a failed check, `outcome` an outcome that failed or warned,
    such as `hsts.short`, `text` a part of the URL or the note.
    """

    tag: str = ""
    type: str = ""
    grade: str = ""
    least: int | None = None
    most: int | None = None
    check: str = ""
    outcome: str = ""
    state: str = ""
    text: str = ""

    @classmethod
    def of(cls, query: Mapping[str, str], *, is_lenient: bool = False) -> EntryFilter:
        """Parse the filter from query parameters, which have the names of the fields.

        Raises InvalidParams for an invalid value. If `is_lenient`, invalid values are ignored instead: the API is
        strict, pages of the dashboard are lenient.
        """
        values: dict[str, Any] = {}
        for name, parsed in PARSERS.items():
            if name in query:
                try:
                    values[name] = parsed(query, name)
                except InvalidParams:
                    if not is_lenient:
                        raise
        return cls(**values)

    @property
    def parameters(self) -> dict[str, str]:
        """Return the query parameters of the filter, without empty ones."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: str(value) for name, value in values.items() if value not in ("", None)}

    @property
    def condition(self) -> Q:
        """Return the ORM condition that matching entries satisfy."""
        condition = Q()
        if self.tag:
            condition &= Q(tags__contains=[self.tag])
        if self.state:
            condition &= Q(state=self.state)
        if self.check:
            condition &= Q(failing__contains=[self.check])
        if self.outcome:
            condition &= Q(outcomes__contains=[self.outcome])
        if self.text:
            condition &= _contains(self.text)
        if self.type or self.grade or self.least is not None or self.most is not None:
            of_types = Q()
            for type in [self.type] if self.type else TYPES:
                of_types |= self._of_type(type)
            condition &= of_types
        return condition

    def _of_type(self, type: str) -> Q:
        condition = Q(**{f"{type}_score__isnull": False})
        if self.grade:
            condition &= Q(**{f"{type}_grade": self.grade})
        if self.least is not None:
            condition &= Q(**{f"{type}_score__gte": self.least})
        if self.most is not None:
            condition &= Q(**{f"{type}_score__lte": self.most})
        return condition


@dataclass(frozen=True, slots=True)
class EntryPage:
    """Page of entries, each with its `audit_id`. A cursor is None if there is no next or previous page."""

    rows: Sequence[ListEntry]
    next_cursor: str | None
    previous_cursor: str | None
    total: int


# Position of an entry in the order: its sort value and its ID.
Key: TypeAlias = tuple[str | int | None, str]


@dataclass(frozen=True, slots=True)
class _Cursor:
    """Key of the entry next to a page. The page follows the entry if `is_after`, otherwise the page precedes it."""

    is_after: bool
    key: Key

    def __str__(self) -> str:
        value, id = self.key
        return f"{'a' if self.is_after else 'b'}.{'' if value is None else value}.{id}"

    @classmethod
    def parsed(cls, raw: str, *, is_number: bool) -> _Cursor:
        match = CURSOR.fullmatch(raw)
        if match is None or (is_number and not re.fullmatch(r"-?[0-9]{0,3}", match[2], re.ASCII)):
            raise InvalidParams("cursor must be the next_cursor or previous_cursor of a page in the same order.")
        value: str | int | None = match[2]
        if is_number:
            value = int(match[2]) if match[2].strip("-") else None
        return cls(match[1] == "a", (value, match[3]))


def entries_page(
    site_list: SiteList, wanted: EntryFilter, *, sort: str = "url", cursor: str = "", limit: int = USUAL_PAGE
) -> EntryPage:
    """Return the page of entries at a cursor, or the first page if the cursor is empty. `sort` is one of ORDERS.

    Raises InvalidParams for an invalid cursor, or a cursor of another order.
    """
    column, is_ascending = SORTS[sort.removeprefix("-")], not sort.startswith("-")
    start = _Cursor.parsed(cursor, is_number=column != "host") if cursor else None
    total = 0

    def key(entry: ListEntry) -> Key:
        return getattr(entry, column), entry.id

    def read(beyond: Key | None, *, is_backward: bool) -> tuple[list[ListEntry], Key | None]:
        nonlocal total
        place = None if beyond is None else _Cursor(not is_backward, beyond)
        # Backward pages are read from the entry nearest to the cursor, in reverse order.
        direction = is_ascending != is_backward
        total, ids = _search(site_list, wanted.condition, column, place, is_ascending=direction, limit=limit)
        entries = site_list.entries.annotate(audit_id=F("result__audit_id")).in_bulk(ids[:limit])
        # Another request may have deleted entries since the first query.
        page_entries: list[ListEntry] = [entries[id] for id in ids[:limit] if id in entries]
        return page_entries, key(page_entries[-1]) if page_entries and len(ids) > limit else None

    back = start.key if start is not None and not start.is_after else None
    on = start.key if start is not None and start.is_after else None
    page = keyset.turn(read, back=back, on=on, size=limit, key=key, beside=lambda *_: None)
    return EntryPage(
        page.rows,
        str(_Cursor(True, page.next)) if page.next else None,
        str(_Cursor(False, page.previous)) if page.previous else None,
        total,
    )


def _search(
    site_list: SiteList, condition: Q, column: str, start: _Cursor | None, *, is_ascending: bool, limit: int
) -> tuple[int, list[str]]:
    """Return the number of matching entries, and the IDs of the first `limit` + 1 entries beyond the cursor.

    One SQL statement reads the entries once for both. Without a condition, `entries_count` of the list is the number.
    """
    sql, params = site_list.entries.filter(condition).order_by().values_list("id", column).query.sql_with_params()
    count_sql = "(SELECT count(*) FROM matching)" if condition else "%s"
    beyond, cursor_params = _beyond(start, is_ascending=is_ascending, has_nulls=column != "host")
    is_forward = start is None or start.is_after
    # Hosts are never NULL. Without NULLS FIRST or LAST, the order is that of the index, so PostgreSQL can use it.
    nulls = "" if column == "host" else f" NULLS {'LAST' if is_forward else 'FIRST'}"
    direction = "ASC" if is_ascending else "DESC"
    statement = f"""
        WITH matching (id, key) AS {"" if condition else "NOT "}MATERIALIZED ({sql})
        SELECT {count_sql}, ARRAY(
            SELECT id FROM matching WHERE {beyond} ORDER BY key {direction}{nulls}, id {direction} LIMIT %s
        )
    """  # noqa: S608  # all values are bound parameters
    count_params = [] if condition else [site_list.entries_count]
    with connection.cursor() as cursor:
        cursor.execute(statement, [*params, *count_params, *cursor_params, limit + 1])
        total, ids = cursor.fetchone()
    return total, ids


def _beyond(start: _Cursor | None, *, is_ascending: bool, has_nulls: bool) -> tuple[str, list[str | int]]:
    """Return the SQL condition, with its parameters, of the entries beyond a cursor in the direction of reading.

    Entries with NULL as sort value are last when reading forward.
    """
    if start is None:
        return "true", []
    beyond = ">" if is_ascending else "<"
    value, id = start.key
    if value is None:
        return f"key IS {'' if start.is_after else 'NOT '}NULL {'AND' if start.is_after else 'OR'} id {beyond} %s", [id]
    condition = f"(key, id) {beyond} (%s, %s)"
    return f"{condition} OR key IS NULL" if has_nulls and start.is_after else condition, [value, id]


def limit_of(query: QueryDict) -> int:
    """Return the query parameter `limit`: the number of entries on a page."""
    return integer(query, "limit", default=USUAL_PAGE, least=1, most=MAX_PAGE)


def sort_of(query: QueryDict) -> str:
    """Return the query parameter `sort`; the default is `url`."""
    return choice(query, "sort", ORDERS) or "url"


def _text(query: Mapping[str, str], name: str) -> str:
    text = query[name]
    if not text.strip() or len(text) > MAX_TEXT or not text.isprintable():
        raise InvalidParams(f"{name} must have 1 to {MAX_TEXT} printable characters.")
    return text.strip()


# Parsers of the fields of `EntryFilter`. The API reports the first invalid parameter in this order.
PARSERS: Mapping[str, Callable[[Mapping[str, str], str], Any]] = {
    "least": functools.partial(integer, default=0, least=0, most=100),
    "most": functools.partial(integer, default=100, least=0, most=100),
    "tag": _text,
    "type": functools.partial(choice, known=TYPES),
    "grade": functools.partial(choice, known=GRADES),
    "check": _text,
    "outcome": _text,
    "state": functools.partial(choice, known=ListEntry.State.values),
    "text": _text,
}


def _contains(text: str) -> Q:
    """Return the condition of entries with a text in their URL or note. Hosts are stored in Punycode."""
    condition = Q(url__icontains=text) | Q(note__icontains=text)
    if text.isascii():
        return condition
    try:
        return condition | Q(host__contains=text.lower().encode("idna").decode())
    except UnicodeError:
        return condition
