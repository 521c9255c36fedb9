"""Lists of an organization's scans for the dashboard.

Every list has a limit and uses an index.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, time
from typing import Any

from django.db.models import Q, QuerySet
from msgspec import Struct

from accounts import access, usage
from accounts.usage import Quota, TierLimits
from accounts.visible_sites import VisibleSites
from dashboard.entries import AUDIT_COLUMNS, SCAN_COLUMNS, Entry, entries
from infrastructure.web import keyset
from infrastructure.web.keyset import search_text
from scans.models import Scan
from sites.audits.visibility import visible_audits
from sites.models import UNFINISHED, Audit

PAGE_SIZE = 25
MAX_RUNNING = 10
MAX_LATEST = 8


class Month(Struct, frozen=True):
    """Monthly quota for the dashboard's gauge.

    `start` and `reset_at` are the start of this month and of the next one.
    """

    quota: Quota
    start: datetime
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


class Recent(Struct, frozen=True):
    """Running entries, oldest first, and the latest finished ones.

    `has_more_running` is True if running entries were left out.
    """

    running: list[Entry]
    has_more_running: bool
    latest: list[Entry]


class Filter(Struct, frozen=True):
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


# The oldest unfinished rows, one more than the list shows, and the latest with a report. Composing the unions of two
# querysets takes Django as long as the rest of the overview. Statuses are part of the text, because PostgreSQL uses
# partial indexes only for values that it knows when it plans.
RECENT_IDS = """
    (SELECT id, true AS is_audit FROM sites_audit
        WHERE organization_id = %(organization)s AND run_of = '' AND status IN ('queued', 'discovering', 'running')
        ORDER BY created_at, id LIMIT %(most_running)s)
    UNION ALL
    (SELECT id, true FROM sites_audit
        WHERE organization_id = %(organization)s AND run_of = '' AND status IN ('completed', 'partial')
        ORDER BY created_at DESC, id DESC LIMIT %(most_latest)s)
    UNION ALL
    (SELECT id, false FROM scans_scan
        WHERE organization_id = %(organization)s AND lead_id IS NULL AND audit_page_id IS NULL AND NOT is_background
            AND status IN ('queued', 'scanning')
        ORDER BY created_at, id LIMIT %(most_running)s)
    UNION ALL
    (SELECT id, false FROM scans_scan
        WHERE organization_id = %(organization)s AND lead_id IS NULL AND audit_page_id IS NULL AND NOT is_background
            AND status IN ('completed', 'partial')
        ORDER BY created_at DESC, id DESC LIMIT %(most_latest)s)
"""


def month(organization_id: int, limits: TierLimits, now: datetime) -> Month:
    """Return the current month's usage, with one query."""
    period = usage.month_of(now)
    start, reset_at = (datetime.combine(day, time(), UTC) for day in (period, usage.next_month(period)))
    days_left = (reset_at.date() - now.astimezone(UTC).date()).days
    return Month(usage.quota(organization_id, limits, now), start, reset_at, days_left)


def recent(organization_id: int) -> Recent:
    """Return running and latest entries with at most four queries, because the page polls while a scan runs."""
    ids = access.fetch_rows(RECENT_IDS, organization_id, most_running=MAX_RUNNING + 1, most_latest=MAX_LATEST)
    audit_ids, scan_ids = ([id for id, is_audit in ids if is_audit is kind] for kind in (True, False))
    audits = _audits(organization_id).filter(id__in=audit_ids)
    scans = _single_scans(organization_id).filter(id__in=scan_ids)
    # Django knows that a query for no IDs has no rows, and does not send it.
    recent_rows: list[Audit | Scan] = [*audits, *scans]
    running = sorted((row for row in recent_rows if not row.is_final), key=_age)
    latest = sorted((row for row in recent_rows if row.is_final), key=_age, reverse=True)
    listed = running[:MAX_RUNNING]
    rows = entries(organization_id, [*listed, *latest[:MAX_LATEST]])
    return Recent(rows[: len(listed)], len(running) > MAX_RUNNING, rows[len(listed) :])


def entry_page(organization_id: int, query: Mapping[str, str], scope: VisibleSites | None = None) -> EntryPage:
    """Return a page of entries of visible sites, filtered by `type`, `status` and URL text (`q`).

    Ignores unknown values.

    Only `monitors=yes` includes runs of monitors, which would be most of the list.
    """
    type, status = query.get("type", ""), query.get("status", "")
    type, status = type if type in Scan.Type.values else "", status if status in FILTERS else ""
    audits, scans = _audits(organization_id), _single_scans(organization_id)
    if scope is not None:
        audits = visible_audits(audits, scope)
        scans = scans.filter(scope.condition)
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


class EntryPage(Struct, frozen=True):
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
    return access.rows(Audit, organization_id).exclude(run_of=Audit.RunOf.DRY_RUN).only(*AUDIT_COLUMNS)


def _single_scans(organization_id: int) -> QuerySet[Scan]:
    rows: QuerySet[Scan] = access.rows(Scan, organization_id).single()  # type: ignore[attr-defined]  # ScanQuerySet
    return rows.only(*SCAN_COLUMNS)


def _age(row: Audit | Scan) -> tuple[datetime, str]:
    return row.created_at, row.id
