"""Services that create, change, tag and delete lists and their entries.

Each service runs in one transaction.

Lock order: the organization, its lists, then the runs and entries of a list.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from django.db import connection, transaction
from django.db.models import Q, QuerySet, Sum
from django.utils import timezone

from accounts import activity, usage
from accounts.access import Lock
from accounts.authentication import Caller
from accounts.models import Organization
from infrastructure.api.errors import InvalidParams
from infrastructure.api.idempotency import Once
from infrastructure.postgresql.statements import fetch
from scans.idempotency_records import Created, created_once
from scans.models import Scan, credential_columns
from sites.lists.entries import annotated_entries
from sites.lists.list_deletion import delete_or_hide
from sites.lists.requests import USUAL_WINDOW_HOURS, ListRequest
from sites.lists.schedule import next_run
from sites.lists.schemas import SiteListJson, list_json_of
from sites.lists.tags import SEPARATOR, refuse_too_many_tags, tidy_tags
from sites.models import ListEntry, SiteList
from sites.models.site_list import new_list_id
from sites.recipients import default_recipients
from sites.resources import LIST, LIST_ENTRY
from website_scan.errors import Refusal
from website_scan.ids import is_id
from website_scan.messages import counted
from website_scan.net.credentials import Credentials, InvalidRequestField

SCHEDULE_FIELDS = frozenset({"every", "timezone"})
ENTRIES_PER_DELETION = 500
# An action applies to at most this number of entries, so that it ends within the time limit of web requests.
MAX_SELECTED_ENTRIES = 20_000
# The lock serializes imports of organizations that share a limit. Locking the organization would delay its scans.
LOCK_ENTRIES = "SELECT pg_advisory_xact_lock(hashtextextended('list entries ' || %s, 0))"
TAGS = """
    SELECT tag, count(*) FROM sites_listentry, unnest(tags) AS tag
    WHERE site_list_id = %s GROUP BY tag ORDER BY count(*) DESC, tag
"""
KNOWN_TAGS = """
    SELECT count(*) FROM unnest(%(tags)s::varchar[]) AS tag WHERE EXISTS (
        SELECT FROM sites_listentry WHERE site_list_id = %(list)s AND tags @> ARRAY[tag]
    )
"""
WRITE_TAGS = """
    UPDATE sites_listentry AS entry SET tags = string_to_array(row.tags, %s)
    FROM unnest(%s::text[], %s::text[]) AS row (id, tags) WHERE entry.id = row.id
"""


# Snapshots do not change when an entry is deleted, so their results keep its ID.
KEEP_IDS_OF_DELETED = """
    UPDATE sites_listresult SET deleted_entry_id = entry_id, entry_id = NULL WHERE entry_id = ANY(%s)
"""


class ListLimit(Refusal):
    """Raised when the organization has the plan's maximum number of lists, or of entries in all lists."""

    code = "LIST_LIMIT"
    status = 409


class ListRunning(Refusal):
    """Raised when a run of the list or the scan of an entry is unfinished."""

    code = "LIST_RUNNING"
    status = 409


def create_list(*, caller: Caller, request: ListRequest, once: Once | None = None) -> Created[SiteListJson]:
    """Create a list without entries.

    The schedule determines the first run. Raises the first refusal.
    """
    return created_once(
        caller.organization_id, once, request.credentials, lambda: _create(caller, request), "site_list"
    )


def _create(caller: Caller, request: ListRequest) -> SiteListJson:
    defaults: dict[str, Any] = {
        "types": list(Scan.Type.values),
        "window_hours": USUAL_WINDOW_HOURS,
        "recipients": default_recipients(caller),
    }
    with transaction.atomic():
        organization = usage.lock(caller.organization_id)
        _refuse_too_many_lists(organization)
        site_list = SiteList(
            id=new_list_id(),
            organization=organization,
            api_key_id=caller.key_id,
            created_by_id=caller.member.user_id if caller.member else None,
            created_at=timezone.now(),
            **defaults | dict(request.columns) | credential_columns(request.credentials),
        )
        site_list.next_run_at = next_run(site_list, site_list.created_at)
        site_list.save(force_insert=True)
        activity.record_by_caller(caller, "list.created", site_list.name, list=site_list.id)
    return list_json_of(site_list)


def _refuse_too_many_lists(organization: Organization) -> None:
    most = organization.tier.lists
    if SiteList.objects.filter(organization__in=usage.sharing_limits(organization)).count() >= most:
        raise ListLimit(f"Your plan allows {counted(most, 'list')}. Delete one, or ask the operator for a larger plan.")


