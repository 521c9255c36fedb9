"""What the dashboard's pages show of an organization's scans. Every list is bounded and served by an index."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from django.db.models import Q, QuerySet

from accounts import access, usage
from accounts.usage import Quota, TierLimits
from config.web import charts, keyset
from scans.dashboard.sites import Result, Site, recent_hosts, site_results
from scans.models import Scan, path_of

PAGE_SIZE = 25
MAX_RUNNING = 10
LATEST = 8
RECENT_SITES = 6
SPARK_SCANS = 20


@dataclass(frozen=True, slots=True)
class Month:
    """The quota as the gauge shows it: `percent` of it is used; `reset_at` is when the next month begins."""

    quota: Quota
    reset_at: datetime
    days_left: int

    @property
    def percent(self) -> int:
        """0 to 100, rounded down; a plan without scans is used up."""
        return min(100, 100 * self.quota.used // self.quota.limit) if self.quota.limit else 100

    @property
    def tone(self) -> str:
        return "bad" if not self.quota.remaining else "warn" if self.percent >= 80 else "calm"


@dataclass(frozen=True, slots=True)
class Activity:
    """What runs now, the first first, and what has ended last. `has_more_running`: more than are listed."""

    running: list[Scan]
    has_more_running: bool
    latest: list[Scan]


@dataclass(frozen=True, slots=True)
class Line:
    """One type's scores of a site: the drawing of the last ones, and the last; None for both without any."""

    label: str
    spark: charts.Spark | None
    last: Result | None


def month(organization_id: int, limits: TierLimits, now: datetime) -> Month:
    """The current month's usage, one query."""
    start = usage.next_month(usage.month_of(now))
    reset_at = datetime(start.year, start.month, start.day, tzinfo=UTC)
    return Month(
        usage.quota(organization_id, limits, now), reset_at, (reset_at.date() - now.astimezone(UTC).date()).days
    )


def activity(organization_id: int) -> Activity:
    """Two queries; this is asked again and again while something runs."""
    rows = access.rows(Scan, organization_id)
    running = list(rows.unfinished().order_by("created_at", "id")[: MAX_RUNNING + 1])  # type: ignore[attr-defined]
    ended = rows.filter(status__in=sorted(Scan.REPORTED)).defer("skipped_checks", "error_message")
    latest = list(ended.order_by("-created_at", "-id")[:LATEST])
    return Activity(running[:MAX_RUNNING], len(running) > MAX_RUNNING, latest)


def recent_sites(organization_id: int) -> list[tuple[str, str, list[Line]]]:
    """The sites scanned last that have a result, with a line for each type: of the page that was scanned most."""
    sites = site_results(organization_id, recent_hosts(organization_id, RECENT_SITES), limit=SPARK_SCANS)
    main_pages = ((site, next(iter(site.pages), None)) for site in sites)
    return [(site.host, path_of(url), _lines(site.of_page(url))) for site, url in main_pages if url]


def scan_page(organization_id: int, query: Mapping[str, str], *, host: str | None = None) -> ScanPage:
    """A page of scans, filtered by `type`, `status` and a text in the URL (`q`); unknown values filter nothing."""
    filters = {
        name: value
        for name, known in (("type", Scan.Type.values), ("status", Scan.Status.values))
        if (value := query.get(name, "")) in known
    }
    rows: QuerySet[Scan] = access.rows(Scan, organization_id).filter(**filters)
    if host is not None:
        rows = rows.filter(host=host)
    text = search_text(query)
    found = keyset.page(
        rows.defer("skipped_checks"),
        query,
        size=PAGE_SIZE,
        filters=filters | ({"q": text} if text else {}),
        match=Q(url__icontains=text) if text else None,
    )
    return ScanPage(found, filters.get("type", ""), filters.get("status", ""), text)


@dataclass(frozen=True, slots=True)
class ScanPage:
    """A page of scans and what it was filtered by; empty strings for no filter."""

    page: keyset.RowPage[Scan]
    type: str
    status: str
    text: str

    @property
    def is_filtered(self) -> bool:
        """Whether there may be scans that do not show."""
        return bool(self.type or self.status or self.text)

    types: Sequence[tuple[str, str]] = tuple(Scan.Type.choices)
    statuses: Sequence[tuple[str, str]] = tuple(Scan.Status.choices)


def search_text(query: Mapping[str, str]) -> str:
    """What is searched for, without what no URL holds."""
    return query.get("q", "").replace("\0", "").strip()[:200]


def _lines(site: Site) -> list[Line]:
    return [
        Line(str(label), charts.spark(site.results[type]), next(iter(site.results[type]), None))
        for type, label in Scan.Type.choices
    ]
