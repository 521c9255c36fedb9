"""Imports of lists that are too large for one request: in parts, and continued after an interruption.

Each part adds its sites and records them under the import's name. Sending a part again changes nothing. When all parts
have been sent, the sites that are in none of them are removed, in batches. Memory and time of each request are limited
by the size of a part or a batch. The import is finished in the transaction of the last batch, so that a repeated
request cannot examine sites while the records of the parts are being deleted.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TypedDict

from django.db import connection, transaction
from django.db.models import QuerySet
from django.utils import timezone

from accounts import activity
from accounts.access import Lock
from accounts.authentication import Caller
from infrastructure.api.errors import InvalidParams
from infrastructure.postgresql.statements import fetch
from sites.lists.importing import ImportNumbers, add_entries
from sites.lists.services import remove_entries, save_entries_count
from sites.lists.uploads import Row
from sites.models import ListImport, SiteList
from sites.models.site_list import SORTED_CHARACTERS
from sites.resources import LIST, LIST_ENTRY
from website_scan.ids import is_id
from website_scan.json_types import Count, component

NAME = re.compile(r"[0-9A-Za-z._-]{1,40}", re.ASCII)
MAX_NAMES = 10
State = ListImport.State
# Maximum numbers of entries that a request examines, and removes. The removal of an entry updates its results in all
# runs, which takes a long time if the list has had many.
ENTRIES_PER_REQUEST = 10_000
MAX_REMOVED = 1_000
ADDRESS = f'left(url, {SORTED_CHARACTERS}) COLLATE "C"'
RECORDED = """
    SELECT url FROM unnest(%(urls)s::text[]) AS url WHERE EXISTS (
        SELECT FROM sites_listimportsite WHERE list_import_id = %(import)s AND digest = md5(url)::uuid
    )
"""
RECORD = """
    INSERT INTO sites_listimportsite (list_import_id, digest)
    SELECT %s, md5(url)::uuid FROM unnest(%s::text[]) AS url ON CONFLICT DO NOTHING
"""
# Selects the next entries in the order of their addresses, with True for those that no part had.
EXAMINED = f"""
    SELECT id, NOT EXISTS (
        SELECT FROM sites_listimportsite WHERE list_import_id = %(import)s AND digest = md5(url)::uuid
    ) FROM sites_listentry WHERE site_list_id = %(list)s AND ({ADDRESS}, id) > (%(address)s, %(id)s)
    ORDER BY {ADDRESS}, id LIMIT %(limit)s
"""  # noqa: S608  # Only constants are interpolated.
DELETE_RECORDS = """
    DELETE FROM sites_listimportsite WHERE id IN (
        SELECT id FROM sites_listimportsite WHERE list_import_id = %s LIMIT %s
    )