def refuse_too_many_entries(site_list: SiteList, more: int) -> None:
    """Raise ListLimit if `more` entries exceed the plan's limit.

    Call in the transaction that adds the entries.
    """
    if more <= 0:
        return
    organization = site_list.organization
    with connection.cursor() as cursor:
        cursor.execute(LOCK_ENTRIES, [usage.responsible_account(organization.id).key])
    lists = SiteList.objects.filter(organization__in=usage.sharing_limits(organization))
    number = (lists.aggregate(number=Sum("entries_count"))["number"] or 0) + more
    if number > (most := organization.tier.list_entries):
        raise ListLimit(f"Your plan allows {counted(most, 'site')} in all lists together; these would be {number:,}.")


def change_list(*, caller: Caller, list_id: str, request: ListRequest) -> SiteList:
    """Apply the requested changes and return the changed list.

    Raises NotFound or InvalidRequestField.
    """
    with transaction.atomic():
        site_list = LIST.find(caller.organization_id, list_id, lock=Lock.CHANGE)
        changed = [name for name, value in request.columns.items() if value != getattr(site_list, name)]
        for name in changed:
            setattr(site_list, name, request.columns[name])
        if not request.keeps_credentials and request.credentials != site_list.credentials:
            _set_credentials(site_list, request.credentials)
            changed.append("request")
        if SCHEDULE_FIELDS & set(changed):
            site_list.next_run_at = next_run(site_list, timezone.now())
        if changed:
            site_list.save()
            activity.record_by_caller(
                caller, "list.changed", site_list.name, list=site_list.id, changed=sorted(changed)
            )
    return site_list


def _set_credentials(site_list: SiteList, credentials: Credentials | None) -> None:
    if credentials is not None and has_several_origins(site_list):
        refusal = InvalidRequestField("request can only be used when all sites of the list have the same origin.")
        refusal.field = "request"
        raise refusal
    for name, value in credential_columns(credentials).items():
        setattr(site_list, name, value)


def forget_credentials(site_list: SiteList) -> None:
    """Delete the credentials of a locked list, because sites that are added later may have another origin."""
    _set_credentials(site_list, None)
    site_list.save(update_fields=["credential_names", "encrypted_credentials"])


def has_several_origins(site_list: SiteList) -> bool:
    """Return True if the list's entries have more than one origin."""
    origin = origin_of_any(site_list)
    return origin is not None and site_list.entries.exclude(url__startswith=f"{origin}/").exists()


def origin_of_any(site_list: SiteList) -> str | None:
    """Return the origin of an arbitrary entry, or None if the list has no entries."""
    return next((origin_of(url) for url in site_list.entries.order_by().values_list("url", flat=True)[:1]), None)


def origin_of(url: str) -> str:
    """Return the origin of a canonical URL, such as `https://example.com:8443`."""
    return "/".join(url.split("/", 3)[:3])


def delete_list(*, caller: Caller, list_id: str) -> None:
    """Delete a list with its entries, runs and snapshots. The rows of a large list are deleted at night.

    Running scans continue. Raises NotFound.
    """
    with transaction.atomic():
        site_list = LIST.find(caller.organization_id, list_id, lock=Lock.CHANGE)
        activity.record_by_caller(caller, "list.deleted", site_list.name, list=site_list.id)
        delete_or_hide(site_list)


def find_entry(organization_id: int, list_id: str, entry_id: str) -> ListEntry:
    """Return an entry of a list. Raises NotFound."""
    return _entry(LIST.find(organization_id, list_id), entry_id)


def _entry(site_list: SiteList, entry_id: str) -> ListEntry:
    return LIST_ENTRY.find_in_rows(annotated_entries(site_list), entry_id)


def change_entry(
    *, caller: Caller, list_id: str, entry_id: str, tags: list[str] | None = None, note: str | None = None
) -> ListEntry:
    """Change the tags or the note of an entry.

    None means no change. Raises NotFound or InvalidParams.
    """
    columns = {name: value for name, value in (("tags", tags), ("note", note)) if value is not None}
    with transaction.atomic():
        site_list = LIST.find(caller.organization_id, list_id, lock=Lock.CHANGE)
        entry = _entry(site_list, entry_id)
        changed = [name for name, value in columns.items() if value != getattr(entry, name)]
        for name in changed:
            setattr(entry, name, columns[name])
        if changed:
            is_tag_new = "tags" in changed and has_new_tags(site_list, entry.tags)
            entry.save(update_fields=changed)
            if is_tag_new:
                refuse_too_many_tags(tags_of(site_list))
            details = {"list": site_list.id, "changed": sorted(changed)}
            activity.record_by_caller(caller, "list.entry_changed", entry.url, **details)
    return entry


def has_new_tags(site_list: SiteList, tags: Collection[str]) -> bool:
    """Return True if no entry of the list has one of these tags.

    An index has the tags, while counting the different tags of a large list takes seconds.
    """
    ((number,),) = fetch(KNOWN_TAGS, {"list": site_list.id, "tags": list(tags)})
    return bool(number < len(tags))


