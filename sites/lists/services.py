"""Services of lists and their entries: create, change, tag, delete. Every service is one transaction.

Lock order: the organization, its lists, then the runs and entries of a list.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db import connection, transaction
from django.db.models import F, Q, QuerySet, Sum
from django.utils import timezone

from accounts import activity, usage
from accounts.access import Lock
from accounts.authentication import Caller
from accounts.models import Organization
from infrastructure.api.idempotency import Once
from scans.idempotency_records import Created, created_once
from scans.models import Scan, credential_columns
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
REMOVED_AT_ONCE = 5_000
# Serializes imports of organizations that share a limit. The organization's own lock would make its scans wait.
LOCK_ENTRIES = "SELECT pg_advisory_xact_lock(hashtextextended('list entries ' || %s, 0))"
# Statements that delete a list's rows, children first, in batches: a list may have millions of rows, which the ORM
# would load, and each statement must end within the time limit of web requests.
ERASED_AT_ONCE = 20_000
ERASE = (
    """UPDATE sites_listentry SET result_id = NULL WHERE id IN (
        SELECT id FROM sites_listentry WHERE site_list_id = %s AND result_id IS NOT NULL LIMIT %s)""",
    "DELETE FROM sites_listresult WHERE id IN (SELECT id FROM sites_listresult WHERE site_list_id = %s LIMIT %s)",
    "DELETE FROM sites_listentry WHERE id IN (SELECT id FROM sites_listentry WHERE site_list_id = %s LIMIT %s)",
    """DELETE FROM sites_listcount WHERE id IN (
        SELECT count.id FROM sites_listrun AS run JOIN sites_listcount AS count ON count.run_id = run.id
        WHERE run.site_list_id = %s LIMIT %s)""",
)
TAGS = """
    SELECT tag, count(*) FROM sites_listentry, unnest(tags) AS tag
    WHERE site_list_id = %s GROUP BY tag ORDER BY count(*) DESC, tag
"""
WRITE_TAGS = """
    UPDATE sites_listentry AS entry SET tags = string_to_array(row.tags, %s)
    FROM unnest(%s::text[], %s::text[]) AS row (id, tags) WHERE entry.id = row.id
"""


class ListLimit(Refusal):
    """Refusal because the organization has the plan's maximum number of lists, or of entries in all of them."""

    code = "LIST_LIMIT"
    status = 409


class ListRunning(Refusal):
    """Refusal because a run of the list, or the scan of an entry, has not ended."""

    code = "LIST_RUNNING"
    status = 409


def create_list(*, caller: Caller, request: ListRequest, once: Once | None = None) -> Created[SiteListJson]:
    """Create a list without entries; its schedule determines the first run. Raises the first refusal."""
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
        activity.record_call(caller, "list.created", site_list.name, list=site_list.id)
    return list_json_of(site_list)


def _refuse_too_many_lists(organization: Organization) -> None:
    most = organization.tier.lists
    if SiteList.objects.filter(organization__in=usage.sharing_limits(organization)).count() >= most:
        raise ListLimit(f"Your plan allows {counted(most, 'list')}. Delete one, or ask the operator for a larger plan.")


def refuse_too_many_entries(site_list: SiteList, more: int) -> None:
    """Raise ListLimit if `more` entries exceed the plan's limit. Call inside the transaction that adds the entries."""
    if more <= 0:
        return
    organization = site_list.organization
    with connection.cursor() as cursor:
        cursor.execute(LOCK_ENTRIES, [usage.account_of(organization.id).key])
    lists = SiteList.objects.filter(organization__in=usage.sharing_limits(organization))
    number = (lists.aggregate(number=Sum("entries_count"))["number"] or 0) + more
    if number > (most := organization.tier.list_entries):
        raise ListLimit(f"Your plan allows {counted(most, 'site')} in all lists together; these would be {number:,}.")


