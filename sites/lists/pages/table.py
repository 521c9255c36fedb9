"""Table of a list's sites: grades, changes since the previous result, sparkline of scores, tags and state."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from urllib.parse import urlencode

from django.urls import reverse

from accounts import access
from infrastructure.api.errors import InvalidParams
from infrastructure.postgresql.statements import fetch
from infrastructure.web import charts
from infrastructure.web.keyset import EPOCH
from scans.check_catalogue import CheckEntry, entries
from scans.models import Scan, path_of
from sites.lists.entries import EntryFilter, EntryPage, entries_page
from sites.lists.pages.states import ENTRY_STATES, State
from sites.models import Audit, ListCount, ListEntry, SiteList
from website_scan.json_types import GRADES
from website_scan.scoring import mean_grade

PAGE_SIZE = 50
LABELS = dict(Scan.Type.choices)
# Tags for suggestions. Only the first sites of a list are read, so that the query stays fast.
TAGS = """
    SELECT DISTINCT tag FROM (
        SELECT unnest(tags) AS tag FROM sites_listentry WHERE site_list_id = %(site_list)s LIMIT 20000
    ) AS tags ORDER BY tag LIMIT 500
"""
# Names of filters in the query string, the same as in the API.
FILTERS = tuple(field.name for field in fields(EntryFilter))
FIRST = "url"


@dataclass(frozen=True, slots=True)
class MeanScore:
    """Mean of a site's scores in one result: a point of the sparkline, without date and catalogue version."""

    score: int
    grade: str = ""
    created_at: datetime = EPOCH
    catalogue_version: str = ""


@dataclass(frozen=True, slots=True)
class TypeCell:
    """Latest score of a type (or None) with its change. `url` is the address of the report, empty if expired."""

    type: str
    label: str
    score: int | None
    grade: str | None
    change: int | None
    url: str


@dataclass(frozen=True, slots=True)
class SiteRow:
    entry: ListEntry
    path: str
    cells: tuple[TypeCell, ...]
    spark: charts.Spark | None
    mean_grade: str
    state: State
    url: str

    @property
    def name(self) -> str:
        """Return the host, with the path if there is one."""
        return f"{self.entry.host}{self.path}"


@dataclass(frozen=True, slots=True)
class Column:
    """Column whose link sorts by it; `direction` is empty if the table is sorted by another column."""

    label: str
    query: str
    direction: str


@dataclass(frozen=True, slots=True)
class SiteTable:
    """Page of the table with its filters, links and columns."""

    rows: list[SiteRow]
    total: int
    previous: str | None
    next: str | None
    filters: Mapping[str, str]
    sort: str
    columns: tuple[Column, ...]
    sorts: tuple[tuple[str, str], ...]
    types: tuple[tuple[str, str], ...]
    grades: Sequence[str] = GRADES
    states: tuple[tuple[str, str], ...] = tuple((str(value), state.name) for value, state in ENTRY_STATES.items())

    @property
    def is_filtered(self) -> bool:
        return bool(self.filters)

    @property
    def chosen(self) -> dict[str, str]:
        """Return the values of all filters, empty where one is not set."""
        return {name: self.filters.get(name, "") for name in FILTERS}


def site_table(site_list: SiteList, query: Mapping[str, str]) -> SiteTable:
    """Return the page of the table for a query string; invalid filters, orders and cursors are ignored."""
    entry_filter = wanted_of(query)
    filters = entry_filter.parameters
    sorts = _sorts(site_list.types)
    sort = query.get("sort", "")
    sort = sort if sort in dict(sorts) else FIRST
    try:
        page = entries_page(site_list, entry_filter, sort=sort, cursor=query.get("cursor", ""), limit=PAGE_SIZE)
    except InvalidParams:  # the cursor is invalid or belongs to another order
        page = entries_page(site_list, entry_filter, sort=sort, limit=PAGE_SIZE)
    parameters = filters | ({"sort": sort} if sort != FIRST else {})
    return SiteTable(
        rows=_rows(site_list, page),
        total=page.total,
        previous=_link(parameters, page.previous_cursor),
        next=_link(parameters, page.next_cursor),
        filters=filters,
        sort=sort,
        columns=tuple(_column(label, name, filters, sort) for label, name in _columns(site_list.types)),
        sorts=sorts,
        types=tuple((type, str(label)) for type, label in Scan.Type.choices if type in site_list.types),
    )


