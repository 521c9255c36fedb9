"""Import of uploaded sites into a list: the difference that it makes, and its writing in bulk. All or nothing."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypedDict

from django.db import connection, transaction
from django.db.models.functions import MD5
from django.utils import timezone

from accounts import activity
from accounts.access import Lock
from accounts.authentication import Caller
from infrastructure.api.errors import InvalidParams
from sites.lists.services import (
    forget_credentials,
    origin_of,
    origin_of_any,
    refuse_too_many_entries,
    remove_entries,
    save_number,
    tags_of,
)
from sites.lists.tags import SEPARATOR, refuse_too_many_tags, tidy_tags
from sites.lists.uploads import Faults, Row, refuse_line
from sites.models import ListEntry, SiteList
from sites.models.site_list import new_entry_id
from sites.resources import LIST
from website_scan.json_types import Count, component
from website_scan.net.targets import InvalidUrl

SAMPLES = 10  # of each kind of difference
WRITTEN_AT_ONCE = 10_000
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
    """Numbers of entries that an import has added, removed, changed (tags or note) and left as they were."""

    added: Count
    removed: Count
    changed: Count
    unchanged: Count


@dataclass(frozen=True, slots=True)
class Difference:
    """Numbers of entries that an import adds, removes, changes and leaves, with samples of addresses by kind."""

    added: int
    removed: int
    changed: int
    unchanged: int
    samples: dict[str, list[str]]

    @property
    def numbers(self) -> ImportNumbers:
        return {
            "added": self.added,
            "removed": self.removed,
            "changed": self.changed,
            "unchanged": self.unchanged,
        }


@dataclass(frozen=True, slots=True)
class _Plan:
    """Plan of an import: rows to add, entries to remove and to change by their IDs."""

    added: list[Row]
    removed: dict[str, str]
    changed: dict[str, Row]
    unchanged: int

    @property
    def difference(self) -> Difference:
        samples = {
            "added": [each.url for each in self.added[:SAMPLES]],
            "removed": list(self.removed.values())[:SAMPLES],
            "changed": [each.url for each in list(self.changed.values())[:SAMPLES]],
        }
        return Difference(len(self.added), len(self.removed), len(self.changed), self.unchanged, samples)


def difference(site_list: SiteList, rows: Sequence[Row]) -> Difference:
    """Return what `replace_entries` would do with the list, without doing it."""
    return _replacement(site_list, rows).difference


def _replacement(site_list: SiteList, rows: Sequence[Row]) -> _Plan:
    entries = site_list.entries.values_list("url", "id", "tags", "note")
    known = {url: (id, tags, note) for url, id, tags, note in entries}
    added: list[Row] = []
    changed: dict[str, Row] = {}
    unchanged = 0
    for row in rows:
        id, tags, note = known.pop(row.url, ("", [], ""))
        if not id:
            added.append(row)
        elif set(tags) == set(row.tags) and note == row.note:
            unchanged += 1
        else:
            changed[id] = row
    return _Plan(added, {id: url for url, (id, _, _) in known.items()}, changed, unchanged)


def _addition(site_list: SiteList, rows: Sequence[Row]) -> _Plan:
    """Return a plan that removes nothing: known entries get more tags, and the note if the row has one."""
    digests = [hashlib.md5(row.url.encode(), usedforsecurity=False).hexdigest() for row in rows]
    entries = site_list.entries.annotate(digest=MD5("url")).filter(digest__in=digests)
    known = {url: (id, tags, note) for url, id, tags, note in entries.values_list("url", "id", "tags", "note")}
    added: list[Row] = []
    changed: dict[str, Row] = {}
    for row in rows:
        if row.url not in known:
            added.append(row)
            continue
        id, tags, note = known[row.url]
        try:
            merged = replace(row, tags=tidy_tags((*tags, *row.tags)), note=row.note or note)
        except InvalidParams as refusal:
            refuse_line(row.line, str(refusal))
            raise
        if len(merged.tags) > len(tags) or merged.note != note:
            changed[id] = merged
    return _Plan(added, {}, changed, len(rows) - len(added) - len(changed))


def replace_entries(*, caller: Caller, list_id: str, rows: Sequence[Row]) -> ImportNumbers:
    """Replace all entries; return the numbers of those `added`, `removed`, `changed` and `unchanged`.

    An entry whose address stays keeps its ID and its results. Raises NotFound, ListLimit or InvalidEntries.
    """
    return _import(caller, list_id, rows, _replacement)


def add_entries(*, caller: Caller, list_id: str, rows: Sequence[Row]) -> ImportNumbers:
    """Add entries; those that are there already get more tags, and the note if there is one. As `replace_entries`."""
    return _import(caller, list_id, rows, _addition)


def _import(
    caller: Caller, list_id: str, rows: Sequence[Row], planned: Callable[[SiteList, Sequence[Row]], _Plan]
) -> ImportNumbers:
    with transaction.atomic():
        site_list = LIST.find(caller.organization_id, list_id, lock=Lock.CHANGE)
        plan = planned(site_list, rows)
        refuse_too_many_entries(site_list, len(plan.added) - len(plan.removed))
        _bind_to_one_origin(site_list, rows, stays=site_list.entries_count > len(plan.removed))
        remove_entries(site_list, list(plan.removed))
        for changed in _batches(sorted(plan.changed.items())):
            _write_changes(site_list, changed)
        for added in _batches(plan.added):
            _write(site_list, added)
        if plan.added or plan.changed:
            refuse_too_many_tags(tags_of(site_list))
        save_number(site_list, site_list.entries_count + len(plan.added) - len(plan.removed))
        numbers = plan.difference.numbers
        if plan.added or plan.removed or plan.changed:
            details = {name: number for name, number in numbers.items() if name != "unchanged"}
            activity.record_call(caller, "list.imported", site_list.name, list=site_list.id, **details)
    return numbers


def _bind_to_one_origin(site_list: SiteList, rows: Sequence[Row], *, stays: bool) -> None:
    """Keep the sites of a list with credentials on one origin: they are never sent to another.

    Raises InvalidEntries. If no earlier entry `stays`, a new origin drops the credentials.
    """
    if site_list.credential_names is None or not rows:
        return
    before = origin_of_any(site_list)
    origin = before if before is not None and stays else origin_of(rows[0].url)
    faults = Faults()
    for row in rows:
        if origin_of(row.url) != origin:
            faults.add(row.line, InvalidUrl(f"The list has credentials, so all its sites must begin with {origin}/."))
    faults.refuse()
    if before not in (None, origin):
        forget_credentials(site_list)


def _write(site_list: SiteList, rows: Sequence[Row]) -> None:
    columns = (
        [new_entry_id() for _ in rows],
        [row.url for row in rows],
        [row.host for row in rows],
        [SEPARATOR.join(row.tags) for row in rows],
        [row.note for row in rows],
    )
    with connection.cursor() as cursor:
        cursor.execute(INSERT, [site_list.id, SEPARATOR, timezone.now(), ListEntry.State.NEW, *columns])


def _write_changes(site_list: SiteList, changed: Sequence[tuple[str, Row]]) -> None:
    ids = [id for id, _ in changed]
    # In one order, like every change of several entries: so two never wait for each other.
    list(site_list.entries.select_for_update(no_key=True).filter(id__in=ids).order_by("id").values_list("id"))
    tags, notes = [SEPARATOR.join(row.tags) for _, row in changed], [row.note for _, row in changed]
    with connection.cursor() as cursor:
        cursor.execute(UPDATE, [SEPARATOR, ids, tags, notes, site_list.id])


def _batches(items: Sequence[Any]) -> Iterable[Sequence[Any]]:
    return (items[begin : begin + WRITTEN_AT_ONCE] for begin in range(0, len(items), WRITTEN_AT_ONCE))
