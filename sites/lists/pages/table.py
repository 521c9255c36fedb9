"""View models for the table of a list's sites."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from urllib.parse import urlencode

from django.urls import reverse
from msgspec import Struct

from accounts import access
from infrastructure.api.errors import InvalidParams
from infrastructure.postgresql.statements import fetch
from infrastructure.web import charts
from infrastructure.web.keyset import EPOCH
from scans.check_catalogue import check_name, entries
from scans.models import Scan, path_of
from sites.lists.asked_facts import is_asked
from sites.lists.entries import entries_page
from sites.lists.entry_filters import EntryFilter
from sites.lists.pages.states import ENTRY_STATES, State
from sites.lists.services import MAX_SELECTED_ENTRIES
from sites.models import Audit, ListCount, ListEntry, SiteList
from website_scan.json_types import GRADES
from website_scan.requirements.model import CATEGORY_NAME, is_own_check
from website_scan.scoring import mean_grade

SITES_PER_PAGE = 50
LABELS = dict(Scan.Type.choices)
# Selects tags for suggestions, only of the first sites of a list, so that the query stays fast.
TAGS = """
    SELECT DISTINCT tag FROM (
        SELECT unnest(tags) AS tag FROM sites_listentry WHERE site_list_id = %(site_list)s LIMIT 20000
    ) AS tags ORDER BY tag LIMIT 500
"""
# Names of the filters in the query string, as in the API.
FILTERS = EntryFilter.__struct_fields__
# Labels of the columns of facts that can be added to the table, by name of the fact.
FACT_COLUMNS: Mapping[str, str] = {"status": "Status", "hsts": "HSTS", "generator": "Generator", "language": "Language"}
# Filters that are always displayed; the others are in “More filters”.
MAIN_FILTERS = frozenset({"text", "tag", "check"})
DEFAULT_SORT = "url"


class MeanScore(Struct, frozen=True):
    """Mean of a site's scores in one result, as a point of a sparkline.

    It has neither a date nor a catalogue version.
    """

    score: int
    grade: str = ""
    created_at: datetime = EPOCH
    catalogue_version: str = ""


class TypeCell(Struct, frozen=True):
    """Latest score of a scan type and its change.

    `score` is None without a score. `url` leads to the report and is empty if the report has expired.
    """

    type: str
    label: str
    score: int | None
    grade: str | None
    change: int | None
    url: str


class CheckChoice(Struct, frozen=True):
    """Check that a filter offers."""

    id: str
    name: str


class SiteRow(Struct, frozen=True):
    entry: ListEntry
    path: str
    cells: tuple[TypeCell, ...]
    spark: charts.Spark | None
    mean_grade: str
    state: State
    url: str
    is_in_progress: bool
    facts: tuple[tuple[str, str], ...] = ()

    @property
    def page(self) -> str:
        """Return the address of the site's page, relative to that of its list."""
        return f"{self.entry.site_list_id}/entries/{self.entry.id}"

    @property
    def name(self) -> str:
        """Return the host and path of the site, or only the host if the path is "/"."""
        return f"{self.entry.host}{self.path}"


class Column(Struct, frozen=True):
    """Table column with a link that sorts the table by it.

    `direction` is empty if the table is sorted by another column.
    """

    label: str
    query: str
    direction: str


class SiteTable(Struct, frozen=True):
    """Page of the table of sites with its filters, links and columns.

    `facts` are names of additional columns. `total` is None if the matching sites were not counted.
    """

    rows: list[SiteRow]
    total: int | None
    previous: str | None
    next: str | None
    filters: Mapping[str, str]
    sort: str
    columns: tuple[Column, ...]
    sorts: tuple[tuple[str, str], ...]
    types: tuple[tuple[str, str], ...]
    facts: tuple[str, ...]
    grades: Sequence[str] = GRADES
    states: tuple[tuple[str, str], ...] = tuple((str(value), state.name) for value, state in ENTRY_STATES.items())

    @property
    def fact_columns(self) -> Mapping[str, str]:
        """Return the labels of the columns that can be added, by fact name."""
        return FACT_COLUMNS

    @property
    def is_filtered(self) -> bool:
        return bool(self.filters)

    @property
    def can_select_all(self) -> bool:
        """Return True if an action may apply to all matching sites."""
        return self.total is not None and self.total <= MAX_SELECTED_ENTRIES

    @property
    def has_more_filters(self) -> bool:
        """Return True if the section “More filters” has a filter or column in use."""
        return not MAIN_FILTERS.issuperset(self.filters) or bool(self.facts)

    @property
    def chosen(self) -> dict[str, str]:
        """Return the values of all filters, with "" for unused filters."""
        return {name: self.filters.get(name, "") for name in FILTERS}


