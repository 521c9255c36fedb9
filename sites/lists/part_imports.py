"""Imports of lists that are too large for one request: in parts, and continued after an interruption.

Each part adds its sites and records them under the import's name. Sending a part again changes nothing. When all parts
have been sent, the sites that are in none of them are removed, in batches. Memory and time of each request are limited
by the size of a part or a batch.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TypedDict

from django.db import connection, transaction

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
# A request examines at most this number of entries.
ENTRIES_PER_REQUEST = 10_000
ADDRESS = f'left(url, {SORTED_CHARACTERS}) COLLATE "C"'
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
RECORDS_PER_DELETION = 100_000


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

    Raises the same as `add_entries`, or InvalidParams if the list has too many unfinished imports.
    """
    with transaction.atomic():
        numbers = add_entries(caller=caller, list_id=list_id, rows=rows)
        list_import, is_new = ListImport.objects.get_or_create(site_list_id=list_id, name=name)
        if is_new and ListImport.objects.filter(site_list_id=list_id).count() > MAX_NAMES:
            raise InvalidParams(f"The list has {MAX_NAMES} unfinished imports. Finish one first.")
        with connection.cursor() as cursor:
            cursor.execute(RECORD, [list_import.id, [row.url for row in rows]])
    return numbers


def remove_others(*, caller: Caller, list_id: str, name: str, cursor: str = "") -> RemovedEntries:
    """Remove those of the next entries that no part of the import had. Forgets the import at the end of the list.

    Raises NotFound, or InvalidParams for an import without parts or an invalid cursor.
    """
    with transaction.atomic():
        site_list = LIST.find(caller.organization_id, list_id, lock=Lock.CHANGE)
        list_import = ListImport.objects.filter(site_list=site_list, name=name).first()
        if list_import is None:
            raise InvalidParams(f"The list has no unfinished import with the name {name}.")
        examined = _examine(site_list, list_import, cursor)
        others = [entry_id for entry_id, is_other in examined if is_other]
        is_end = len(examined) < ENTRIES_PER_REQUEST
        # The next request begins after the last entry that remains, or at this one's cursor.
        remaining = [entry_id for entry_id, is_other in examined if not is_other]
        remove_entries(site_list, others)
        save_entries_count(site_list, site_list.entries_count - len(others))
        if others:
            details = {"list": site_list.id, "entries": len(others)}
            activity.record_by_caller(caller, "list.entries_deleted", site_list.name, **details)
    if is_end:
        delete_import(list_import)
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


def delete_import(list_import: ListImport) -> None:
    """Delete an import with its records, in batches."""
    while True:
        with connection.cursor() as cursor:
            cursor.execute(DELETE_RECORDS, [list_import.id, RECORDS_PER_DELETION])
            if cursor.rowcount < RECORDS_PER_DELETION:
                break
    list_import.delete()
