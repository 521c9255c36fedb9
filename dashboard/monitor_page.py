"""What the page of one monitor shows: its grades over time, and its runs with what each of them changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse

from accounts import access
from dashboard.monitor_lists import CHANGES, LABELS, Change, RunScore, changes_of, type_scores
from infrastructure.web import charts, keyset
from scanner.ids import is_id
from scans.models import Scan, path_of
from sites.audits.progress import progress_of
from sites.models import Audit, AuditPage, Monitor, MonitorRun

RUNS_SIZE = 20
TREND_RUNS = 90
# Of each kind of change, so many problems show with so many of their pages.
SHOWN_GROUPS = 10
SHOWN_PAGES = 5
HEADINGS: Mapping[str, str] = {"new": "New", "worse": "Worse", "fixed": "Fixed", "better": "Better"}
SEVERITY_TONES = {"critical": "bad", "high": "bad", "medium": "warn", "low": ""}


@dataclass(frozen=True, slots=True)
class TypeTrend:
    """A type's last confirmed score, None where there is none, and how it got there."""

    type: str
    label: str
    score: int | None
    grade: str | None
    runs: list[RunScore]
    trend: charts.Trend[RunScore] | None


@dataclass(frozen=True, slots=True)
class RunGrade:
    """A type's score of a run; `before` where it was another one. `url` is its report, `compare_url` what changed."""

    label: str
    score: int
    grade: str
    before: int | None
    url: str
    compare_url: str

    @property
    def is_better(self) -> bool:
        return self.before is not None and self.score > self.before


@dataclass(frozen=True, slots=True)
class ChangedPage:
    """A page on which something changed: both its reports, and what lies between them; empty where there is none."""

    path: str
    url: str
    before_url: str
    compare_url: str


@dataclass(frozen=True, slots=True)
class ChangedFinding:
    label: str
    title: str
    said: str
    severity: str
    tone: str
    pages: tuple[ChangedPage, ...]
    more_pages: int


@dataclass(frozen=True, slots=True)
class ChangeList:
    """The findings of one kind of change; `more` are not shown."""

    heading: str
    tone: str
    findings: tuple[ChangedFinding, ...]
    more: int


@dataclass(frozen=True, slots=True)
class RunRow:
    """A run as the timeline has it. `text` is how it ended, or how far it is; `url` leads to all it looked at."""

    id: int
    due_at: datetime
    is_requested: bool
    is_running: bool
    name: str
    tone: str
    text: str
    url: str
    grades: tuple[RunGrade, ...]
    changes: tuple[Change, ...]
    lists: tuple[ChangeList, ...]
    unreachable: tuple[str, ...]
    reachable: tuple[str, ...]
    certificate: Mapping[str, Any] | None
    is_told: bool


@dataclass(frozen=True, slots=True)
class Timeline:
    rows: list[RunRow]
    newer: str | None
    older: str | None

    @property
    def has_running(self) -> bool:
        return any(each.is_running for each in self.rows)


def trends(monitor: Monitor) -> list[TypeTrend]:
    """How each type did in the last runs; one query."""
    done = monitor.runs.filter(status=MonitorRun.Status.DONE).order_by("-due_at")
    runs = list(done.values_list("due_at", "scores")[:TREND_RUNS])
    found = []
    for type in _types_of(monitor):
        scores = type_scores(runs, type)
        last = monitor.scores.get(type) or {}
        trend = charts.trend(scores)
        found.append(TypeTrend(type, LABELS[type], last.get("score"), last.get("grade"), scores, trend))
    return found


def timeline(monitor: Monitor, query: Mapping[str, str]) -> Timeline:
    """A page of its runs, newest first; at most three queries."""
    rows = monitor.runs.select_related("audit")
    found = keyset.page_by_time(rows, query, column="due_at", size=RUNS_SIZE, filters={})
    reports = _reports_of(monitor, found.rows)
    return Timeline([_run_row(monitor, each, reports) for each in found.rows], found.newer, found.older)


def running_of(monitor: Monitor) -> MonitorRun | None:
    """The run that has not ended, if there is one; there is never a second."""
    return monitor.runs.filter(status__in=MonitorRun.UNFINISHED).select_related("audit").order_by("-due_at").first()


def monitor_of(audit: Audit) -> Monitor | None:
    """The monitor that an audit is a run of; None where it is none, or the monitor is gone."""
    return access.rows(Monitor, audit.organization_id).filter(runs__audit=audit).only("name").first()


def progress_words(run: MonitorRun) -> str:
    """How far a run is that has not ended."""
    if run.status == MonitorRun.Status.DUE:
        return "It could not be reached. The monitor will try once more." if run.attempts else "Waiting in the queue"
    audit = run.audit
    if audit is None or audit.is_final:
        return "Comparing with the previous run"
    if audit.kind != Audit.Kind.PAGE:
        return progress_of(audit).text
    lead = access.rows(Scan, audit.organization_id).filter(audit_page__audit=audit, lead=None).first()
    return progress_of(audit, lead).text