def site_table(site_list: SiteList, query: Mapping[str, str]) -> SiteTable:
    """Return the page of the table for a query string, ignoring invalid filters, sort orders and cursors."""
    entry_filter = entry_filter_of(query)
    filters = entry_filter.parameters
    sorts = _sort_orders(site_list.types)
    sort = query.get("sort", "")
    sort = sort if sort in dict(sorts) else DEFAULT_SORT
    try:
        page = entries_page(site_list, entry_filter, sort=sort, cursor=query.get("cursor", ""), limit=SITES_PER_PAGE)
    except InvalidParams:  # The cursor is invalid or belongs to another sort order.
        page = entries_page(site_list, entry_filter, sort=sort, limit=SITES_PER_PAGE)
    facts = fact_columns_of(query)
    shown = {f"show_{fact}": "yes" for fact in facts}
    parameters = filters | shown | ({"sort": sort} if sort != DEFAULT_SORT else {})
    return SiteTable(
        rows=rows_of(site_list, page.rows, facts),
        total=page.total,
        previous=_link(parameters, page.previous_cursor),
        next=_link(parameters, page.next_cursor),
        filters=filters,
        sort=sort,
        columns=tuple(_column(label, name, filters | shown, sort) for label, name in _columns(site_list.types)),
        sorts=sorts,
        facts=facts,
        types=tuple((type, str(label)) for type, label in Scan.Type.choices if type in site_list.types),
    )


def fact_columns_of(query: Mapping[str, str]) -> tuple[str, ...]:
    """Return the fact columns that the query string requests, for example with `show_hsts=yes`."""
    return tuple(fact for fact in FACT_COLUMNS if query.get(f"show_{fact}"))


def tags_of(site_list: SiteList) -> list[str]:
    """Return the list's tags for suggestions."""
    return [tag for (tag,) in fetch(TAGS, {"site_list": site_list.id})]


def failing_checks(run_id: str) -> list[tuple[str, list[CheckChoice]]]:
    """Return the checks that at least one site of the snapshot fails, grouped by type label."""
    counts = ListCount.objects.filter(run=run_id, tag="").values_list("data", flat=True).first() if run_id else None
    return checks_by_type([check for check, (failed, *_) in counts["checks"].items() if failed] if counts else [])


def checks_by_type(ids: Iterable[str]) -> list[tuple[str, list[CheckChoice]]]:
    """Return the checks grouped by type label and sorted by name, and own requirements as the last group.

    IDs of removed checks are left out.
    """
    catalogue = entries()
    groups: dict[str, list[CheckChoice]] = {label: [] for label in (*map(str, LABELS.values()), CATEGORY_NAME)}
    for check_id in ids:
        if check_id in catalogue:
            groups[str(LABELS[catalogue[check_id].type])].append(CheckChoice(check_id, catalogue[check_id].name))
        elif is_own_check(check_id):
            groups[CATEGORY_NAME].append(CheckChoice(check_id, check_name(check_id)))
    return [(label, sorted(group, key=lambda choice: choice.name)) for label, group in groups.items() if group]


def entry_filter_of(query: Mapping[str, str]) -> EntryFilter:
    """Return the filter of a query string or form, ignoring invalid values."""
    return EntryFilter.of({name: query.get(name, "").strip() for name in FILTERS}, is_lenient=True)


def reports_of(organization_id: int, audits: Iterable[str | None]) -> dict[str, str]:
    """Return the URLs of audit pages by audit ID, without expired audits, in one query."""
    ids = {audit_id for audit_id in audits if audit_id}
    rows = access.rows(Audit, organization_id).filter(id__in=ids)
    stored = rows.only("status", "created_at", "released_at", "kept_days")
    return {audit.id: reverse("audit-page", args=[audit.id]) for audit in stored if audit.is_kept}


def _sort_orders(types: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Return the sort orders of the table as pairs of value and label."""
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
    """Return a column whose link sorts the table by it.

    If the table is already sorted by the column, the link reverses the order.
    """
    direction = {name: "ascending", f"-{name}": "descending"}.get(sort, "")
    order = f"-{name}" if direction == "ascending" else name
    return Column(label, urlencode({**filters, **({"sort": order} if order != DEFAULT_SORT else {})}), direction)


def _link(parameters: Mapping[str, str], cursor: str | None) -> str | None:
    return urlencode({**parameters, "cursor": cursor}) if cursor else None


def rows_of(site_list: SiteList, entries: Sequence[ListEntry], facts: Sequence[str] = ()) -> list[SiteRow]:
    """Return table rows for the entries.

    `facts` are additional columns. The entries must come from `annotated_entries`.
    """
    audits: list[str | None] = [entry.audit_id for entry in entries]  # type: ignore[attr-defined]  # annotated
    reports = reports_of(site_list.organization_id, audits)
    return [
        _row(site_list, entry, reports.get(audit or "", ""), facts)
        for entry, audit in zip(entries, audits, strict=True)
    ]


def _row(site_list: SiteList, entry: ListEntry, page: str, facts: Sequence[str]) -> SiteRow:
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
        is_in_progress=entry.is_in_progress,  # type: ignore[attr-defined]  # annotated
        facts=tuple((FACT_COLUMNS[fact], _fact_text(site_list, entry, fact)) for fact in facts),
    )


def _fact_text(site_list: SiteList, entry: ListEntry, fact: str) -> str:
    value = dict[str, object](entry.facts).get(fact)
    if value is None and not is_asked(fact, tuple(site_list.types), site_list.chosen_categories):
        return "Not asked"
    if isinstance(value, bool):
        return "Yes" if value else "No"
    return "" if value is None else str(value)
