"""Table of a list's sites: grades, changes since the snapshot before, last scores as a line, tags, state."""

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
from sites.lists.entries import EntryPage, Wanted, entries_page
from sites.lists.pages.states import ENTRY_STATES, State
from sites.models import Audit, ListCount, ListEntry, SiteList
from website_scan.json_types import GRADES
from website_scan.scoring import mean_grade

PAGE_SIZE = 50
LABELS = dict(Scan.Type.choices)
# Of the tags of a list, those of its first sites are suggested.
TAGS = """
    SELECT DISTINCT tag FROM (
        SELECT unnest(tags) AS tag FROM sites_listentry WHERE site_list_id = %(site_list)s LIMIT 20000
    ) AS tags ORDER BY tag LIMIT 500
"""
# The names of the filters in the query string are those of the API.
FILTERS = tuple(each.name for each in fields(Wanted))
FIRST = "url"


@dataclass(frozen=True, slots=True)
class MeanScore:
    """Mean of a site's scores in a snapshot, as a point of its line, which shows neither time nor rules."""

    score: int
    grade: str = ""
    created_at: datetime = EPOCH
    catalogue_version: str = ""


@dataclass(frozen=True, slots=True)
class TypeCell:
    """Latest score of a type, None without one, its change, and the address of its report; empty if it has expired."""

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
    """Column whose link sorts by it; `direction` is empty if the table is sorted by another one."""

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
    states: tuple[tuple[str, str], ...] = tuple((str(value), each.name) for value, each in ENTRY_STATES.items())

    @property
    def is_filtered(self) -> bool:
        return bool(self.filters)

    @property
    def chosen(self) -> dict[str, str]:
        """Return the values of all filters, empty where one is not set."""
        return {name: self.filters.get(name, "") for name in FILTERS}


def site_table(site_list: SiteList, query: Mapping[str, str]) -> SiteTable:
    """Return the page that the query string asks for; what no filter accepts counts as none."""
    wanted = wanted_of(query)
    filters = wanted.parameters
    sorts = _sorts(site_list.types)
    sort = query.get("sort", "")
    sort = sort if sort in dict(sorts) else FIRST
    try:
        found = entries_page(site_list, wanted, sort=sort, cursor=query.get("cursor", ""), limit=PAGE_SIZE)
    except InvalidParams:  # the cursor of another order, or no cursor
        found = entries_page(site_list, wanted, sort=sort, limit=PAGE_SIZE)
    kept = filters | ({"sort": sort} if sort != FIRST else {})
    return SiteTable(
        rows=_rows(site_list, found),
        total=found.total,
        previous=_link(kept, found.previous_cursor),
        next=_link(kept, found.next_cursor),
        filters=filters,
        sort=sort,
        columns=tuple(_column(label, name, filters, sort) for label, name in _columns(site_list.types)),
        sorts=sorts,
        types=tuple((type, str(label)) for type, label in Scan.Type.choices if type in site_list.types),
    )


def tags_of(site_list: SiteList) -> list[str]:
    """Return the tags to suggest."""
    return [tag for (tag,) in fetch(TAGS, {"site_list": site_list.id})]


def failing_checks(run_id: str) -> list[tuple[str, list[CheckEntry]]]:
    """Return the checks that a site of the snapshot fails, by the label of their type."""
    counts = ListCount.objects.filter(run=run_id, tag="").values_list("data", flat=True).first() if run_id else None
    return checks_by_type([check for check, (failed, *_) in counts["checks"].items() if failed] if counts else [])


def checks_by_type(ids: Iterable[str]) -> list[tuple[str, list[CheckEntry]]]:
    """Return the checks by the label of their type, sorted by name, without those that no longer exist."""
    known = entries()
    groups: dict[str, list[CheckEntry]] = {str(label): [] for label in LABELS.values()}
    for each in ids:
        if each in known:
            groups[str(LABELS[known[each].type])].append(known[each])
    return [(label, sorted(found, key=lambda each: each.name)) for label, found in groups.items() if found]


def wanted_of(query: Mapping[str, str]) -> Wanted:
    """Return the filter of a page's query string or form, without the values that the API would refuse."""
    return Wanted.of({name: query.get(name, "").strip() for name in FILTERS}, is_lenient=True)


def reports_of(organization_id: int, audits: Iterable[str | None]) -> dict[str, str]:
    """Map audits to the addresses of their pages, without those that have expired; one query."""
    wanted = {each for each in audits if each}
    rows = access.rows(Audit, organization_id).filter(id__in=wanted)
    found = rows.only("status", "created_at", "released_at", "kept_days")
    return {each.id: reverse("audit-page", args=[each.id]) for each in found if each.is_kept}


def _sorts(types: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Return the orders that the table offers, with their names."""
    found = [("url", "Address"), ("-url", "Address, backwards")]
    for type, label in Scan.Type.choices:
        if type in types:
            found += [
                (type, f"{label}, worst first"),
                (f"-{type}", f"{label}, best first"),
                (f"{type}_change", f"{label}, largest loss first"),
                (f"-{type}_change", f"{label}, largest gain first"),
            ]
    return tuple(found)


def _columns(types: Sequence[str]) -> list[tuple[str, str]]:
    return [("Site", "url"), *((str(label), type) for type, label in Scan.Type.choices if type in types)]


def _column(label: str, name: str, filters: Mapping[str, str], sort: str) -> Column:
    """Return a column whose link sorts by it, or turns the order round if the table is sorted by it already."""
    direction = {name: "ascending", f"-{name}": "descending"}.get(sort, "")
    order = f"-{name}" if direction == "ascending" else name
    return Column(label, urlencode({**filters, **({"sort": order} if order != FIRST else {})}), direction)


def _link(kept: Mapping[str, str], cursor: str | None) -> str | None:
    return urlencode({**kept, "cursor": cursor}) if cursor else None


def _rows(site_list: SiteList, page: EntryPage) -> list[SiteRow]:
    audits: list[str | None] = [each.audit_id for each in page.rows]  # type: ignore[attr-defined]  # annotated
    reports = reports_of(site_list.organization_id, audits)
    return [
        _row(site_list, entry, reports.get(audit or "", "")) for entry, audit in zip(page.rows, audits, strict=True)
    ]


def _row(site_list: SiteList, entry: ListEntry, page: str) -> SiteRow:
    path = path_of(entry.url)
    history = [MeanScore(each) for each in reversed(entry.history)]
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
