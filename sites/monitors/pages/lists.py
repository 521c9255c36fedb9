"""View models for the list of monitors."""

from __future__ import annotations

import calendar
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Q
from django.utils.text import capfirst

from accounts import access
from accounts.models import Interval
from infrastructure.web import charts, keyset
from infrastructure.web.keyset import search_text
from scans.models import Scan
from sites.models import Audit, Monitor, MonitorRun
from sites.models.monitor import STATUS_FILTERS
from sites.models.stored_json import News as RunNews
from sites.models.stored_json import NewsList
from sites.models.stored_json import RunScore as StoredRunScore
from website_scan.messages import counted

PAGE_SIZE = 20
MAX_SPARKLINE_RUNS = 20
MAX_OVERVIEW_ITEMS = 5
RECENTLY = timedelta(days=14)
LABELS = dict(Scan.Type.choices)

# Selects for each monitor the last run, the last run with changes, and the scores of the last runs.
RUNS = """
    SELECT monitor.id, run.kind, run.due_at, run.status, run.document
    FROM jsonb_array_elements_text(%(ids)s::jsonb) AS wanted (id)
    JOIN sites_monitor AS monitor ON monitor.id = wanted.id AND monitor.organization_id = %(organization)s
    CROSS JOIN LATERAL (
        (SELECT 'last' AS kind, due_at, status, NULL::jsonb AS document
            FROM sites_monitorrun WHERE monitor_id = monitor.id ORDER BY due_at DESC LIMIT 1)
        UNION ALL
        (SELECT 'news', due_at, status, news
            FROM sites_monitorrun WHERE monitor_id = monitor.id AND news <> '{}'::jsonb ORDER BY due_at DESC LIMIT 1)
        UNION ALL
        (SELECT 'scores', due_at, status, scores
            FROM sites_monitorrun WHERE monitor_id = monitor.id AND status = 'done' ORDER BY due_at DESC
            LIMIT %(most)s)
    ) AS run
"""
# Selects failing monitors with their total number, and recent changes with one index lookup for each monitor.
WATCH = """
    (SELECT id, name, failing_since, NULL::jsonb, count(*) OVER () FROM sites_monitor
        WHERE organization_id = %(organization)s AND paused_at IS NULL AND failing_since IS NOT NULL
        ORDER BY failing_since DESC, id LIMIT %(most)s)
    UNION ALL
    (SELECT monitor.id, monitor.name, run.due_at, run.news, 0
        FROM sites_monitor AS monitor
        CROSS JOIN LATERAL (
            SELECT due_at, news FROM sites_monitorrun
            WHERE monitor_id = monitor.id AND news <> '{}'::jsonb ORDER BY due_at DESC LIMIT 1
        ) AS run
        WHERE monitor.organization_id = %(organization)s AND run.due_at > %(since)s
        ORDER BY run.due_at DESC LIMIT %(most)s)
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
STATES: Mapping[str, str] = {"ok": "Active", "failing": "Unreachable", "paused": "Paused"}


@dataclass(frozen=True, slots=True)
class RunScore:
    """Point of a chart for a type's score in a run.

    Points with different catalogue versions are not connected.
    """

    score: int
    grade: str
    created_at: datetime
    catalogue_version: str


@dataclass(frozen=True, slots=True)
class State:
    """State of a monitor for display, with its reason and color."""

    value: str
    name: str
    tone: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class TypeLine:
    """Last confirmed score of a scan type (None without a score) with a sparkline of recent scores."""

    type: str
    label: str
    score: int | None
    grade: str | None
    spark: charts.Spark | None


@dataclass(frozen=True, slots=True)
class Change:
    """Number of changes of one kind, such as "2 new"."""

    number: int
    word: str
    tone: str


@dataclass(frozen=True, slots=True)
class MonitorRow:
    monitor: Monitor
    state: State
    target: str
    schedule: str
    lines: tuple[TypeLine, ...]
    last: datetime | None
    is_running: bool
    news_at: datetime | None
    news: tuple[Change, ...]


@dataclass(frozen=True, slots=True)
class MonitorPage:
    """Page of the paginated list of monitors, with its filters."""

    rows: list[MonitorRow]
    page: keyset.LinkedPage[Monitor, keyset.Moment]
    text: str
    state: str
    used: int
    most: int

    states: Sequence[tuple[str, str]] = tuple(STATES.items())

    @property
    def is_filtered(self) -> bool:
        return bool(self.text or self.state)

    @property
    def is_full(self) -> bool:
        """Return True if the tier allows no more monitors."""
        return self.used >= self.most


@dataclass(frozen=True, slots=True)
class News:
    """Monitor in the overview with its latest changes.

    `at` is the time of the changes, or the start of an outage.
    """

    id: str
    name: str
    at: datetime
    changes: tuple[Change, ...]


@dataclass(frozen=True, slots=True)
class Watch:
    """Failing monitors and latest changes for the overview.

    `failing_count` counts all failing monitors. `failing` and `news` have at most MAX_OVERVIEW_ITEMS items each.
    """

    failing: list[News]
    failing_count: int
    news: list[News]


def monitor_page(organization_id: int, query: Mapping[str, str], *, most: int) -> MonitorPage:
    """Return a page of monitors, newest first, filtered by `state` and by text in the name or URL (`q`)."""
    text, state = search_text(query), query.get("state", "")
    state = state if state in STATES else ""
    rows = access.rows(Monitor, organization_id).defer("encrypted_credentials", "include", "exclude", "alert")
    match = Q(name__icontains=text) | Q(pages__0__icontains=text) if text else None
    if state:
        match = STATUS_FILTERS[state] & (match or Q())
    filters = {name: value for name, value in (("state", state), ("q", text)) if value}
    keyset_page = keyset.by_time([rows], query, size=PAGE_SIZE, filters=filters, match=match)
    used = access.rows(Monitor, organization_id).count()
    return MonitorPage(monitor_rows(organization_id, keyset_page.rows), keyset_page, text, state, used, most)


def monitor_rows(organization_id: int, monitors: Sequence[Monitor]) -> list[MonitorRow]:
    """Return a view model for each monitor with data from its runs, in one query."""
    runs: dict[str, dict[str, list[tuple[Any, ...]]]] = {monitor.id: {} for monitor in monitors}
    if runs:
        rows = access.fetch_rows(RUNS, organization_id, ids=json.dumps(list(runs)), most=MAX_SPARKLINE_RUNS)
        for id, kind, due_at, status, content in rows:
            runs[id].setdefault(kind, []).append((due_at, status, json.loads(content or "{}")))
    return [_row(monitor, runs[monitor.id]) for monitor in monitors]


def watch(organization_id: int, now: datetime) -> Watch:
    """Return failing monitors and latest changes for the overview, in one query."""
    rows = access.fetch_rows(WATCH, organization_id, since=now - RECENTLY, most=MAX_OVERVIEW_ITEMS)
    failing = [News(id, name, at, ()) for id, name, at, changes, _ in rows if changes is None]
    changed = [News(id, name, at, changes_of(json.loads(news))) for id, name, at, news, _ in rows if news is not None]
    return Watch(failing, max((count for *_, count in rows), default=0), [item for item in changed if item.changes])


def state_of(monitor: Monitor) -> State:
    """Return the state of a monitor with its reason."""
    if monitor.pause_reason == Monitor.Pause.QUOTA:
        reason = "This month's scans are used up. It resumes automatically next month."
        return State("paused", "Paused", "warn", reason)
    if monitor.pause_reason == Monitor.Pause.PLAN:
        advice = "Delete one, or ask the operator of this service for a larger plan, then resume this one."
        reason = f"Your plan allows fewer monitors than you have. {advice}"
        return State("paused", "Paused", "warn", reason)
    if monitor.is_paused:
        return State("paused", "Paused", "", "It does not run until someone resumes it.")
    if monitor.failing_since:
        return State("failing", "Unreachable", "bad", "The last run could not reach any page.")
    if not monitor.scores:
        return State("ok", "No result yet", "accent", "Later runs are compared with its first run.")
    return State("ok", "Active", "good")


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


def _row(monitor: Monitor, runs: Mapping[str, Sequence[tuple[Any, ...]]]) -> MonitorRow:
    last = next(iter(runs.get("last", ())), None)
    news = next(iter(runs.get("news", ())), None)
    dated_scores = [(due_at, scores) for due_at, _, scores in runs.get("scores", ())]
    dated_scores.sort(key=lambda item: item[0], reverse=True)
    return MonitorRow(
        monitor=monitor,
        state=state_of(monitor),
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
