"""View models for the list of monitors."""

from __future__ import annotations

import calendar
import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from django.utils.text import capfirst
from msgspec import Struct

from accounts import access
from accounts.models import Interval
from accounts.visible_sites import VisibleSites
from infrastructure.web import charts, keyset
from infrastructure.web.sorted_rows import Column, columns_of, sort_choices, sorted_page
from scans.models import Scan
from sites.audits.visibility import visible_audits
from sites.models import Audit, Monitor, MonitorRun, SiteState
from sites.models.stored_json import News as RunNews
from sites.models.stored_json import NewsList
from sites.models.stored_json import RunScore as StoredRunScore
from sites.monitors.pages.filters import LEVELS, STATES, conditions_of, count_matching, filters_of, visible_source
from sites.monitors.pauses import EXPLANATIONS
from sites.pages.site_marks import SiteMark, marks_of
from website_scan.json_types import GRADES
from website_scan.messages import counted
from website_scan.urls import host_and_port_of

PAGE_SIZE = 25
MAX_SPARKLINE_RUNS = 20
LABELS = dict(Scan.Type.choices)

# Selects for each monitor the last run, the last run with changes, and the scores of the last runs.
RUNS = """
    SELECT monitor.id, run.kind, run.due_at, run.status, run.audit_id, run.document
    FROM jsonb_array_elements_text(%(ids)s::jsonb) AS wanted (id)
    JOIN sites_monitor AS monitor ON monitor.id = wanted.id AND monitor.organization_id = %(organization)s
    CROSS JOIN LATERAL (
        (SELECT 'last' AS kind, due_at, status, audit_id, NULL::jsonb AS document
            FROM sites_monitorrun WHERE monitor_id = monitor.id ORDER BY due_at DESC LIMIT 1)
        UNION ALL
        (SELECT 'news', due_at, status, audit_id, news
            FROM sites_monitorrun WHERE monitor_id = monitor.id AND news <> '{}'::jsonb ORDER BY due_at DESC LIMIT 1)
        UNION ALL
        (SELECT 'scores', due_at, status, audit_id, scores
            FROM sites_monitorrun WHERE monitor_id = monitor.id AND status = 'done' ORDER BY due_at DESC
            LIMIT %(most)s)
    ) AS run
"""
# Values are the label and the tone (color) of each kind of change.
CHANGES: Mapping[NewsList, tuple[str, str]] = {
    "new": ("new", "bad"),
    "worse": ("worse", "warn"),
    "fixed": ("fixed", "good"),
    "better": ("better", "good"),
    "unreachable_pages": ("unreachable", "bad"),
    "reachable_pages": ("reachable again", "good"),
}
COLUMNS = {"name": "Monitor", "state": "Site", "scanned": "Last run"}


class RunScore(Struct, frozen=True):
    """Point of a chart for a type's score in a run.

    Points with different catalogue versions are not connected.
    """

    score: int
    grade: str
    created_at: datetime
    catalogue_version: str


class State(Struct, frozen=True):
    """State of a monitor for display, with its reason and color."""

    value: str
    name: str
    tone: str
    reason: str = ""


class TypeLine(Struct, frozen=True):
    """Last confirmed score of a scan type (None without a score) with a sparkline of recent scores."""

    type: str
    label: str
    score: int | None
    grade: str | None
    spark: charts.Spark | None


class Change(Struct, frozen=True):
    """Number of changes of one kind, such as "2 new"."""

    number: int
    word: str
    tone: str


class MonitorRow(Struct, frozen=True):
    """Monitor with its own state, and the marks of its site, which are empty before the site's first scan."""

    monitor: Monitor
    state: State
    site: tuple[SiteMark, ...]
    host: str
    target: str
    schedule: str
    lines: tuple[TypeLine, ...]
    last: datetime | None
    is_running: bool
    news_at: datetime | None
    news: tuple[Change, ...]

    @property
    def cells(self) -> list[TypeLine | None]:
        """Return the line of each scan type, None for types that the monitor does not scan."""
        lines = {line.type: line for line in self.lines}
        return [lines.get(type) for type in Scan.Type.values]


