"""Filters of the table of monitors, and the monitors that match them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from accounts import access
from accounts.visible_sites import VisibleSites
from infrastructure.web.keyset import search_text
from infrastructure.web.sorted_rows import Source
from scans.models import Scan
from sites.models import SiteState
from website_scan.json_types import GRADES

STATES: Mapping[str, str] = {"ok": "Active", "failing": "Unreachable or failing", "paused": "Paused"}
LEVELS: Mapping[str, SiteState.Level] = {level.name.lower(): level for level in SiteState.Level}
# SQL expression for the urgency of a monitor: that of its site, or of an outage that the monitor has confirmed.
URGENCY = f"""least(
    coalesce(site.urgency, {SiteState.Level.FINE * SiteState.LEVEL_STEP + SiteState.NO_SCORE}),
    CASE WHEN monitor.failing_since IS NOT NULL AND monitor.paused_at IS NULL
        THEN {SiteState.Level.UNREACHABLE * SiteState.LEVEL_STEP} END
)"""
SOURCE = Source(
    tables="""sites_monitor AS monitor LEFT JOIN sites_sitestate AS site
        ON site.organization_id = monitor.organization_id
        AND site.host = substring(monitor.pages[1] FROM '^https?://([^/?#]+)')""",
    scope="monitor.organization_id = %(organization)s",
    id="monitor.id",
    keys={
        "state": URGENCY,
        "score": "coalesce((SELECT min((score.value ->> 'score')::int) FROM jsonb_each(monitor.scores) AS score), 999)",
        "name": "lower(monitor.name)",
        "scanned": """coalesce(
            (SELECT max(due_at) FROM sites_monitorrun WHERE monitor_id = monitor.id), '-infinity'
        )""",
    },
)
IS_PAUSED, IS_FAILING = "monitor.paused_at IS NOT NULL", "monitor.failing_since IS NOT NULL"


def filters_of(query: Mapping[str, str]) -> dict[str, str]:
    """Return the valid filters of a query string by name."""
    allowed: Mapping[str, Collection[str]] = {
        "state": STATES,
        "site": LEVELS,
        "grade": GRADES,
        "type": Scan.Type.values,
    }
    values = {"q": search_text(query)}
    values |= {name: value for name, choices in allowed.items() if (value := query.get(name, "")) in choices}
    return {name: value for name, value in values.items() if value}


def conditions_of(filters: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    """Return the SQL conditions for the filters with their parameters."""
    conditions: dict[str, dict[str, Any]] = {}
    if text := filters.get("q"):
        match = "position(%(text)s in lower(monitor.name)) > 0 OR position(%(text)s in lower(monitor.pages[1])) > 0"
        conditions[f"({match})"] = {"text": text.lower()}
    if state := filters.get("state"):
        is_unpaused = f"NOT {IS_PAUSED} AND {'' if state == 'failing' else 'NOT '}{IS_FAILING}"
        conditions[IS_PAUSED if state == "paused" else is_unpaused] = {}
    if level := filters.get("site"):
        first = LEVELS[level] * SiteState.LEVEL_STEP
        step = {"first": first, "beyond_last": first + SiteState.LEVEL_STEP}
        conditions["site.urgency >= %(first)s AND site.urgency < %(beyond_last)s"] = step
    if type := filters.get("type"):
        conditions["%(type)s = ANY(monitor.types)"] = {"type": type}
    if grade := filters.get("grade"):
        value = f"'{type}'" if type else "score.key"
        conditions[
            "EXISTS (SELECT FROM jsonb_each(monitor.scores) AS score WHERE score.value ->> 'grade' = %(grade)s"
            f" AND score.key = {value})"
        ] = {"grade": grade}
    return conditions


def visible_source(scope: VisibleSites | None) -> tuple[Source, dict[str, Any]]:
    """Return the source of the monitors that a member with this scope may see, and its SQL parameters.

    `scope` is None for members without a limit.
    """
    if scope is None:
        return SOURCE, {}
    condition, parameters = scope.urls_sql("monitor.pages")
    return SOURCE.within(f"{condition} AND monitor.kind <> 'journey'"), parameters


def count_matching(organization_id: int, filters: Mapping[str, str], scope: VisibleSites | None) -> int:
    """Return the number of monitors that the member may see and that match the filters."""
    ((number,),) = _select("count(*)", organization_id, filters, scope)
    return int(number)


def matching_ids(organization_id: int, query: Mapping[str, str], scope: VisibleSites | None) -> list[str]:
    """Return the IDs of all monitors that the member may see and that match the filters of a query string.

    Invalid filters are ignored.
    """
    return [id for (id,) in _select(SOURCE.id, organization_id, filters_of(query), scope)]


def _select(
    columns: str, organization_id: int, filters: Mapping[str, str], scope: VisibleSites | None
) -> list[tuple[Any, ...]]:
    source, parameters = visible_source(scope)
    conditions = conditions_of(filters)
    for values in conditions.values():
        parameters |= values
    where = " AND ".join([source.scope, *conditions])
    statement = f"SELECT {columns} FROM {source.tables} WHERE {where}"  # noqa: S608  # of constants
    return access.fetch_rows(statement, organization_id, **parameters)
