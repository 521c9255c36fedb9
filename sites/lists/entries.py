"""Pagination of a list's entries.

Queries return the IDs of the entries (`entry_search`), and one more the entries themselves. A cursor has the sort value
and the ID of the entry next to the page, so that the last page is as fast as the first.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.http import QueryDict
from msgspec import Struct

from infrastructure.api.errors import InvalidParams
from infrastructure.api.pagination import DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE, choice, integer
from infrastructure.web import keyset
from sites.lists.entry_filters import TYPES, EntryFilter
from sites.lists.entry_search import ADDRESS, Direction, Key, search
from sites.models import ListEntry, ListResult, SiteList
from sites.models.site_list import SORTED_CHARACTERS

# Columns by name of the sort order. Entries without a value are always last.
SORTS: Mapping[str, str] = {
    "url": ADDRESS,
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


def annotated_entries(site_list: SiteList) -> QuerySet[ListEntry]:
    """Return the list's entries, annotated with their latest `audit_id` and `is_in_progress`."""
    return site_list.entries.annotate(audit_id=F("result__audit_id"), is_in_progress=_IS_IN_PROGRESS)


class EntryPage(Struct, frozen=True):
    """Page of annotated entries.

    Each entry has `audit_id` and `is_in_progress`. The cursor of a missing page is None. `total` is None if the
    matching entries were not counted, because the list is large.
    """

    rows: Sequence[ListEntry]
    next_cursor: str | None
    previous_cursor: str | None
    total: int | None


class _Cursor(Struct, frozen=True):
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
        is_number = SORTS[sort.removeprefix("-")] != ADDRESS
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
    total: int | None = None

    def key(entry: ListEntry) -> Key:
        return entry.url[:SORTED_CHARACTERS] if column == ADDRESS else getattr(entry, column), entry.id

    def read(beyond: Key | None, *, is_backward: bool) -> tuple[list[ListEntry], Key | None]:
        nonlocal total
        # Previous pages are read in reverse order, beginning with the entry nearest to the cursor.
        direction = Direction(column, is_ascending != is_backward, not is_backward, beyond)
        matches = search(site_list, wanted, direction, limit + 1)
        total = matches.total
        entries = annotated_entries(site_list).in_bulk(matches.ids[:limit])
        # Another request may have deleted entries since the first query.
        page_entries: list[ListEntry] = [entries[id] for id in matches.ids[:limit] if id in entries]
        return page_entries, key(page_entries[-1]) if page_entries and len(matches.ids) > limit else matches.examined_to

    back = start.key if start is not None and not start.is_after else None
    on = start.key if start is not None and start.is_after else None
    page = keyset.turn(read, back=back, on=on, size=limit, key=key, beside=lambda *_: None)
    return EntryPage(
        page.rows,
        str(_Cursor(sort, True, page.next)) if page.next else None,
        str(_Cursor(sort, False, page.previous)) if page.previous else None,
        total,
    )


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