class MonitorPage(Struct, frozen=True):
    """Page of the table of monitors, with its filters and columns. Unused filters are absent.

    `matching` is the number of monitors that match the filters, on all pages, and `used` the number without filters.
    Both count only monitors that the member may see. `is_full` is True if the organization has `most` monitors, which
    are as many as its tier allows.
    """

    rows: list[MonitorRow]
    page: keyset.LinkedPage[str, str]
    filters: Mapping[str, str]
    sort: str
    columns: Mapping[str, Column]
    matching: int
    used: int
    most: int
    is_full: bool

    states: Sequence[tuple[str, str]] = tuple(STATES.items())
    sorts: Sequence[tuple[str, str]] = sort_choices("run")
    levels: Sequence[tuple[str, str]] = tuple((name, level.label) for name, level in LEVELS.items())
    grades: Sequence[str] = GRADES
    types: Sequence[tuple[str, str]] = tuple(Scan.Type.choices)
    intervals: Sequence[tuple[str, str]] = tuple(Interval.choices)

    @property
    def chosen(self) -> dict[str, str]:
        """Return the values of all filters, with "" for unused filters."""
        return {name: self.filters.get(name, "") for name in ("q", "state", "site", "grade", "type")}


def monitor_page(
    organization_id: int, query: Mapping[str, str], *, most: int, scope: VisibleSites | None = None
) -> MonitorPage:
    """Return a page of the monitors that the member may see and that match the filters, ignoring invalid ones.

    The most urgent come first.
    """
    filters = filters_of(query)
    source, visible = visible_source(scope)
    page = sorted_page(
        source,
        query,
        conditions=conditions_of(filters),
        filters=filters,
        size=PAGE_SIZE,
        fetch=lambda sql, **parameters: access.fetch_rows(sql, organization_id, **visible, **parameters),
    )
    all_used = access.rows(Monitor, organization_id).count()
    used = all_used if scope is None else count_matching(organization_id, {}, scope)
    if filters:
        has_others = page.previous is not None or page.next is not None
        matching = count_matching(organization_id, filters, scope) if has_others else len(page.rows)
    else:
        matching = used
    rows = access.rows(Monitor, organization_id).defer("encrypted_credentials", "include", "exclude", "alert")
    monitors = {monitor.id: monitor for monitor in rows.filter(id__in=page.rows)}
    sort = source.sort_of(query)
    return MonitorPage(
        rows=monitor_rows(organization_id, [monitors[id] for id in page.rows if id in monitors], scope),
        page=page,
        filters=filters,
        sort=sort,
        columns=columns_of(source, COLUMNS, sort, filters),
        matching=matching,
        used=used,
        most=most,
        is_full=all_used >= most,
    )


def monitor_rows(
    organization_id: int, monitors: Sequence[Monitor], scope: VisibleSites | None = None
) -> list[MonitorRow]:
    """Return a view model for each monitor with data from its runs and its site, in two queries.

    For a limited member, a third query finds the runs that had pages of other sites. Only their times are returned.
    """
    runs: dict[str, dict[str, list[tuple[Any, ...]]]] = {monitor.id: {} for monitor in monitors}
    if runs:
        rows = access.fetch_rows(RUNS, organization_id, ids=json.dumps(list(runs)), most=MAX_SPARKLINE_RUNS)
        audits = {audit_id for _, _, _, _, audit_id, _ in rows}
        if scope is not None:
            all_audits = access.rows(Audit, organization_id).filter(id__in=audits - {None})
            audits = set(visible_audits(all_audits, scope).values_list("id", flat=True))
        for id, kind, due_at, status, audit_id, content in rows:
            if kind == "last" or audit_id in audits:
                runs[id].setdefault(kind, []).append((due_at, status, json.loads(content or "{}")))
    hosts = {monitor.id: host_and_port_of(monitor.url) for monitor in monitors}
    sites = {state.host: state for state in access.rows(SiteState, organization_id).filter(host__in=hosts.values())}
    return [_row(monitor, runs[monitor.id], hosts[monitor.id], sites.get(hosts[monitor.id])) for monitor in monitors]


