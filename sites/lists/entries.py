"""Pagination of a list's entries.

A page needs two queries: the first returns the IDs and the total number of matches, the second the entries. A cursor
has the sort value and the ID of the entry next to the page, so that the last page is as fast as the first.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, TypeAlias

from django.db import connection
from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.http import QueryDict

from infrastructure.api.errors import InvalidParams
from infrastructure.api.pagination import DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE, choice, integer
from infrastructure.web import keyset
from scans.models import Scan
from sites.lists.check_names import check_of, outcome_of
from sites.models import ListEntry, ListResult, SiteList
from sites.models.site_list import ENTRY_ADDRESS, SORTED_CHARACTERS
from website_scan.json_types import GRADES

MAX_TEXT_LENGTH = 200
TYPES: Sequence[str] = Scan.Type.values
# Columns by name of the sort order. Entries without a value are always last.
SORTS: Mapping[str, str] = {
    "url": "address",
    **{type: f"{type}_score" for type in TYPES},
    **{f"{type}_change": f"{type}_change" for type in TYPES},
}
ORDERS = tuple(f"{sign}{name}" for name in SORTS for sign in ("", "-"))
CURSOR = re.compile(rf"(-?[a-z_]{{3,30}})\.([ab])\.(.{{0,{SORTED_CHARACTERS}}})\.(ent_[0-9A-Za-z]{{22}})", re.ASCII)

# Annotation that is true if an entry is being scanned or waits for a scan outside a run.
_STARTED = Q(status__in=(ListResult.Status.STARTED, ListResult.Status.ENDED))
_WAITING = Q(status=ListResult.Status.WAITING, run=None)
_IS_IN_PROGRESS = Exists(ListResult.objects.filter(_STARTED | _WAITING, entry=OuterRef("pk")))

NUMBER_IN_CURSOR = re.compile(r"-?[0-9]{0,3}", re.ASCII)


@dataclass(frozen=True, slots=True)
class EntryFilter:
    """Filter of a list's entries. Fields that are empty or None are ignored.

    `grade`, `least` and `most` (scores) apply to the scan `type`, or to any type if it is empty; `type` alone matches
    entries with a score of this type. `check` is the ID of a failed check, `outcome` an outcome that failed or warned,
    such as `hsts.short`, `text` a part of the URL or the note.

    The last four are facts about the site: `hsts` is yes or no, `http_status` a number such as 404, `generator` a part
    of the generator's name, `language` a tag such as `de`, which includes `de-AT`.
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
    hsts: str = ""
    http_status: int | None = None
    generator: str = ""
    language: str = ""

    @classmethod
    def of(cls, query: Mapping[str, str], *, is_lenient: bool = False) -> EntryFilter:
        """Parse the filter from query parameters, which have the names of the fields.

        Raises InvalidParams for an invalid value. If `is_lenient`, invalid values are ignored, as in the dashboard.
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
        """Return the filter as query parameters, without empty values."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: str(value) for name, value in values.items() if value not in ("", None)}

    @property
    def condition(self) -> Q:
        """Return the filter as a condition of the ORM."""
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
        condition &= self._fact_condition
        if self.type or self.grade or self.least is not None or self.most is not None:
            type_condition = Q()
            for type in [self.type] if self.type else TYPES:
                type_condition |= self._type_condition(type)
            condition &= type_condition
        return condition

    @property
    def _fact_condition(self) -> Q:
        condition = Q()
        if self.hsts:
            condition &= Q(facts__hsts=self.hsts == "yes")
        if self.http_status is not None:
            condition &= Q(facts__status=self.http_status)
        if self.generator:
            condition &= Q(facts__generator__icontains=self.generator)
        if self.language:
            condition &= Q(facts__language__iexact=self.language) | Q(facts__language__istartswith=f"{self.language}-")
        return condition

    def _type_condition(self, type: str) -> Q:
        condition = Q(**{f"{type}_score__isnull": False})
        if self.grade:
            condition &= Q(**{f"{type}_grade": self.grade})
        if self.least is not None:
            condition &= Q(**{f"{type}_score__gte": self.least})
        if self.most is not None:
            condition &= Q(**{f"{type}_score__lte": self.most})
        return condition