"""
RECORDS_PER_DELETION = 20_000


@component("RemovedEntries")
class RemovedEntries(TypedDict):
    """Number of removed sites. The cursor is null if all sites of the list have been examined."""

    removed: Count
    next_cursor: str | None


def parse_name(name: str) -> str:
    """Return the name of an import. Raises InvalidParams."""
    if not NAME.fullmatch(name):
        raise InvalidParams("import must have 1 to 40 letters, digits, hyphens, dots or underscores.")
    return name


def add_part(*, caller: Caller, list_id: str, name: str, rows: Sequence[Row]) -> ImportNumbers:
    """Add the sites of a part to a list, and record that the import has them.

    Existing sites get the tags and notes of the part, or additional ones if an earlier part had them. Raises the same
    as `add_entries`. If the list has too many unfinished imports, the one that has been idle the longest is forgotten.
    """
    urls = [row.url for row in rows]
    with transaction.atomic():
        site_list = LIST.find(caller.organization_id, list_id, lock=Lock.CHANGE)
        list_import, is_new = ListImport.objects.update_or_create(
            site_list=site_list, name=name, state=State.OPEN, defaults={"last_part_at": timezone.now()}
        )
        if is_new:
            idle = _imports(site_list, State.OPEN).order_by("-last_part_at", "-id").values("id")[MAX_NAMES:]
            ListImport.objects.filter(id__in=idle).update(state=State.FORGOTTEN)
        recorded = {url for (url,) in fetch(RECORDED, {"import": list_import.id, "urls": urls})}
        numbers = add_entries(caller=caller, list_id=list_id, rows=rows, replaced=set(urls) - recorded)
        with connection.cursor() as cursor:
            cursor.execute(RECORD, [list_import.id, urls])
    return numbers


def _imports(site_list: SiteList, state: State) -> QuerySet[ListImport]:
    return ListImport.objects.filter(site_list=site_list, state=state)


def remove_others(*, caller: Caller, list_id: str, name: str, cursor: str = "") -> RemovedEntries:
    """Remove those of the next entries that no part of the import had. Finishes the import at the end of the list.

    A repeated request for a finished import removes nothing, because the client may not have received the response.
    Raises NotFound, or InvalidParams for an import without parts or an invalid cursor.
    """
    with transaction.atomic():
        site_list = LIST.find(caller.organization_id, list_id, lock=Lock.CHANGE)
        list_import = _imports(site_list, State.OPEN).filter(name=name).first()
        if list_import is None and _imports(site_list, State.FINISHED).filter(name=name).exists():
            return {"removed": 0, "next_cursor": None}
        if list_import is None:
            raise InvalidParams(f"The list has no unfinished import with the name {name}.")
        examined = _examine(site_list, list_import, cursor)
        is_end = len(examined) < ENTRIES_PER_REQUEST
        positions = [position for position, (_, is_other) in enumerate(examined) if is_other]
        if len(positions) > MAX_REMOVED:
            examined, is_end = examined[: positions[MAX_REMOVED]], False
        others = [entry_id for entry_id, is_other in examined if is_other]
        # The next request begins after the last entry that remains, or at this one's cursor.
        remaining = [entry_id for entry_id, is_other in examined if not is_other]
        remove_entries(site_list, others)
        save_entries_count(site_list, site_list.entries_count - len(others))
        if others:
            details = {"list": site_list.id, "entries": len(others)}
            activity.record_by_caller(caller, "list.entries_deleted", site_list.name, **details)
        if is_end:
            list_import.state = State.FINISHED
            list_import.save(update_fields=["state"])
    return {"removed": len(others), "next_cursor": None if is_end else (remaining[-1] if remaining else cursor)}


def _examine(site_list: SiteList, list_import: ListImport, cursor: str) -> list[tuple[str, bool]]:
    """Return the IDs of the entries after the entry `cursor`, each with True if no part had it."""
    address, after = "", ""
    if cursor:
        if not is_id("ent", cursor):
            raise InvalidParams("cursor must be the next_cursor of an earlier response.")
        entry = LIST_ENTRY.find_in_rows(site_list.entries.all(), cursor)
        address, after = entry.url[:SORTED_CHARACTERS], entry.id
    values = {"import": list_import.id, "list": site_list.id, "address": address, "id": after}
    return [(id, is_other) for id, is_other in fetch(EXAMINED, values | {"limit": ENTRIES_PER_REQUEST})]


def delete_imports(unused_since: datetime, has_time: Callable[[], bool]) -> bool:
    """Delete finished and forgotten imports, and those without a part since `unused_since`, with their records.

    Returns False if `has_time` returned False before all were deleted.
    """
    idle = ListImport.objects.filter(state=State.OPEN, last_part_at__lt=unused_since)
    idle.update(state=State.FORGOTTEN)
    for list_import in ListImport.objects.exclude(state=State.OPEN):
        deleted = RECORDS_PER_DELETION
        while deleted == RECORDS_PER_DELETION:
            if not has_time():
                return False
            with connection.cursor() as cursor:
                cursor.execute(DELETE_RECORDS, [list_import.id, RECORDS_PER_DELETION])
                deleted = cursor.rowcount
        list_import.delete()
    return True
