"""JSON schemas of lists, entries, runs, shares and events, and functions that create this JSON from models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, NotRequired, TypedDict

from infrastructure.api.schema import ErrorBody
from scans.models import Scan, WithCategories
from scans.schemas import (
    CategoryNames,
    ColorSchemeName,
    CredentialNames,
    ScanFailure,
    Widths,
    credential_names_of,
    failure_of,
    requirements_json_of,
    timestamp_or_none,
)
from sites.lists.changes import Changes
from sites.lists.snapshots import Summary
from sites.models import ListEntry, ListRun, ListShare, SiteList
from sites.models.site_list import Fact, ListInterval, StoredTarget
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
from website_scan.requirements.model import RequirementsJson
from website_scan.timestamps import timestamp

ListId = Annotated[str, identifier("lst")]
EntryId = Annotated[str, identifier("ent")]
Positive = Annotated[int, Keywords(minimum=1)]


@component("ListRun")
class ListRunJson(TypedDict):
    """Run of a list.

    `entries` is the number of its sites, which are waiting, `done`, `failed` or `left_out`.
    """

    id: RunId
    status: Annotated[str, values(ListRun.Status.choices)]
    requested: bool
    started_at: Timestamp
    ended_at: Timestamp | None
    types: list[TypeName]
    categories: NotRequired[CategoryNames]
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
    """List of sites. `entries` is the number of sites, `run` the latest run."""

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
    widths: NotRequired[Widths]
    color_scheme: NotRequired[ColorSchemeName]
    categories: NotRequired[CategoryNames]
    requirements: NotRequired[RequirementsJson]
    targets: NotRequired[Annotated[list[StoredTarget], "Missing if there are none."]]
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
    """Score of a scan type in the latest result, and its change since the previous result."""

    score: Score
    grade: Annotated[Grade | None, Published.NOT_NULL]
    change: Annotated[int, Keywords(minimum=-100, maximum=100)] | None


@component("Entry")
class EntryJson(TypedDict):
    """Entry of a list with its latest result. A failed scan does not change `results` and `failing`."""

    id: EntryId
    url: str
    tags: list[str]
    note: str
    state: Annotated[str, values(ListEntry.State.choices)]
    results: Annotated[dict[str, EntryScore], "By type."]
    failing: Annotated[list[str], "IDs of failed checks."]
    history: Annotated[list[Score], "Means of its scores, oldest first."]
    facts: Annotated[Fact, "Facts about its first page; unknown ones are missing."]
    moved_to: Annotated[str | None, "The other host that it permanently redirects to, which is not followed."]
    judged_at: Timestamp | None
    audit_id: str | None
    error: ScanFailure | None
    created_at: Timestamp


class EntryList(TypedDict):
    """Page of entries. A cursor is null if there is no next or previous page."""

    entries: list[EntryJson]
    total: Annotated[Count | None, "Of all pages; null if the list is too large to count the matching sites."]
    limit: int
    next_cursor: str | None
    previous_cursor: str | None


class InvalidEntry(TypedDict):
    """Invalid line of an import, counted from 1. For JSON, `line` is the position in `entries`."""

    line: Positive
    code: str
    error: str


@component("ImportError")
class ImportErrorBody(ErrorBody):
    """Error response to an import.

    `INVALID_ENTRIES` also has the first 100 invalid lines and the number of all invalid lines.
    """

    entries: NotRequired[list[InvalidEntry]]
    count: NotRequired[Positive]


@component("Result")
class ResultJson(TypedDict):
    """Result of one entry's scan outside a run. It updates the entry, but no snapshot."""

    entry_id: EntryId
    url: str
    audit_id: Annotated[str | None, "Null until its audit has begun."]


@component("Snapshot")
class SnapshotJson(Summary):
    """Snapshot of a list.

    It has the run and its figures. Checks with the most failures come first.
    """

    run: ListRunJson


class AdoptionPoint(TypedDict):
    """Adoption of a check in one run of a list.

    The check ran on `of` sites and `passed` of them passed it.
    """

    run_id: RunId
    started_at: Timestamp
    passed: Count
    of: Count


@component("Adoption")
class AdoptionJson(TypedDict):
    """Adoption of a check over time, oldest run first."""

    check: str
    runs: list[AdoptionPoint]


@component("Share")
class ShareJson(TypedDict):
    """Public page of a snapshot. `run_id` is null if the page always shows the latest snapshot."""

    id: Annotated[str, identifier("shr")]
    run_id: str | None
    table: bool
    has_password: bool
    share_url: Link
    created_at: Timestamp


class ShareList(TypedDict):
    shares: list[ShareJson]


class ListMean(TypedDict):
    """Mean score of a scan type over the judged sites. Mean and grade are null if no site was judged."""

    judged: Count
    mean: Annotated[float, Keywords(minimum=0, maximum=100)] | None
    grade: Grade | None


class ListEventData(TypedDict):
    """Data of the event `list.completed`."""

    list_id: ListId
    name: str
    list_url: Link
    run: ListRunJson
    results: dict[str, ListMean]


class ListChangedEventData(ListEventData):
    """Data of the event `list.changed`."""

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
        **_categories_of(run),
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
    """Return the JSON of several lists, with at most three queries."""
    latest = ListRun.objects.filter(site_list__in=lists).order_by("site_list", "-started_at", "-id")
    runs = {run.site_list_id: run for run in latest.distinct("site_list")} if lists else {}
    recipients = recipients_of(lists)
    return [_list_json(site_list, recipients[site_list.id], runs.get(site_list.id)) for site_list in lists]


def entry_json_of(entry: ListEntry) -> EntryJson:
    """Return the JSON of an entry. The field `audit_id` is null unless it was annotated on the entry."""
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
        "facts": entry.facts,
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
        "has_password": bool(share.password),
        "share_url": share.share_url,
        "created_at": timestamp(share.created_at),
    }


class _Request(TypedDict, total=False):
    request: CredentialNames


class _Viewing(TypedDict, total=False):
    widths: Widths
    color_scheme: ColorSchemeName


class _Requirements(TypedDict, total=False):
    requirements: RequirementsJson


class _Categories(TypedDict, total=False):
    categories: CategoryNames


class _Targets(TypedDict, total=False):
    targets: list[StoredTarget]


def _categories_of(row: WithCategories) -> _Categories:
    return {} if row.categories is None else {"categories": row.categories}


def _list_json(site_list: SiteList, recipients: Recipients, run: ListRun | None) -> SiteListJson:
    names = site_list.credential_names
    request: _Request = {} if names is None else {"request": credential_names_of(names)}
    stored = site_list.viewing
    viewing: _Viewing = {"widths": stored["widths"], "color_scheme": stored["color_scheme"]} if stored else {}
    own: _Requirements = {}
    if site_list.requirements is not None:
        own = {"requirements": requirements_json_of(site_list.requirements)}
    targets: _Targets = {"targets": site_list.targets} if site_list.targets else {}
    return {
        "id": site_list.id,
        "name": site_list.name,
        "types": site_list.types,
        "pages_per_entry": site_list.pages_per_entry,
        "every": site_list.every or None,
        "window_hours": site_list.window_hours,
        "timezone": site_list.timezone,
        "notify": notify_of(recipients),
        "unsubscribed": list(recipients.unsubscribed),
        "warning": recipients.warning,
        **request,
        **viewing,
        **_categories_of(site_list),
        **own,
        **targets,
        "entries": site_list.entries_count,
        "next_run_at": timestamp_or_none(site_list.next_run_at),
        "run": list_run_of(run) if run else None,
        "created_at": timestamp(site_list.created_at),
        "list_url": site_list.list_url,
    }
