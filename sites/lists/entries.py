"""Pages of a list's entries: filters, orders and cursors.

A page takes two queries: of IDs with the number of all that match, and of the entries. The cursor is the sort value and
the ID of an entry beside the page, so that the last page costs as much as the first.
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
# Columns by the names of the orders. In all of them, entries without a value are last.
SORTS: Mapping[str, str] = {
    "url": "host",
    **{each: f"{each}_score" for each in TYPES},
    **{f"{each}_change": f"{each}_change" for each in TYPES},
}
ORDERS = tuple(f"{sign}{name}" for name in SORTS for sign in ("", "-"))
CURSOR = re.compile(r"([ab])\.(.{0,300})\.(ent_[0-9A-Za-z]{22})", re.ASCII)


@dataclass(frozen=True, slots=True)
class Wanted:
    """Filter of entries. Empty and None mean any.

    `grade`, `least` and `most` (scores) are of the `type`, or of any type if there is none; a type alone finds entries
    with a score of it. `check` is the ID of a check that fails, `outcome` one that failed or warned, such as
    `hsts.short`, `text` a part of the address or the note.
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
    def of(cls, query: Mapping[str, str], *, is_lenient: bool = False) -> Wanted:
        """Return the filter of a query string, whose parameters have the names of the fields.

        Raises InvalidParams, as the API refuses invalid values; a lenient filter ignores them, as pages do.
        """
        found: dict[str, Any] = {}
        for name, parsed in PARSERS.items():
            if name in query:
                try:
                    found[name] = parsed(query, name)
                except InvalidParams:
                    if not is_lenient:
                        raise
        return cls(**found)

    @property
    def parameters(self) -> dict[str, str]:
        """Return the query parameters of this filter, without those that are empty."""
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        return {name: str(value) for name, value in values.items() if value not in ("", None)}

    @property
    def condition(self) -> Q:
        """Return the condition of entries that match."""
        found = Q()
        if self.tag:
            found &= Q(tags__contains=[self.tag])
        if self.state:
            found &= Q(state=self.state)
        if self.check:
            found &= Q(failing__contains=[self.check])
        if self.outcome:
            found &= Q(outcomes__contains=[self.outcome])
        if self.text:
            found &= _contains(self.text)
        if self.type or self.grade or self.least is not None or self.most is not None:
            of_types = Q()
            for each in [self.type] if self.type else TYPES:
                of_types |= self._of_type(each)
            found &= of_types
        return found

    def _of_type(self, type: str) -> Q:
        found = Q(**{f"{type}_score__isnull": False})
        if self.grade:
            found &= Q(**{f"{type}_grade": self.grade})
        if self.least is not None:
            found &= Q(**{f"{type}_score__gte": self.least})
        if self.most is not None:
            found &= Q(**{f"{type}_score__lte": self.most})
        return found


@dataclass(frozen=True, slots=True)
class EntryPage:
    """Page of entries, each with its `audit_id`, and the cursors of the pages beside it, None if there is none."""

    rows: Sequence[ListEntry]
    next_cursor: str | None
    previous_cursor: str | None
    total: int


# Sort value and ID of an entry.
Key: TypeAlias = tuple[str | int | None, str]