def _types_of(monitor: Monitor) -> list[str]:
    return [each for each in Scan.Type.values if each in monitor.types]


def _reports_of(monitor: Monitor, runs: Iterable[MonitorRun]) -> dict[str, dict[str, str]]:
    """By audit and type the scans of runs that look at one page; of several pages each has its own."""
    if monitor.kind != Audit.Kind.PAGE:
        return {}
    audits = [run.audit_id for run in runs if run.audit is not None and run.audit.is_kept]
    pages = AuditPage.objects.filter(audit__in=audits, audit__organization=monitor.organization_id)
    found = pages.values_list("audit_id", "results")
    return {
        audit: {type: each["scan"] for type, each in results.items() if each.get("score") is not None}
        for audit, results in found
    }


def _run_row(monitor: Monitor, run: MonitorRun, reports: Mapping[str, Mapping[str, str]]) -> RunRow:
    name, tone, text = _end_of(run)
    audit = run.audit
    scans = reports.get(run.audit_id or "", {})
    news = run.news
    return RunRow(
        id=run.id,
        due_at=run.due_at,
        is_requested=run.is_requested,
        is_running=run.status in MonitorRun.UNFINISHED,
        name=name,
        tone=tone,
        text=text,
        url=reverse("audit-page", args=[audit.id]) if audit is not None and audit.is_kept else "",
        grades=tuple(
            _grade(LABELS[type], each, scans.get(type, ""))
            for type in _types_of(monitor)
            if (each := run.scores.get(type) or {}).get("score") is not None
        ),
        changes=changes_of(news),
        lists=tuple(_lists(news)),
        unreachable=_addresses(news.get("unreachable_pages")),
        reachable=_addresses(news.get("reachable_pages")),
        certificate=news.get("certificate"),
        is_told=run.is_told,
    )


def _end_of(run: MonitorRun) -> tuple[str, str, str]:
    """The name of its status, its colour, and the reason where it did not go as it should."""
    if run.status in MonitorRun.UNFINISHED:
        return "Running", "accent", progress_words(run)
    if run.status == MonitorRun.Status.FAILED:
        return "Failed", "bad", run.error_message or "No page could be checked."
    if run.status == MonitorRun.Status.SKIPPED:
        return "Left out", "warn", run.error_message
    if run.news:
        return "Changed", "accent", ""
    if all(each.get("before") is None for each in run.scores.values()):
        return "First run", "accent", "Later runs are compared with this one."
    return "No change", "good", ""


def _grade(label: str, score: Mapping[str, Any], scan_id: str) -> RunGrade:
    before = score.get("before")
    report = reverse("report-page", args=[scan_id]) if scan_id else ""
    compare = reverse("report-compare", args=[scan_id]) if scan_id else ""
    changed = before if before != score["score"] else None
    return RunGrade(label, score["score"], score["grade"], changed, report, compare)


def _lists(news: Mapping[str, Any]) -> Iterable[ChangeList]:
    more = news.get("more") or {}
    for name, heading in HEADINGS.items():
        groups: Sequence[Mapping[str, Any]] = news.get(name) or ()
        if groups:
            shown = tuple(map(_finding, groups[:SHOWN_GROUPS]))
            yield ChangeList(heading, CHANGES[name][1], shown, len(groups) - len(shown) + int(more.get(name, 0)))


def _finding(group: Mapping[str, Any]) -> ChangedFinding:
    pages = tuple(map(_page, (group.get("pages") or ())[:SHOWN_PAGES]))
    severity = group.get("severity") or ""
    return ChangedFinding(
        label=LABELS.get(group["type"], group["type"]),
        title=group["title"],
        said=group.get("said") or group.get("message") or "",
        severity=severity,
        tone=SEVERITY_TONES.get(severity, ""),
        pages=pages,
        more_pages=max(0, int(group.get("pages_affected") or len(pages)) - len(pages)),
    )


def _page(page: Mapping[str, Any]) -> ChangedPage:
    after, before = (_scan_of(page.get(name)) for name in ("report_url", "previous_report_url"))
    compare = f"{reverse('report-compare', args=[after])}?{urlencode({'with': before})}" if after and before else ""
    urls = [reverse("report-page", args=[each]) if each else "" for each in (after, before)]
    return ChangedPage(path_of(page["url"]), urls[0], urls[1], compare)


def _scan_of(report_url: object) -> str:
    """The scan whose report has that address; empty for none."""
    found = str(report_url or "").rpartition("/")[2]
    return found if is_id("scan", found) else ""


def _addresses(pages: Iterable[Any] | None) -> tuple[str, ...]:
    """Of pages as the news name them."""
    return tuple(each if isinstance(each, str) else each["url"] for each in pages or ())
