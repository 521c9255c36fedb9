"""Lists of an organization's scans for the dashboard.

Every list has a limit and uses an index.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from django.db.models import Q, QuerySet

from accounts import access, usage
from accounts.usage import Quota, TierLimits
from dashboard.entries import AUDIT_COLUMNS, SCAN_COLUMNS, Entry, entries
from dashboard.sites import Result, main_pages, page_results
from infrastructure.web import charts, keyset
from infrastructure.web.keyset import search_text
from scans.models import Scan, path_of
from sites.models import UNFINISHED, Audit

PAGE_SIZE = 25
MAX_RUNNING = 10
MAX_LATEST = 8
MAX_RECENT_SITES = 6
# `recent_sites` searches for sites in this number of latest audits and scans.
MAX_RECENT_ROWS = 200
# Number of scans in a sparkline.
SPARKLINE_SCANS = 20

# This query selects the times and URLs of the latest audits and of the scans in `ScanQuerySet.single`.
RECENT_PAGES = """
    (SELECT created_at, url FROM sites_audit WHERE organization_id = %(organization)s
        ORDER BY created_at DESC, id DESC LIMIT %(most)s)
    UNION ALL
    (SELECT created_at, url FROM scans_scan
        WHERE organization_id = %(organization)s AND lead_id IS NULL AND audit_page_id IS NULL AND NOT is_background
        ORDER BY created_at DESC, id DESC LIMIT %(most)s)
    ORDER BY created_at DESC LIMIT %(most)s
"""


@dataclass(frozen=True, slots=True)
class Month:
    """Monthly quota for the dashboard's gauge.

    `reset_at` is the start of the next month.
    """

    quota: Quota
    reset_at: datetime
    days_left: int

    @property
    def percent(self) -> int:
        """Percentage of the quota that is used, rounded down. 100 if the tier has no scans."""
        used = self.quota.limit - self.quota.remaining
        return 100 * used // self.quota.limit if self.quota.limit else 100

    @property
    def tone(self) -> str:
        return "bad" if not self.quota.remaining else "warn" if self.percent >= 80 else "calm"


@dataclass(frozen=True, slots=True)
class Recent:
    """Running entries, oldest first, and the latest finished ones.

    `has_more_running` is True if running entries were left out.
    """

    running: list[Entry]
    has_more_running: bool
    latest: list[Entry]


@dataclass(frozen=True, slots=True)
class Line:
    """A page's scores for one scan type, as a sparkline, and the last result.

    Both are None without results.
    """

    label: str
    spark: charts.Spark | None
    last: Result | None


@dataclass(frozen=True, slots=True)
class Filter:
    """Status filter option, with the audit and scan statuses that it selects."""

    label: str
    audits: Sequence[str]
    scans: Sequence[str]


FILTERS: Mapping[str, Filter] = {
    "running": Filter("Queued or running", UNFINISHED, (Scan.Status.QUEUED, Scan.Status.SCANNING)),
    "completed": Filter("Completed", (Audit.Status.COMPLETED,), (Scan.Status.COMPLETED,)),
    "partial": Filter("Partial", (Audit.Status.PARTIAL,), (Scan.Status.PARTIAL,)),
    "failed": Filter("Failed or cancelled", (Audit.Status.FAILED, Audit.Status.CANCELLED), (Scan.Status.FAILED,)),
}


def month(organization_id: int, limits: TierLimits, now: datetime) -> Month:
    """Return the current month's usage, with one query."""
    start = usage.next_month(usage.month_of(now))
    reset_at = datetime(start.year, start.month, start.day, tzinfo=UTC)
    return Month(
        usage.quota(organization_id, limits, now), reset_at, (reset_at.date() - now.astimezone(UTC).date()).days
    )


def recent(organization_id: int) -> Recent:
    """Return running and latest entries with at most four queries, because the page polls while a scan runs."""
    audits = _running_and_latest(_audits(organization_id).filter(run_of=""), UNFINISHED)
    scans = _running_and_latest(_single_scans(organization_id), FILTERS["running"].scans)
    running = sorted((row for row in (*audits, *scans) if not row.is_final), key=_age)
    latest = sorted((row for row in (*audits, *scans) if row.is_final), key=_age, reverse=True)
    listed = running[:MAX_RUNNING]
    rows = entries(organization_id, [*listed, *latest[:MAX_LATEST]])
    return Recent(rows[: len(listed)], len(running) > MAX_RUNNING, rows[len(listed) :])