def tags_of(site_list: SiteList) -> dict[str, int]:
    """Return the number of entries by tag, the most frequent tag first."""
    with connection.cursor() as cursor:
        cursor.execute(TAGS, [site_list.id])
        return dict(cursor.fetchall())


def tag_entries(
    *, caller: Caller, list_id: str, entries: Q | Sequence[str], add: Sequence[str] = (), remove: Sequence[str] = ()
) -> int:
    """Add and remove tags of entries and return the number of changed entries.

    IDs or a condition select the entries. The condition may come from `EntryFilter.condition_in`. Raises NotFound or
    InvalidParams.
    """
    added, removed = tidy_tags(add), set(tidy_tags(remove))
    with transaction.atomic():
        site_list = LIST.find(caller.organization_id, list_id, lock=Lock.CHANGE)
        rows = selected_entries(site_list, entries).select_for_update(no_key=True).order_by("id")
        changed = {}
        for id, before in rows.values_list("id", "tags"):
            tags = tidy_tags((*(tag for tag in before if tag not in removed), *added))
            if tags != tuple(before):
                changed[id] = SEPARATOR.join(tags)
        if changed:
            is_tag_new = has_new_tags(site_list, added)
            with connection.cursor() as cursor:
                cursor.execute(WRITE_TAGS, [SEPARATOR, list(changed), list(changed.values())])
            if is_tag_new:
                refuse_too_many_tags(tags_of(site_list))
            details = {"list": site_list.id, "added": list(added), "removed": sorted(removed), "entries": len(changed)}
            activity.record_by_caller(caller, "list.entries_tagged", site_list.name, **details)
    return len(changed)


def delete_entries(*, caller: Caller, list_id: str, entries: Q | Sequence[str]) -> int:
    """Delete entries and return their number.

    IDs or a condition select the entries. Their results remain in snapshots. Raises NotFound or InvalidParams.
    """
    with transaction.atomic():
        site_list = LIST.find(caller.organization_id, list_id, lock=Lock.CHANGE)
        ids = list(selected_entries(site_list, entries).values_list("id", flat=True))
        remove_entries(site_list, ids)
        save_entries_count(site_list, site_list.entries_count - len(ids))
        if ids:
            details = {"list": site_list.id, "entries": len(ids)}
            activity.record_by_caller(caller, "list.entries_deleted", site_list.name, **details)
    return len(ids)


def delete_entry(*, caller: Caller, list_id: str, entry_id: str) -> None:
    """Delete an entry of a list. Raises NotFound."""
    with transaction.atomic():
        site_list = LIST.find(caller.organization_id, list_id, lock=Lock.CHANGE)
        entry = _entry(site_list, entry_id)
        remove_entries(site_list, [entry.id])
        save_entries_count(site_list, site_list.entries_count - 1)
        activity.record_by_caller(caller, "list.entry_deleted", entry.url, list=site_list.id)


def save_entries_count(site_list: SiteList, number: int) -> None:
    """Save the number of entries of a locked list, and delete the credentials if the list is now empty."""
    if site_list.entries_count and not number and site_list.credential_names is not None:
        forget_credentials(site_list)
    site_list.entries_count = number
    site_list.save(update_fields=["entries_count"])


def remove_entries(site_list: SiteList, ids: Sequence[str]) -> None:
    """Delete entries of a locked list without their results.

    The caller must save the number of entries.
    """
    for begin in range(0, len(ids), ENTRIES_PER_DELETION):
        batch = sorted(ids)[begin : begin + ENTRIES_PER_DELETION]
        # Entries are always locked in the order of their IDs to prevent deadlocks.
        list(site_list.entries.select_for_update().filter(id__in=batch).order_by("id").values_list("id"))
        with connection.cursor() as cursor:
            cursor.execute(KEEP_IDS_OF_DELETED, [batch])
            cursor.execute(
                "DELETE FROM sites_listentry WHERE id = ANY(%s) AND site_list_id = %s", [batch, site_list.id]
            )


def selected_entries(site_list: SiteList, entries: Q | Sequence[str]) -> QuerySet[ListEntry]:
    """Return the entries that IDs or a condition select. Raises InvalidParams if the condition selects too many."""
    if not isinstance(entries, Q):
        return site_list.entries.filter(id__in=[entry_id for entry_id in entries if is_id("ent", entry_id)])
    rows = site_list.entries.filter(entries)
    if (
        site_list.entries_count > MAX_SELECTED_ENTRIES
        and rows[: MAX_SELECTED_ENTRIES + 1].count() > MAX_SELECTED_ENTRIES
    ):
        raise InvalidParams(f"More than {MAX_SELECTED_ENTRIES:,} sites match. Use a filter that fewer sites match.")
    return rows
