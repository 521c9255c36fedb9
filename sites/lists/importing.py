"""Bulk import of sites into a list, with a preview.

An import is one transaction.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from typing import Any, TypedDict

from django.db import connection, transaction
from django.db.models.functions import MD5
from django.utils import timezone
from msgspec import Struct
from msgspec.structs import replace

from accounts import activity
from accounts.access import Lock
from accounts.authentication import Caller
from infrastructure.api.errors import InvalidParams
from sites.lists.services import (
    ListLimit,
    forget_credentials,
    has_new_tags,
    origin_of,
    origin_of_any,
    refuse_too_many_entries,
    remove_entries,
    save_entries_count,
    tags_of,
)
from sites.lists.tags import SEPARATOR, refuse_too_many_tags, tidy_tags
from sites.lists.upload_faults import Faults, refuse_line
from sites.lists.uploads import Row
from sites.models import ListEntry, SiteList
from sites.models.site_list import new_entry_id
from sites.resources import LIST
from website_scan.json_types import Count, component
from website_scan.net.targets import InvalidUrl

# Maximum number of sample URLs of entries that an import would remove.
MAX_SAMPLES = 10
ROWS_PER_STATEMENT = 2_000
MAX_REPLACED_ENTRIES = 100_000
INSERT = """
    INSERT INTO sites_listentry (
        id, site_list_id, url, host, tags, note, created_at, state, error_code, error_message, moved_to, failing,
        history, security_grade, performance_grade, accessibility_grade, seo_grade
    )
    SELECT id, %s, url, host, string_to_array(tags, %s), note, %s, %s, '', '', '', '{}', '{}', '', '', '', ''
    FROM unnest(%s::text[], %s::text[], %s::text[], %s::text[], %s::text[]) AS row (id, url, host, tags, note)
"""
UPDATE = """
    UPDATE sites_listentry AS entry SET tags = string_to_array(row.tags, %s), note = row.note
    FROM unnest(%s::text[], %s::text[], %s::text[]) AS row (id, tags, note)
    WHERE entry.id = row.id AND entry.site_list_id = %s
