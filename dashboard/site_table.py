"""Table of an organization's sites, worst first, with filters, sort orders and actions for selected sites."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.utils import timezone
from msgspec import Struct

from accounts import access
from accounts.authentication import Caller
from accounts.models import Tier
from accounts.visible_sites import VisibleSites
from dashboard.sites import PageRow, page_results
from infrastructure.web import keyset
from infrastructure.web.keyset import LinkedPage
from infrastructure.web.selections import Outcome, apply_to_each
from infrastructure.web.sorted_rows import Column, Source, columns_of, sort_choices, sorted_page
from scans.check_catalogue import check_name, is_check_id
from scans.models import Scan
from scans.policy import scan_policy
from sites.audits.requests import AuditRequest, targets_of
from sites.audits.services import create_audit
from sites.models import Audit, Monitor, SiteList, SiteState
from sites.models.monitor import monitors_of_host
from sites.monitors.requests import MonitorRequest, default_interval, schedule_columns
from sites.monitors.services import create_monitor
from sites.pages.site_marks import SiteMark, marks_of
from sites.site_states import IS_OPEN
from website_scan.json_types import GRADES

PAGE_SIZE = 25
TYPES = tuple(Scan.Type.values)
LEVELS: Mapping[str, SiteState.Level] = {level.name.lower(): level for level in SiteState.Level}
SOURCE = Source(
    tables="sites_sitestate AS state",
    scope="state.organization_id = %(organization)s",
    id="state.host",
    keys={
        "state": "state.urgency",
        "score": "coalesce(state.lowest_score, 999)",
        "name": "state.host",
        "scanned": "state.scanned_at",
    },
)
LABELS = {"name": "Site", "state": "State", "scanned": "Last scan (UTC)"}
HAS_FINDING = f"""EXISTS (
    SELECT FROM sites_sitefinding AS finding
    WHERE finding.organization_id = state.organization_id AND finding.host = state.host
        AND finding.check_id = %(check)s AND {IS_OPEN}
)"""  # of constants
HAS_TAG = """state.host IN (
    SELECT entry.host FROM sites_listentry AS entry JOIN sites_sitelist AS list ON list.id = entry.site_list_id
    WHERE list.organization_id = %(organization)s AND list.deleted_at IS NULL
        AND entry.tags @> ARRAY[%(tag)s]::varchar[]
)"""


class SiteRow(Struct, frozen=True):
    """Site with its state and the latest results of its main page."""

    state: SiteState
    marks: tuple[SiteMark, ...]
    page: PageRow


class SiteTable(Struct, frozen=True):
    """Page of the table of sites with its filters and columns. Unused filters are absent."""

    rows: list[SiteRow]
    page: LinkedPage[str, str]
    filters: Mapping[str, str]
    sort: str
    columns: Mapping[str, Column]
    has_tags: bool

    grades: Sequence[str] = GRADES
    types: Sequence[tuple[str, str]] = tuple(Scan.Type.choices)
    sorts: Sequence[tuple[str, str]] = sort_choices("scan")
    levels: Sequence[tuple[str, str]] = tuple((name, level.label) for name, level in LEVELS.items())

    @property
    def chosen(self) -> dict[str, str]:
        """Return the values of all filters, with "" for unused filters."""
        return {name: self.filters.get(name, "") for name in ("q", "state", "grade", "type", "tag", "check")}

    @property
    def check_name(self) -> str:
        """Return the name of the check that sites must fail, or an empty string."""
        return check_name(self.filters["check"]) if "check" in self.filters else ""


def site_table(organization_id: int, query: Mapping[str, str], scope: VisibleSites | None = None) -> SiteTable:
    """Return a page of the sites that the member may see and that match the filters, ignoring invalid ones."""
    filters = _filters(query)
    condition, visible = scope.sql("state.host") if scope is not None else ("TRUE", {})
    page = sorted_page(
        SOURCE.within(condition),
        query,
        conditions=_conditions(filters, organization_id),
        filters=filters,
        size=PAGE_SIZE,
        fetch=lambda sql, **parameters: access.fetch_rows(sql, organization_id, **visible, **parameters),
    )
    states = {row.host: row for row in access.rows(SiteState, organization_id).filter(host__in=page.rows)}
    found = [states[host] for host in page.rows if host in states]
    results = page_results(organization_id, [state.url for state in found], limit=1)
    sort = SOURCE.sort_of(query)
    return SiteTable(
        rows=[SiteRow(state, marks_of(state), PageRow(state.host, state.url, results[state.url])) for state in found],
        page=page,
        filters=filters,
        sort=sort,
        columns=columns_of(SOURCE, LABELS, sort, filters),
        has_tags=scope is None and access.rows(SiteList, organization_id).exists(),
    )


def scan_again(caller: Caller, hosts: Sequence[str]) -> Outcome:
    """Scan the main pages of the sites again, with the types that they have scores for."""
    limit = caller.limits.pages_per_audit

    def scan(state: SiteState) -> bool:
        targets = targets_of(Audit.Kind.PAGE, [state.url], scan_policy(), limit)
        types = [type for type in TYPES if state.score_of(type) is not None] or TYPES
        create_audit(caller=caller, request=AuditRequest.of(Audit.Kind.PAGE, targets, limit, types=types))
        return True

    return apply_to_each(_states(caller, hosts), scan)


def watch(caller: Caller, hosts: Sequence[str], tier: Tier) -> Outcome:
    """Create a monitor of the main page of each site that no monitor watches yet."""
    # A journey is not the page that its site begins with.
    monitors = access.rows(Monitor, caller.organization_id).exclude(kind=Audit.Kind.JOURNEY)
    limit, schedule = tier.pages_per_audit, schedule_columns(default_interval(tier), None, None, "UTC")

    def create(state: SiteState) -> bool:
        if monitors_of_host(monitors, state.host).exists():
            return False
        targets = targets_of(Audit.Kind.PAGE, [state.url], scan_policy(), limit)
        audit = AuditRequest.of(Audit.Kind.PAGE, targets, limit, types=TYPES)
        create_monitor(caller=caller, request=MonitorRequest(audit, schedule))
        return True

    return apply_to_each(_states(caller, hosts), create)


def _states(caller: Caller, hosts: Sequence[str]) -> list[SiteState]:
    chosen = [host.replace("\0", "") for host in hosts[:PAGE_SIZE]]
    return list(access.rows(SiteState, caller.organization_id).filter(host__in=chosen).order_by("host"))


def _filters(query: Mapping[str, str]) -> dict[str, str]:
    """Return the valid filters of a query string by name."""
    text, tag = keyset.search_text(query).lower(), query.get("tag", "").replace("\0", "").strip()[:60]
    allowed = {"state": LEVELS, "grade": GRADES, "type": TYPES}
    check = query.get("check", "")
    values = {"q": text, "tag": tag, "check": check if is_check_id(check) else ""}
    values |= {name: value for name, choices in allowed.items() if (value := query.get(name, "")) in choices}
    return {name: value for name, value in values.items() if value}


def _conditions(filters: Mapping[str, str], organization_id: int) -> dict[str, dict[str, Any]]:
    """Return the SQL conditions for the filters with their parameters."""
    conditions: dict[str, dict[str, Any]] = {}
    if text := filters.get("q"):
        conditions["position(%(text)s in state.host) > 0"] = {"text": text}
    if level := filters.get("state"):
        first = LEVELS[level] * SiteState.LEVEL_STEP
        step = {"first": first, "beyond_last": first + SiteState.LEVEL_STEP}
        conditions["state.urgency >= %(first)s AND state.urgency < %(beyond_last)s"] = step
    type = filters.get("type")
    if type:
        conditions[f"state.{type}_score IS NOT NULL"] = {}
    if grade := filters.get("grade"):
        columns = ", ".join(f"state.{name}_grade" for name in ([type] if type else TYPES))
        conditions[f"%(grade)s IN ({columns})"] = {"grade": grade}
    if check := filters.get("check"):
        conditions[HAS_FINDING] = {"check": check, "now": timezone.now(), "organizations": [organization_id]}
    if tag := filters.get("tag"):
        conditions[HAS_TAG] = {"tag": tag}
    return conditions