def annotated_entries(site_list: SiteList) -> QuerySet[ListEntry]:
    """Return the list's entries, annotated with their latest `audit_id` and `is_in_progress`."""
    return site_list.entries.annotate(audit_id=F("result__audit_id"), is_in_progress=_IS_IN_PROGRESS)


@dataclass(frozen=True, slots=True)
class EntryPage:
    """Page of annotated entries.

    Each entry has `audit_id` and `is_in_progress`. The cursor of a missing page is None.
    """

    rows: Sequence[ListEntry]
    next_cursor: str | None
    previous_cursor: str | None
    total: int


# Position of an entry in the sort order: its sort value and its ID.
Key: TypeAlias = tuple[str | int | None, str]


@dataclass(frozen=True, slots=True)
class _Cursor:
    """Pagination cursor for one sort order.

    It has the key of the entry before (`is_after`) or after the page.
    """

    sort: str
    is_after: bool
    key: Key

    def __str__(self) -> str:
        value, id = self.key
        return f"{self.sort}.{'a' if self.is_after else 'b'}.{'' if value is None else value}.{id}"

    @classmethod
    def parsed(cls, raw: str, sort: str) -> _Cursor:
        """Parse a cursor for this sort order.

        Raises InvalidParams, also for a cursor of another sort order.
        """
        match = CURSOR.fullmatch(raw)
        is_number = SORTS[sort.removeprefix("-")] != "address"
        if match and match[1] != sort and match[1] in ORDERS:
            raise InvalidParams(f"cursor is of a page in the order {match[1]}, and this one is in the order {sort}.")
        is_intact = match and match[1] == sort and (not is_number or NUMBER_IN_CURSOR.fullmatch(match[3]))
        if not (match and is_intact):
            raise InvalidParams("cursor must be the next_cursor or previous_cursor of a page in the same order.")
        value: str | int | None = match[3]
        if is_number:
            value = int(match[3]) if match[3].strip("-") else None
        return cls(sort, match[2] == "a", (value, match[4]))


def entries_page(
    site_list: SiteList, wanted: EntryFilter, *, sort: str = "url", cursor: str = "", limit: int = DEFAULT_PAGE_SIZE
) -> EntryPage:
    """Return the page of entries at a cursor, or the first page without a cursor.

    `sort` is one of ORDERS.

    Raises InvalidParams for an invalid cursor, or a cursor of another sort order.
    """
    column, is_ascending = SORTS[sort.removeprefix("-")], not sort.startswith("-")
    start = _Cursor.parsed(cursor, sort) if cursor else None
    total = 0

    def key(entry: ListEntry) -> Key:
        return entry.url[:SORTED_CHARACTERS] if column == "address" else getattr(entry, column), entry.id

    def read(beyond: Key | None, *, is_backward: bool) -> tuple[list[ListEntry], Key | None]:
        nonlocal total
        cursor_at_key = None if beyond is None else _Cursor(sort, not is_backward, beyond)
        # Previous pages are read in reverse order, beginning with the entry nearest to the cursor.
        direction = is_ascending != is_backward
        total, ids = _search(site_list, wanted.condition, column, cursor_at_key, is_ascending=direction, limit=limit)
        entries = annotated_entries(site_list).in_bulk(ids[:limit])
        # Another request may have deleted entries since the first query.
        page_entries: list[ListEntry] = [entries[id] for id in ids[:limit] if id in entries]
        return page_entries, key(page_entries[-1]) if page_entries and len(ids) > limit else None

    back = start.key if start is not None and not start.is_after else None
    on = start.key if start is not None and start.is_after else None
    page = keyset.turn(read, back=back, on=on, size=limit, key=key, beside=lambda *_: None)
    return EntryPage(
        page.rows,
        str(_Cursor(sort, True, page.next)) if page.next else None,
        str(_Cursor(sort, False, page.previous)) if page.previous else None,
        total,
    )