"""


@component("Import")
class ImportNumbers(TypedDict):
    """Numbers of entries that an import has added, removed, changed (tags or note) and left unchanged."""

    added: Count
    removed: Count
    changed: Count
    unchanged: Count


class Difference(Struct, frozen=True):
    """Preview of an import.

    It counts added, removed, changed and unchanged entries. `removed_urls` are the first that are missing in the
    import. `kinds` has "added" or "changed" by the URL of the import's other entries. `twins` are imported URLs that
    differ only in http and https from another one, or from an entry.
    """

    added: int
    removed: int
    changed: int
    unchanged: int
    removed_urls: list[str]
    kinds: Mapping[str, str]
    twins: frozenset[str]


class _Plan(Struct, frozen=True):
    """Changes that an import would make.

    `removed` has URLs and `changed` has rows, both by entry ID.
    """

    added: list[Row]
    removed: dict[str, str]
    changed: dict[str, Row]
    unchanged: int

    @property
    def numbers(self) -> ImportNumbers:
        return {
            "added": len(self.added),
            "removed": len(self.removed),
            "changed": len(self.changed),
            "unchanged": self.unchanged,
        }


def difference(site_list: SiteList, rows: Sequence[Row]) -> Difference:
    """Return a preview of `replace_entries` without changing the list."""
    plan = _plan_replacement(site_list, rows)
    kinds = {row.url: "changed" for row in plan.changed.values()} | {row.url: "added" for row in plan.added}
    urls = {row.url for row in rows} | set(plan.removed.values())
    twins = frozenset(row.url for row in rows if _with_other_scheme(row.url) in urls)
    return Difference(
        added=len(plan.added),
        removed=len(plan.removed),
        changed=len(plan.changed),
        unchanged=plan.unchanged,
        removed_urls=list(plan.removed.values())[:MAX_SAMPLES],
        kinds=kinds,
        twins=twins,
    )


def _with_other_scheme(url: str) -> str:
    return f"http{url[5:]}" if url.startswith("https") else f"https{url[4:]}"


def _plan_replacement(site_list: SiteList, rows: Sequence[Row]) -> _Plan:
    """Plan the replacement of all entries. Raises ListLimit for lists that are too large to be read into memory."""
    if site_list.entries_count > MAX_REPLACED_ENTRIES:
        raise ListLimit(
            f"The list has more than {MAX_REPLACED_ENTRIES:,} sites, so it cannot be replaced at once. "
            "Import it in parts, with the command or the API."
        )
    entries = site_list.entries.values_list("url", "id", "tags", "note")
    existing = {url: (id, tags, note) for url, id, tags, note in entries}
    added: list[Row] = []
    changed: dict[str, Row] = {}
    unchanged = 0
    for row in rows:
        id, tags, note = existing.pop(row.url, ("", [], ""))
        if not id:
            added.append(row)
        elif set(tags) == set(row.tags) and note == row.note:
            unchanged += 1
        else:
            changed[id] = row
    return _Plan(added, {id: url for url, (id, _, _) in existing.items()}, changed, unchanged)


def _plan_addition(replaced: Set[str], site_list: SiteList, rows: Sequence[Row]) -> _Plan:
    """Plan the addition of rows to the list.

    Existing entries get additional tags, and the note if the row has one. Those with a URL in `replaced` get exactly
    the tags and the note of the row.
    """
    digests = [hashlib.md5(row.url.encode(), usedforsecurity=False).hexdigest() for row in rows]
    entries = site_list.entries.annotate(digest=MD5("url")).filter(digest__in=digests)
    existing = {url: (id, tags, note) for url, id, tags, note in entries.values_list("url", "id", "tags", "note")}
    added: list[Row] = []
    changed: dict[str, Row] = {}
    for row in rows:
        if row.url not in existing:
            added.append(row)
            continue
        id, tags, note = existing[row.url]
        if row.url in replaced:
            if set(tags) != set(row.tags) or note != row.note:
                changed[id] = row
            continue
        try:
            merged = replace(row, tags=tidy_tags((*tags, *row.tags)), note=row.note or note)
        except InvalidParams as refusal:
            refuse_line(row.line, str(refusal))
            raise
        if len(merged.tags) > len(tags) or merged.note != note:
            changed[id] = merged
    return _Plan(added, {}, changed, len(rows) - len(added) - len(changed))


def replace_entries(*, caller: Caller, list_id: str, rows: Sequence[Row]) -> ImportNumbers:
    """Replace all entries of a list.

    Returns the numbers of added, removed, changed and unchanged entries. An entry whose URL is imported again keeps its
    ID and its results. Raises NotFound, ListLimit or InvalidEntries.
    """
    return _import(caller, list_id, rows, _plan_replacement)


def add_entries(
    *, caller: Caller, list_id: str, rows: Sequence[Row], replaced: Set[str] = frozenset()
) -> ImportNumbers:
    """Add entries to a list.

    Existing entries get additional tags, and the note if the row has one. Those with a URL in `replaced` get exactly
    the tags and the note of the row.

    Returns and raises the same as `replace_entries`.
    """
    return _import(caller, list_id, rows, functools.partial(_plan_addition, replaced))


def _import(
    caller: Caller, list_id: str, rows: Sequence[Row], make_plan: Callable[[SiteList, Sequence[Row]], _Plan]
) -> ImportNumbers:
    with transaction.atomic():
        site_list = LIST.find(caller.organization_id, list_id, lock=Lock.CHANGE)
        plan = make_plan(site_list, rows)
        refuse_too_many_entries(site_list, len(plan.added) - len(plan.removed))
        _require_one_origin(site_list, rows, keeps_entries=site_list.entries_count > len(plan.removed))
        is_tag_new = has_new_tags(site_list, {tag for row in rows for tag in row.tags})
        remove_entries(site_list, list(plan.removed))
        for changed in _batches(sorted(plan.changed.items())):
            _update_entries(site_list, changed)
        for added in _batches(plan.added):
            _insert_entries(site_list, added)
        if is_tag_new:
            refuse_too_many_tags(tags_of(site_list))
        save_entries_count(site_list, site_list.entries_count + len(plan.added) - len(plan.removed))
        numbers = plan.numbers
        if plan.added or plan.removed or plan.changed:
            details = {name: number for name, number in numbers.items() if name != "unchanged"}
            activity.record_by_caller(caller, "list.imported", site_list.name, list=site_list.id, **details)
    return numbers


def _require_one_origin(site_list: SiteList, rows: Sequence[Row], *, keeps_entries: bool) -> None:
    """Raise InvalidEntries if a list with credentials would have sites of several origins.

    Credentials are for one origin only. If the import replaces all previous entries (not `keeps_entries`) by another
    origin, the credentials are deleted.
    """
    if site_list.credential_names is None or not rows:
        return
    before = origin_of_any(site_list)
    origin = before if before is not None and keeps_entries else origin_of(rows[0].url)
    faults = Faults()
    for row in rows:
        if origin_of(row.url) != origin:
            faults.add(row.line, InvalidUrl(f"The list has credentials, so all its sites must begin with {origin}/."))
    faults.refuse()
    if before not in (None, origin):
        forget_credentials(site_list)


def _insert_entries(site_list: SiteList, rows: Sequence[Row]) -> None:
    columns = (
        [new_entry_id() for _ in rows],
        [row.url for row in rows],
        [row.host for row in rows],
        [SEPARATOR.join(row.tags) for row in rows],
        [row.note for row in rows],
    )
    with connection.cursor() as cursor:
        cursor.execute(INSERT, [site_list.id, SEPARATOR, timezone.now(), ListEntry.State.NEW, *columns])


def _update_entries(site_list: SiteList, changed: Sequence[tuple[str, Row]]) -> None:
    ids = [id for id, _ in changed]
    # Entries are always locked in the order of their IDs to prevent deadlocks.
    list(site_list.entries.select_for_update(no_key=True).filter(id__in=ids).order_by("id").values_list("id"))
    tags, notes = [SEPARATOR.join(row.tags) for _, row in changed], [row.note for _, row in changed]
    with connection.cursor() as cursor:
        cursor.execute(UPDATE, [SEPARATOR, ids, tags, notes, site_list.id])


def _batches(items: Sequence[Any]) -> Iterable[Sequence[Any]]:
    return (items[begin : begin + ROWS_PER_STATEMENT] for begin in range(0, len(items), ROWS_PER_STATEMENT))