def state_of(monitor: Monitor) -> State:
    """Return the state of a monitor with its reason."""
    if monitor.pause_reason in Monitor.FORCED_PAUSES:
        return State("paused", "Paused", "warn", EXPLANATIONS[monitor.pause_reason])
    if monitor.is_paused:
        return State("paused", "Paused", "", "It does not run until someone resumes it.")
    if monitor.failing_since:
        return State("failing", monitor.failure, "bad", "The last run could not judge any page.")
    if not monitor.scores:
        return State("ok", "No result yet", "accent", "Later runs are compared with its first run.")
    return State("ok", "Active", "")


def schedule_text(monitor: Monitor) -> str:
    """Return the monitor's schedule as text, such as "every week on Monday at 06:00, Europe/Berlin"."""
    every = Interval(monitor.every)
    if monitor.at is None:
        return every.label
    if every is Interval.HOUR:
        return f"{every.label}, at {counted(monitor.at.minute, 'minute')} past"
    day = ""
    if monitor.day is not None and every is Interval.WEEK:
        day = f" on {calendar.day_name[monitor.day - 1]}"
    if monitor.day is not None and every is Interval.MONTH:
        day = f" on day {monitor.day}"
    also = " and every 6 hours after that" if every is Interval.SIX_HOURS else ""
    label = "every day" if also else every.label
    return f"{label}{day} at {monitor.at:%H:%M}{also}, {monitor.timezone.replace('_', ' ')}"


def scope_text(monitor: Monitor) -> str:
    """Return the scope of a monitor as text, such as "Whole site, up to 50 pages".

    Empty for a single page.
    """
    if monitor.kind == Audit.Kind.SITE:
        return f"Whole site, up to {counted(monitor.max_pages, 'page')}"
    if monitor.kind == Audit.Kind.PAGES:
        return f"{counted(len(monitor.pages), 'page')}, this one first"
    if monitor.kind == Audit.Kind.JOURNEY:
        return f"Journey, up to {counted(monitor.max_pages, 'state')}"
    return ""


def changes_of(news: RunNews) -> tuple[Change, ...]:
    """Return the number of changes of each kind in a run.

    Changes that the lists omit (`more`) are included.
    """
    if not news:
        return ()
    return tuple(Change(len(news[name]) + news["more"][name], *words) for name, words in CHANGES.items() if news[name])


def type_scores(runs: Iterable[tuple[datetime, Mapping[str, StoredRunScore]]], type: str) -> list[RunScore]:
    """Return the scores of a scan type as chart points, newest first.

    A run without a previous score had another catalogue version, so a new line of the chart begins.
    """
    points: list[RunScore] = []
    rules = 0
    for due_at, scores in runs:
        if (score := scores.get(type)) is not None:
            points.append(RunScore(score["score"], score["grade"], due_at, str(rules)))
            rules += score["before"] is None
    return points


def _row(
    monitor: Monitor, runs: Mapping[str, Sequence[tuple[Any, ...]]], host: str, site: SiteState | None
) -> MonitorRow:
    last = next(iter(runs.get("last", ())), None)
    news = next(iter(runs.get("news", ())), None)
    dated_scores = [(due_at, scores) for due_at, _, scores in runs.get("scores", ())]
    dated_scores.sort(key=lambda item: item[0], reverse=True)
    return MonitorRow(
        monitor=monitor,
        state=state_of(monitor),
        site=marks_of(site) if site else (),
        host=host if site else "",
        target=scope_text(monitor),
        schedule=capfirst(schedule_text(monitor)),
        lines=tuple(
            TypeLine(type, LABELS[type], *_confirmed(monitor, type), charts.spark(type_scores(dated_scores, type)))
            for type in Scan.Type.values
            if type in monitor.types
        ),
        last=last[0] if last else None,
        is_running=last is not None and last[1] in MonitorRun.UNFINISHED,
        news_at=news[0] if news else None,
        news=changes_of(news[2]) if news else (),
    )


def _confirmed(monitor: Monitor, type: str) -> tuple[int | None, str | None]:
    score = monitor.scores.get(type)
    return score and score["score"], score and score["grade"]