def _search(
    site_list: SiteList, condition: Q, column: str, start: _Cursor | None, *, is_ascending: bool, limit: int
) -> tuple[int, list[str]]:
    """Return the number of matching entries, and the IDs of those beyond the cursor.

    Returns at most `limit` + 1 IDs. One SQL statement returns both. Without a condition, the list's column
    `entries_count` is the number of entries.
    """
    sort_value = ENTRY_ADDRESS if column == "address" else column
    sql, params = site_list.entries.filter(condition).order_by().values_list("id", sort_value).query.sql_with_params()
    count_sql = "(SELECT count(*) FROM matching)" if condition else "%s"
    beyond, cursor_params = _beyond(start, is_ascending=is_ascending, has_nulls=column != "address")
    is_forward = start is None or start.is_after
    # Addresses are never NULL, so the sort order does not need NULLS FIRST or LAST, and PostgreSQL can use the index.
    nulls = "" if column == "address" else f" NULLS {'LAST' if is_forward else 'FIRST'}"
    direction = "ASC" if is_ascending else "DESC"
    statement = f"""
        WITH matching (id, key) AS {"" if condition else "NOT "}MATERIALIZED ({sql})
        SELECT {count_sql}, ARRAY(
            SELECT id FROM matching WHERE {beyond} ORDER BY key {direction}{nulls}, id {direction} LIMIT %s
        )
    """  # noqa: S608  # All values are bound parameters.
    count_params = [] if condition else [site_list.entries_count]
    with connection.cursor() as cursor:
        cursor.execute(statement, [*params, *count_params, *cursor_params, limit + 1])
        total, ids = cursor.fetchone()
    return total, ids


def _beyond(start: _Cursor | None, *, is_ascending: bool, has_nulls: bool) -> tuple[str, list[str | int]]:
    """Return the SQL condition (with parameters) for entries beyond a cursor in the reading direction.

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
    """Return the page size from the query parameter `limit`.

    Raises InvalidParams.
    """
    return integer(query, "limit", default=DEFAULT_PAGE_SIZE, least=1, most=MAX_PAGE_SIZE)


def sort_of(query: QueryDict) -> str:
    """Return the sort order from the query parameter `sort`, by default `url`.

    Raises InvalidParams.
    """
    return choice(query, "sort", ORDERS) or "url"


def _text(query: Mapping[str, str], name: str) -> str:
    text = query[name]
    if not text.strip() or len(text) > MAX_TEXT_LENGTH or not text.isprintable():
        raise InvalidParams(f"{name} must have 1 to {MAX_TEXT_LENGTH} printable characters.")
    return text.strip()


# Parsers for the fields of `EntryFilter`. The API reports the first invalid parameter in this order.
PARSERS: Mapping[str, Callable[[Mapping[str, str], str], Any]] = {
    "least": functools.partial(integer, default=0, least=0, most=100),
    "most": functools.partial(integer, default=100, least=0, most=100),
    "tag": _text,
    "type": functools.partial(choice, known=TYPES),
    "grade": functools.partial(choice, known=GRADES),
    "check": lambda query, name: check_of(name, query[name]),
    "outcome": lambda query, name: outcome_of(name, query[name]),
    "state": functools.partial(choice, known=ListEntry.State.values),
    "text": _text,
    "hsts": functools.partial(choice, known=("yes", "no")),
    "http_status": functools.partial(integer, default=200, least=100, most=599),
    "generator": _text,
    "language": _text,
}


def _contains(text: str) -> Q:
    """Return the condition for entries that contain a text in their URL or note.

    Hosts are stored in Punycode.
    """
    condition = Q(url__icontains=text) | Q(note__icontains=text)
    if text.isascii():
        return condition
    try:
        return condition | Q(host__contains=text.lower().encode("idna").decode())
    except UnicodeError:
        return condition