def tags_of(site_list: SiteList) -> list[str]:
    """Return tags of the list for suggestions."""
    return [tag for (tag,) in fetch(TAGS, {"site_list": site_list.id})]


def failing_checks(run_id: str) -> list[tuple[str, list[CheckEntry]]]:
    """Return the checks that any site of the snapshot fails, grouped by the label of their type."""
    counts = ListCount.objects.filter(run=run_id, tag="").values_list("data", flat=True).first() if run_id else None
    return checks_by_type([check for check, (failed, *_) in counts["checks"].items() if failed] if counts else [])


def checks_by_type(ids: Iterable[str]) -> list[tuple[str, list[CheckEntry]]]:
    """Group checks by the label of their type, sorted by name; IDs that are not in the catalogue are omitted."""
    catalogue = entries()
    groups: dict[str, list[CheckEntry]] = {str(label): [] for label in LABELS.values()}
    for check_id in ids:
        if check_id in catalogue:
            groups[str(LABELS[catalogue[check_id].type])].append(catalogue[check_id])
    return [(label, sorted(group, key=lambda entry: entry.name)) for label, group in groups.items() if group]


def wanted_of(query: Mapping[str, str]) -> EntryFilter:
    """Return the filter of a page's query string or form, without the values that the API would refuse."""
    return EntryFilter.of({name: query.get(name, "").strip() for name in FILTERS}, is_lenient=True)


def reports_of(organization_id: int, audits: Iterable[str | None]) -> dict[str, str]:
    """Return the addresses of audit pages by audit ID, without expired audits, with one query."""
    ids = {audit_id for audit_id in audits if audit_id}
    rows = access.rows(Audit, organization_id).filter(id__in=ids)
    stored = rows.only("status", "created_at", "released_at", "kept_days")
    return {audit.id: reverse("audit-page", args=[audit.id]) for audit in stored if audit.is_kept}


def _sorts(types: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Return the orders of the table as pairs of value and label."""
    orders = [("url", "Address"), ("-url", "Address, backwards")]
    for type, label in Scan.Type.choices:
        if type in types:
            orders += [
                (type, f"{label}, worst first"),
                (f"-{type}", f"{label}, best first"),
                (f"{type}_change", f"{label}, largest loss first"),
                (f"-{type}_change", f"{label}, largest gain first"),
            ]
    return tuple(orders)


def _columns(types: Sequence[str]) -> list[tuple[str, str]]:
    return [("Site", "url"), *((str(label), type) for type, label in Scan.Type.choices if type in types)]


def _column(label: str, name: str, filters: Mapping[str, str], sort: str) -> Column:
    """Return a column whose link sorts by it, or reverses the order if the table is already sorted by this column."""
    direction = {name: "ascending", f"-{name}": "descending"}.get(sort, "")
    order = f"-{name}" if direction == "ascending" else name
    return Column(label, urlencode({**filters, **({"sort": order} if order != FIRST else {})}), direction)


def _link(parameters: Mapping[str, str], cursor: str | None) -> str | None:
    return urlencode({**parameters, "cursor": cursor}) if cursor else None


def _rows(site_list: SiteList, page: EntryPage) -> list[SiteRow]:
    audits: list[str | None] = [entry.audit_id for entry in page.rows]  # type: ignore[attr-defined]  # annotated
    reports = reports_of(site_list.organization_id, audits)
    return [
        _row(site_list, entry, reports.get(audit or "", "")) for entry, audit in zip(page.rows, audits, strict=True)
    ]


def _row(site_list: SiteList, entry: ListEntry, page: str) -> SiteRow:
    path = path_of(entry.url)
    history = [MeanScore(mean) for mean in reversed(entry.history)]
    return SiteRow(
        entry=entry,
        path="" if path == "/" else path,
        cells=tuple(
            TypeCell(
                type=type,
                label=str(label),
                score=entry.score_of(type),
                grade=entry.grade_of(type),
                change=entry.change_of(type),
                url=f"{page}?type={type}" if page else "",
            )
            for type, label in Scan.Type.choices
            if type in site_list.types
        ),
        spark=charts.spark(history) if len(history) > 1 else None,
        mean_grade=mean_grade(history[0].score, is_flawless=False) if history else "",
        state=ENTRY_STATES[ListEntry.State(entry.state)],
        url=page,
    )