def recent_sites(organization_id: int) -> list[tuple[str, str, list[Line]]]:
    """Return recently scanned sites with results: host, path of the most scanned page, and one line per type."""
    pages = main_pages(_recent_pages(organization_id), MAX_RECENT_SITES)
    results = page_results(organization_id, list(pages.values()), limit=SPARKLINE_SCANS)
    lines = {host: _lines(results[url]) for host, url in pages.items()}
    return [
        (host, path_of(pages[host]), site_lines)
        for host, site_lines in lines.items()
        if any(line.last for line in site_lines)
    ]


def entry_page(organization_id: int, query: Mapping[str, str]) -> EntryPage:
    """Return a page of entries, filtered by `type`, `status` and URL text (`q`).

    Ignores unknown values.

    Only `monitors=yes` includes runs of monitors, which would be most of the list.
    """
    type, status = query.get("type", ""), query.get("status", "")
    type, status = type if type in Scan.Type.values else "", status if status in FILTERS else ""
    audits, scans = _audits(organization_id), _single_scans(organization_id)
    has_monitors = query.get("monitors") == "yes"
    if not has_monitors:
        audits = audits.filter(run_of="")
    if type:
        audits, scans = audits.filter(types__contains=[type]), scans.filter(type=type)
    if status:
        audits = audits.filter(status__in=FILTERS[status].audits)
        scans = scans.filter(status__in=FILTERS[status].scans)
    text = search_text(query)
    values = (("type", type), ("status", status), ("q", text), ("monitors", "yes" if has_monitors else ""))
    filters = {name: value for name, value in values if value}
    sources: list[QuerySet[Any]] = [scans, audits]
    match = Q(url__icontains=text) if text else None
    page = keyset.by_time(sources, query, size=PAGE_SIZE, filters=filters, match=match)
    return EntryPage(page, entries(organization_id, page.rows), type, status, text, has_monitors)


@dataclass(frozen=True, slots=True)
class EntryPage:
    """A page of entries with its filters.

    A filter that is an empty string is not applied.
    """

    page: keyset.LinkedPage[Any, keyset.Moment]
    entries: list[Entry]
    type: str
    status: str
    text: str
    has_monitors: bool

    @property
    def is_filtered(self) -> bool:
        """Return True if any filter is set."""
        return bool(self.type or self.status or self.text or self.has_monitors)

    types: Sequence[tuple[str, str]] = tuple(Scan.Type.choices)
    statuses: Sequence[tuple[str, str]] = tuple((value, option.label) for value, option in FILTERS.items())


def _audits(organization_id: int) -> QuerySet[Audit]:
    return access.rows(Audit, organization_id).only(*AUDIT_COLUMNS)


def _single_scans(organization_id: int) -> QuerySet[Scan]:
    rows: QuerySet[Scan] = access.rows(Scan, organization_id).single()  # type: ignore[attr-defined]  # ScanQuerySet
    return rows.only(*SCAN_COLUMNS)


def _running_and_latest(rows: QuerySet[Any], unfinished: Sequence[str]) -> list[Any]:
    """Return the oldest unfinished rows and the latest rows with a report, in one query.

    It returns one more unfinished row than the list shows.
    """
    running = rows.filter(status__in=unfinished).order_by("created_at", "id")[: MAX_RUNNING + 1]
    latest = rows.filter(status__in=sorted(Scan.REPORTED)).order_by("-created_at", "-id")[:MAX_LATEST]
    return list(running.union(latest, all=True))


def _age(row: Audit | Scan) -> tuple[datetime, str]:
    return row.created_at, row.id


def _recent_pages(organization_id: int) -> list[str]:
    """Return the latest audits' and scans' URLs, newest first, with duplicates."""
    return [url for _, url in access.fetch_rows(RECENT_PAGES, organization_id, most=MAX_RECENT_ROWS)]


def _lines(results: Mapping[str, Sequence[Result]]) -> list[Line]:
    return [
        Line(str(label), charts.spark(results[type]), next(iter(results[type]), None))
        for type, label in Scan.Type.choices
    ]