@dataclass(frozen=True, slots=True)
class _Cursor:
    """Key of an entry beside a page. The page is after the entry, or before it."""

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
    site_list: SiteList, wanted: Wanted, *, sort: str = "url", cursor: str = "", limit: int = USUAL_PAGE
) -> EntryPage:
    """Return the page of entries at a cursor, or the first one. `sort` is one of ORDERS.

    Raises InvalidParams for a cursor that is none, or of another order.
    """
    column, is_ascending = SORTS[sort.removeprefix("-")], not sort.startswith("-")
    at = _Cursor.parsed(cursor, is_number=column != "host") if cursor else None
    total = 0

    def key(entry: ListEntry) -> Key:
        return getattr(entry, column), entry.id

    def read(beyond: Key | None, *, is_backward: bool) -> tuple[list[ListEntry], Key | None]:
        nonlocal total
        place = None if beyond is None else _Cursor(not is_backward, beyond)
        # Backward, the nearest entries come first.
        direction = is_ascending != is_backward
        total, ids = _search(site_list, wanted.condition, column, place, is_ascending=direction, limit=limit)
        entries = site_list.entries.annotate(audit_id=F("result__audit_id")).in_bulk(ids[:limit])
        found: list[ListEntry] = [entries[id] for id in ids[:limit] if id in entries]  # some may just have been deleted
        return found, key(found[-1]) if found and len(ids) > limit else None

    back = at.key if at is not None and not at.is_after else None
    on = at.key if at is not None and at.is_after else None
    page = keyset.turn(read, back=back, on=on, size=limit, key=key, beside=lambda *_: None)
    return EntryPage(
        page.rows,
        str(_Cursor(True, page.next)) if page.next else None,
        str(_Cursor(False, page.previous)) if page.previous else None,
        total,
    )


def _search(
    site_list: SiteList, condition: Q, column: str, at: _Cursor | None, *, is_ascending: bool, limit: int
) -> tuple[int, list[str]]:
    """Return the number of entries that match, and the IDs of the first `limit` + 1 beyond the cursor.

    One statement, which reads the entries once for both; without a condition, their number is known.
    """
    sql, params = site_list.entries.filter(condition).order_by().values_list("id", column).query.sql_with_params()
    counted = "(SELECT count(*) FROM matching)" if condition else "%s"
    beyond, of_cursor = _beyond(at, is_ascending=is_ascending, has_nulls=column != "host")
    is_forward = at is None or at.is_after
    # The index of hosts, which are never null, is in PostgreSQL's usual order of nulls.
    nulls = "" if column == "host" else f" NULLS {'LAST' if is_forward else 'FIRST'}"
    direction = "ASC" if is_ascending else "DESC"
    statement = f"""
        WITH matching (id, key) AS {"" if condition else "NOT "}MATERIALIZED ({sql})
        SELECT {counted}, ARRAY(
            SELECT id FROM matching WHERE {beyond} ORDER BY key {direction}{nulls}, id {direction} LIMIT %s
        )
    """  # noqa: S608  # values are parameters
    known = [] if condition else [site_list.entries_count]
    with connection.cursor() as cursor:
        cursor.execute(statement, [*params, *known, *of_cursor, limit + 1])
        total, ids = cursor.fetchone()
    return total, ids


def _beyond(at: _Cursor | None, *, is_ascending: bool, has_nulls: bool) -> tuple[str, list[str | int]]:
    """Return the SQL condition of entries beyond a cursor, in the direction of reading; forwards, nulls are last."""
    if at is None:
        return "true", []
    beyond = ">" if is_ascending else "<"
    value, id = at.key
    if value is None:
        return f"key IS {'' if at.is_after else 'NOT '}NULL {'AND' if at.is_after else 'OR'} id {beyond} %s", [id]
    condition = f"(key, id) {beyond} (%s, %s)"
    return f"{condition} OR key IS NULL" if has_nulls and at.is_after else condition, [value, id]


def limit_of(query: QueryDict) -> int:
    """Return the parameter `limit`, the number of entries of a page."""
    return integer(query, "limit", default=USUAL_PAGE, least=1, most=MAX_PAGE)


def sort_of(query: QueryDict) -> str:
    """Return the parameter `sort`, by default the order by address."""
    return choice(query, "sort", ORDERS) or "url"


def _text(query: Mapping[str, str], name: str) -> str:
    text = query[name]
    if not text.strip() or len(text) > MAX_TEXT or not text.isprintable():
        raise InvalidParams(f"{name} must have 1 to {MAX_TEXT} printable characters.")
    return text.strip()


# Parsers of the parameters of `Wanted`, in the order in which the API refuses them.
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
    """Return the condition of entries with a text in their address or note. Addresses spell hosts in Punycode."""
    found = Q(url__icontains=text) | Q(note__icontains=text)
    if text.isascii():
        return found
    try:
        return found | Q(host__contains=text.lower().encode("idna").decode())
    except UnicodeError:
        return found