def change_list(*, caller: Caller, list_id: str, request: ListRequest) -> SiteList:
    """Change a list as requested, and return the list. Raises NotFound or InvalidRequestField."""
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
            activity.record_call(caller, "list.changed", site_list.name, list=site_list.id, changed=sorted(changed))
    return site_list


def _set_credentials(site_list: SiteList, credentials: Credentials | None) -> None:
    if credentials is not None and has_several_origins(site_list):
        refusal = InvalidRequestField("request can only be used when all sites of the list have the same origin.")
        refusal.field = "request"
        raise refusal
    for name, value in credential_columns(credentials).items():
        setattr(site_list, name, value)


def forget_credentials(site_list: SiteList) -> None:
    """Delete the credentials of a locked list, because its next sites may have another origin."""
    _set_credentials(site_list, None)
    site_list.save(update_fields=["credential_names", "encrypted_credentials"])


def has_several_origins(site_list: SiteList) -> bool:
    """Return True if the list's entries have more than one origin."""
    origin = origin_of_any(site_list)
    return origin is not None and site_list.entries.exclude(url__startswith=f"{origin}/").exists()


def origin_of_any(site_list: SiteList) -> str | None:
    """Return the origin of any one entry, or None if the list has no entries."""
    return next((origin_of(url) for url in site_list.entries.order_by().values_list("url", flat=True)[:1]), None)


def origin_of(url: str) -> str:
    """Return the origin of a canonical URL, such as `https://example.com:8443`."""
    return "/".join(url.split("/", 3)[:3])


def delete_list(*, caller: Caller, list_id: str) -> None:
    """Delete a list with its entries, runs and snapshots. Running scans go on. Raises NotFound."""
    with transaction.atomic():
        site_list = LIST.find(caller.organization_id, list_id, lock=Lock.CHANGE)
        activity.record_call(caller, "list.deleted", site_list.name, list=site_list.id)
        with connection.cursor() as cursor:
            for statement in ERASE:
                cursor.execute(statement, [site_list.id, ERASED_AT_ONCE])
                while cursor.rowcount == ERASED_AT_ONCE:
                    cursor.execute(statement, [site_list.id, ERASED_AT_ONCE])
        site_list.delete()


def find_entry(organization_id: int, list_id: str, entry_id: str) -> ListEntry:
    """Return an entry of a list. Raises NotFound."""
    return _entry(LIST.find(organization_id, list_id), entry_id)


def _entry(site_list: SiteList, entry_id: str) -> ListEntry:
    return LIST_ENTRY.find_in(site_list.entries.annotate(audit_id=F("result__audit_id")), entry_id)


def change_entry(
    *, caller: Caller, list_id: str, entry_id: str, tags: list[str] | None = None, note: str | None = None
) -> ListEntry:
    """Change the tags and the note of an entry; None leaves either unchanged. Raises NotFound or InvalidParams."""
    columns = {name: value for name, value in (("tags", tags), ("note", note)) if value is not None}
    with transaction.atomic():
        site_list = LIST.find(caller.organization_id, list_id, lock=Lock.CHANGE)
        entry = _entry(site_list, entry_id)
        changed = [name for name, value in columns.items() if value != getattr(entry, name)]
        for name in changed:
            setattr(entry, name, columns[name])
        if changed:
            entry.save(update_fields=changed)
            _refuse_excess_tags(site_list, changed)
            details = {"list": site_list.id, "changed": sorted(changed)}
            activity.record_call(caller, "list.entry_changed", entry.url, **details)
    return entry


def _refuse_excess_tags(site_list: SiteList, changed: Sequence[str]) -> None:
    if "tags" in changed:
        refuse_too_many_tags(tags_of(site_list))


def tags_of(site_list: SiteList) -> dict[str, int]:
    """Return the number of entries by tag, the most frequent tag first."""
    with connection.cursor() as cursor:
        cursor.execute(TAGS, [site_list.id])
        return dict(cursor.fetchall())


