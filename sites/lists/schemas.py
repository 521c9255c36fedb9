"""JSON of lists, entries, runs and shares, and data of the webhook events of lists."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, NotRequired, TypedDict

from infrastructure.api.schema import ErrorBody
from scans.models import Scan
from scans.schemas import CredentialNames, ScanFailure, credential_names_of, failure_of, timestamp_or_none
from sites.lists.changes import Changes
from sites.lists.snapshots import Summary
from sites.models import ListEntry, ListRun, ListShare, SiteList
from sites.models.site_list import ListInterval
from sites.models.stored_json import RunId
from sites.recipients import Notify, Recipients, Unsubscribed, Warned, notify_of, recipients_of
from webhooks.schemas import Event
from website_scan.json_types import (
    Count,
    Grade,
    Keywords,
    Link,
    Published,
    Score,
    Timestamp,
    TypeName,
    component,
    identifier,
    values,
)
from website_scan.timestamps import timestamp

ListId = Annotated[str, identifier("lst")]
EntryId = Annotated[str, identifier("ent")]
Positive = Annotated[int, Keywords(minimum=1)]


@component("ListRun")
class ListRunJson(TypedDict):
    """Run of a list. `entries` is the number of its sites; those neither `done` nor `failed` wait or are `left_out`."""

    id: RunId
    status: Annotated[str, values(ListRun.Status.choices)]
    requested: bool
    started_at: Timestamp
    ended_at: Timestamp | None
    types: list[TypeName]
    pages_per_entry: Positive
    window_hours: Count
    entries: Count
    done: Count
    failed: Count
    left_out: Count
    error: ScanFailure | None


class ListRunList(TypedDict):
    runs: list[ListRunJson]
    total: Count
    limit: int
    offset: int


@component("SiteList")
class SiteListJson(TypedDict):
    """A list of sites. `entries` is their number, `run` the latest run."""

    id: ListId
    name: str
    types: list[TypeName]
    pages_per_entry: Positive
    every: Annotated[str, values(ListInterval.choices)] | None
    window_hours: Count
    timezone: str
    notify: Notify
    unsubscribed: Unsubscribed
    warning: Warned
    request: NotRequired[CredentialNames]
    entries: Count
    next_run_at: Timestamp | None
    run: ListRunJson | None
    created_at: Timestamp
    list_url: Link


class SiteListList(TypedDict):
    lists: list[SiteListJson]
    total: Count
    limit: int
    offset: int


class EntryScore(TypedDict):
    """Score of a type in the latest result, and its change since the result before."""

    score: Score
    grade: Annotated[Grade | None, Published.NOT_NULL]
    change: Annotated[int, Keywords(minimum=-100, maximum=100)] | None


@component("Entry")
class EntryJson(TypedDict):
    """Entry of a list with its latest result. A result that failed leaves `results` and `failing` as they were."""

    id: EntryId
    url: str
    tags: list[str]
    note: str
    state: Annotated[str, values(ListEntry.State.choices)]
    results: Annotated[dict[str, EntryScore], "By type."]
    failing: Annotated[list[str], "IDs of failed checks."]
    history: Annotated[list[Score], "Means of its scores, oldest first."]
    moved_to: Annotated[str | None, "The other host that it permanently redirects to, which is not followed."]
    judged_at: Timestamp | None
    audit_id: str | None
    error: ScanFailure | None
    created_at: Timestamp


class EntryList(TypedDict):
    """Page of entries. The cursors are null where there is no further page."""

    entries: list[EntryJson]
    total: Annotated[Count, "Of all pages."]
    limit: int
    next_cursor: str | None
    previous_cursor: str | None


class InvalidEntry(TypedDict):
    """Line of an import that is wrong, counted from 1; for JSON the item of `entries`."""

    line: Positive
    code: str
    error: str


@component("ImportError")
class ImportErrorBody(ErrorBody):
    """Refusal of an import. `INVALID_ENTRIES` also has the first 100 wrong lines, and the number of all."""

    entries: NotRequired[list[InvalidEntry]]
    count: NotRequired[Positive]


@component("Result")
class ResultJson(TypedDict):
    """Look at an entry outside of a run. It is news of the entry; no snapshot changes."""

    entry_id: EntryId
    url: str
    audit_id: Annotated[str | None, "Null until its audit has begun."]


@component("Snapshot")
class SnapshotJson(Summary):
    """Snapshot: the run, and what it found. Checks with the most failures come first."""

    run: ListRunJson


class AdoptionPoint(TypedDict):
    """Number of sites that passed a check in a run, of those on which it ran."""

    run_id: RunId
    started_at: Timestamp
    passed: Count
    of: Count


@component("Adoption")
class AdoptionJson(TypedDict):
    """Adoption of a check over time, oldest first."""

    check: str
    runs: list[AdoptionPoint]


@component("Share")
class ShareJson(TypedDict):
    """Public page of a snapshot. `run_id` is null if it always shows the latest one."""

    id: Annotated[str, identifier("shr")]
    run_id: str | None
    table: bool
    share_url: Link
    created_at: Timestamp


class ShareList(TypedDict):
    shares: list[ShareJson]


class ListMean(TypedDict):
    """Scores of a type over the sites that have one; mean and grade are null if no site has."""

    judged: Count
    mean: Annotated[float, Keywords(minimum=0, maximum=100)] | None
    grade: Grade | None


class ListEventData(TypedDict):
    """A list, and its run that has ended."""

    list_id: ListId
    name: str
    list_url: Link
    run: ListRunJson
    results: dict[str, ListMean]


class ListChangedEventData(ListEventData):
    """A list, its run, and what has changed since the run before."""

    changes: Changes


class ListEvent(Event):
    data: ListEventData


class ListChangedEvent(Event):
    data: ListChangedEventData


def list_run_of(run: ListRun) -> ListRunJson:
    return {
        "id": run.id,
        "status": run.status,
        "requested": run.is_requested,
        "started_at": timestamp(run.started_at),
        "ended_at": timestamp_or_none(run.ended_at),
        "types": run.types,
        "pages_per_entry": run.pages_per_entry,
        "window_hours": run.window_hours,
        "entries": run.entries,
        "done": run.done,
        "failed": run.failed,
        "left_out": run.left_out,
        "error": failure_of(run),
    }


def list_json_of(site_list: SiteList) -> SiteListJson:
    return lists_json_of([site_list])[0]


def lists_json_of(lists: Sequence[SiteList]) -> list[SiteListJson]:
    """Return the JSON of several lists of one organization, with at most three queries for any number of lists."""
    latest = ListRun.objects.filter(site_list__in=lists).order_by("site_list", "-started_at", "-id")
    runs = {run.site_list_id: run for run in latest.distinct("site_list")} if lists else {}
    recipients = recipients_of(lists)
    return [_list_json(site_list, recipients[site_list.id], runs.get(site_list.id)) for site_list in lists]


def entry_json_of(entry: ListEntry) -> EntryJson:
    """Return the JSON of an entry. `audit_id` must be annotated on the entry, or the field is null."""
    return {
        "id": entry.id,
        "url": entry.url,
        "tags": entry.tags,
        "note": entry.note,
        "state": entry.state,
        "results": {
            type: {"score": score, "grade": entry.grade_of(type), "change": entry.change_of(type)}
            for type in Scan.Type.values
            if (score := entry.score_of(type)) is not None
        },
        "failing": entry.failing,
        "history": entry.history,
        "moved_to": entry.moved_to or None,
        "judged_at": timestamp_or_none(entry.judged_at),
        "audit_id": getattr(entry, "audit_id", None),
        "error": failure_of(entry),
        "created_at": timestamp(entry.created_at),
    }


def share_json_of(share: ListShare) -> ShareJson:
    return {
        "id": share.id,
        "run_id": share.run_id,
        "table": share.has_table,
        "share_url": share.share_url,
        "created_at": timestamp(share.created_at),
    }


class _Request(TypedDict, total=False):
    request: CredentialNames


def _list_json(site_list: SiteList, recipients: Recipients, run: ListRun | None) -> SiteListJson:
    names = site_list.credential_names
    request: _Request = {} if names is None else {"request": credential_names_of(names)}
    return {
        "id": site_list.id,
        "name": site_list.name,
        "types": site_list.types,
        "pages_per_entry": site_list.pages_per_entry,
        "every": site_list.every or None,
        "window_hours": site_list.window_hours,
        "timezone": site_list.timezone,
        "notify": notify_of(site_list, recipients),
        "unsubscribed": list(recipients.unsubscribed),
        "warning": recipients.warning,
        **request,
        "entries": site_list.entries_count,
        "next_run_at": timestamp_or_none(site_list.next_run_at),
        "run": list_run_of(run) if run else None,
        "created_at": timestamp(site_list.created_at),
        "list_url": site_list.list_url,
    }