def tag_entries(
    *, caller: Caller, list_id: str, entries: Q | Sequence[str], add: Sequence[str] = (), remove: Sequence[str] = ()
) -> int:
    """Add and remove tags of entries, chosen by IDs or by a condition; return the number of changed entries.

    `EntryFilter.condition` is the condition of a filter. Raises NotFound or InvalidParams.
    """
    added, removed = tidy_tags(add), set(tidy_tags(remove))
    with transaction.atomic():
        site_list = LIST.find(caller.organization_id, list_id, lock=Lock.CHANGE)
        rows = _chosen_entries(site_list, entries).select_for_update(no_key=True).order_by("id")
        changed = {}
        for id, before in rows.values_list("id", "tags"):
            tags = tidy_tags((*(tag for tag in before if tag not in removed), *added))
            if tags != tuple(before):
                changed[id] = SEPARATOR.join(tags)
        if changed:
            with connection.cursor() as cursor:
                cursor.execute(WRITE_TAGS, [SEPARATOR, list(changed), list(changed.values())])
            refuse_too_many_tags(tags_of(site_list))
            details = {"list": site_list.id, "added": list(added), "removed": sorted(removed), "entries": len(changed)}
            activity.record_call(caller, "list.entries_tagged", site_list.name, **details)
    return len(changed)


def delete_entries(*, caller: Caller, list_id: str, entries: Q | Sequence[str]) -> int:
    """Delete entries, chosen by IDs or by a condition; return their number. Their results remain in snapshots.

    Raises NotFound.
    """
    with transaction.atomic():
        site_list = LIST.find(caller.organization_id, list_id, lock=Lock.CHANGE)
        ids = list(_chosen_entries(site_list, entries).values_list("id", flat=True))
        remove_entries(site_list, ids)
        save_number(site_list, site_list.entries_count - len(ids))
        if ids:
            details = {"list": site_list.id, "entries": len(ids)}
            activity.record_call(caller, "list.entries_deleted", site_list.name, **details)
    return len(ids)


def delete_entry(*, caller: Caller, list_id: str, entry_id: str) -> None:
    """Delete an entry. Raises NotFound."""
    with transaction.atomic():
        site_list = LIST.find(caller.organization_id, list_id, lock=Lock.CHANGE)
        entry = _entry(site_list, entry_id)
        remove_entries(site_list, [entry.id])
        save_number(site_list, site_list.entries_count - 1)
        activity.record_call(caller, "list.entry_deleted", entry.url, list=site_list.id)


def save_number(site_list: SiteList, number: int) -> None:
    """Save the number of entries of a locked list. The credentials of a list that becomes empty are deleted."""
    if site_list.entries_count and not number and site_list.credential_names is not None:
        forget_credentials(site_list)
    site_list.entries_count = number
    site_list.save(update_fields=["entries_count"])


def remove_entries(site_list: SiteList, ids: Sequence[str]) -> None:
    """Delete entries of a locked list without their results. The caller must save the number of entries."""
    for begin in range(0, len(ids), REMOVED_AT_ONCE):
        batch = sorted(ids)[begin : begin + REMOVED_AT_ONCE]
        # Entries are always locked in the order of their IDs, so that two transactions cannot deadlock.
        list(site_list.entries.select_for_update().filter(id__in=batch).order_by("id").values_list("id"))
        with connection.cursor() as cursor:
            cursor.execute("UPDATE sites_listresult SET entry_id = NULL WHERE entry_id = ANY(%s)", [batch])
            cursor.execute(
                "DELETE FROM sites_listentry WHERE id = ANY(%s) AND site_list_id = %s", [batch, site_list.id]
            )


def _chosen_entries(site_list: SiteList, entries: Q | Sequence[str]) -> QuerySet[ListEntry]:
    if isinstance(entries, Q):
        return site_list.entries.filter(entries)
    return site_list.entries.filter(id__in=[entry_id for entry_id in entries if is_id("ent", entry_id)])
