"""View models for a monitor's page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from urllib.parse import urlencode

from django.db.models import QuerySet
from django.urls import reverse
from msgspec import Struct

from accounts import access
from infrastructure.web import charts, keyset
from scans.models import Scan, path_of, report_path
from sites.audits.progress import progress_of
from sites.models import Audit, AuditPage, Monitor, MonitorRun
from sites.models.stored_json import CertificateNews, Direction, FindingNews, News, PageNews
from sites.models.stored_json import RunScore as StoredRunScore
from sites.monitors.pages.lists import CHANGES, LABELS, Change, RunScore, changes_of, type_scores
from website_scan.ids import is_id

RUNS_PER_PAGE = 20
# Less than seven days, because runs on the same weekday are not exactly a week apart.
WEEK = timedelta(days=6, hours=12)
MAX_TREND_RUNS = 90
# Maximum numbers of displayed findings for each kind of change, and of pages for each finding.
MAX_FINDINGS = 10
MAX_PAGES = 5
HEADINGS: Mapping[Direction, str] = {"new": "New", "worse": "Worse", "fixed": "Fixed", "better": "Better"}
SEVERITY_TONES = {"critical": "bad", "high": "bad", "medium": "warn", "low": ""}


class TypeTrend(Struct, frozen=True):
    """Last confirmed score of a scan type (None without a score) with its history."""

    type: str
    label: str
    score: int | None
    grade: str | None
    runs: list[RunScore]
    trend: charts.Trend[RunScore] | None

    @property
    def week(self) -> WeekChange | None:
        """Return the score change since a week ago, or since the oldest score.

        Return None without a second score of the same catalogue version.
        """
        if not self.runs:
            return None
        newest, *earlier = (run for run in self.runs if run.catalogue_version == self.runs[0].catalogue_version)
        week_ago = (run for run in earlier if newest.created_at - run.created_at >= WEEK)
        before = next(week_ago, earlier[-1] if earlier else None)
        return WeekChange(before.created_at, newest.score - before.score) if before else None


class WeekChange(Struct, frozen=True):
    """Change of a score since a run about a week earlier."""

    since: datetime
    points: int


class RunGrade(Struct, frozen=True):
    """Score of a scan type in a run.

    `before` is the previous score, None if unchanged or unknown. `url` is the URL of the report, `compare_url` of its
    comparison with an earlier report.
    """

    label: str
    score: int
    grade: str
    before: int | None
    url: str
    compare_url: str

    @property
    def is_better(self) -> bool:
        return self.before is not None and self.score > self.before


class ChangedPage(Struct, frozen=True):
    """Page with a changed finding, with links to its reports and their comparison.

    A link is empty if a report has expired. `name` is its path, or the name of the state of a journey.
    """

    name: str
    url: str
    before_url: str
    compare_url: str


class ChangedFinding(Struct, frozen=True):
    label: str
    title: str
    said: str
    severity: str
    tone: str
    pages: tuple[ChangedPage, ...]
    more_pages: int


class ChangeList(Struct, frozen=True):
    """Findings with one kind of change.

    `more` is the number of findings that are not displayed.
    """

    heading: str
    tone: str
    findings: tuple[ChangedFinding, ...]
    more: int


class RunRow(Struct, frozen=True):
    """Run in the timeline of a monitor.

    `text` is its progress or error, `url` the URL of its audit. `is_of_earlier_audit` means that the audit was not
    started for this run.
    """

    id: str
    due_at: datetime
    is_requested: bool
    is_of_earlier_audit: bool
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
    certificate: CertificateNews | None
    is_told: bool


class Timeline(Struct, frozen=True):
    rows: list[RunRow]
    previous: str | None
    next: str | None


def trends(monitor: Monitor, runs: QuerySet[MonitorRun]) -> list[TypeTrend]:
    """Return the score history of each scan type over the latest of these runs of the monitor, in one query."""
    done = runs.filter(status=MonitorRun.Status.DONE).order_by("-due_at")
    dated_scores = list(done.values_list("due_at", "scores")[:MAX_TREND_RUNS])
    trends_by_type = []
    for type in _types_of(monitor):
        scores = type_scores(dated_scores, type)
        last = monitor.scores.get(type)
        trend = charts.trend(scores)
        trends_by_type.append(
            TypeTrend(type, LABELS[type], last and last["score"], last and last["grade"], scores, trend)
        )
    return trends_by_type


def timeline(monitor: Monitor, runs: QuerySet[MonitorRun], query: Mapping[str, str]) -> Timeline:
    """Return a page of these runs of the monitor, newest first, in at most three queries."""
    rows = runs.select_related("audit")
    keyset_page = keyset.by_time([rows], query, column="due_at", size=RUNS_PER_PAGE, filters={})
    reports = _reports_of(monitor, keyset_page.rows)
    return Timeline(
        [_run_row(monitor, run, reports) for run in keyset_page.rows], keyset_page.previous, keyset_page.next
    )


def running_of(runs: QuerySet[MonitorRun]) -> MonitorRun | None:
    """Return the unfinished run among these runs of a monitor, or None.

    A monitor has at most one unfinished run.
    """
    return runs.filter(status__in=MonitorRun.UNFINISHED).select_related("audit").order_by("-due_at").first()


def progress_title(run: MonitorRun) -> str:
    """Return the heading for an unfinished run."""
    if run.attempts and run.next_try_at:
        return "Waiting for another try"
    return "Running now" if run.monitor.runs.exclude(id=run.id).exists() else "First run in progress"


def progress_text(run: MonitorRun) -> str:
    """Return the progress of an unfinished run as text."""
    if run.status == MonitorRun.Status.DUE:
        if run.attempts:
            problem = "The run failed." if run.monitor.kind == Audit.Kind.JOURNEY else "It could not be reached."
            return f"{problem} The next try is at {run.not_before:%H:%M} UTC."
        return "Waiting in the queue"
    audit = run.audit
    if audit is None or audit.is_final:
        return "Comparing with the previous run"
    if audit.kind not in (Audit.Kind.PAGE, Audit.Kind.JOURNEY):
        return progress_of(audit).text
    lead = access.rows(Scan, audit.organization_id).filter(audit_page__audit=audit, lead=None).first()
    return progress_of(audit, lead).text


def _types_of(monitor: Monitor) -> list[str]:
    return [type for type in Scan.Type.values if type in monitor.types]


def _reports_of(monitor: Monitor, runs: Iterable[MonitorRun]) -> dict[str, dict[str, str]]:
    """Return the scan IDs of a one-page monitor's runs, by audit ID and scan type.

    Empty for other monitors.
    """
    if monitor.kind != Audit.Kind.PAGE:
        return {}
    audits = [run.audit_id for run in runs if run.audit is not None and run.audit.is_kept]
    pages = AuditPage.objects.filter(audit__in=audits, audit__organization=monitor.organization_id)
    results_by_audit = pages.values_list("audit_id", "results")
    return {
        audit: {type: result["scan_id"] for type, result in results.items() if result.get("score") is not None}
        for audit, results in results_by_audit
    }


def _run_row(monitor: Monitor, run: MonitorRun, reports: Mapping[str, Mapping[str, str]]) -> RunRow:
    name, tone, text = _status_of(run)
    audit = run.audit
    scans = reports.get(run.audit_id or "", {})
    news = run.news
    return RunRow(
        id=run.id,
        due_at=run.due_at,
        is_requested=run.is_requested,
        is_of_earlier_audit=audit is not None and audit.run_of != Audit.RunOf.MONITOR,
        is_running=run.status in MonitorRun.UNFINISHED,
        name=name,
        tone=tone,
        text=text,
        url=reverse("audit-page", args=[audit.id]) if audit is not None and audit.is_kept else "",
        grades=tuple(
            _grade(LABELS[type], score, scans.get(type, ""))
            for type in _types_of(monitor)
            if (score := run.scores.get(type)) is not None
        ),
        changes=changes_of(news),
        lists=tuple(_lists(news)),
        unreachable=tuple(page.get("state") or page["url"] for page in news.get("unreachable_pages", ())),
        reachable=tuple(page.get("state") or page["url"] for page in news.get("reachable_pages", ())),
        certificate=news.get("certificate"),
        is_told=run.is_told,
    )


def _status_of(run: MonitorRun) -> tuple[str, str, str]:
    """Return the name, tone (color) and text of a run's status for display."""
    if run.status in MonitorRun.UNFINISHED:
        is_second_attempt = run.status == MonitorRun.Status.DUE and run.attempts > 0
        return "Waiting" if is_second_attempt else "Running", "accent", progress_text(run)
    if run.status == MonitorRun.Status.FAILED:
        return "Failed", "bad", run.error_message or "No page could be checked."
    if run.status == MonitorRun.Status.SKIPPED:
        return "Left out", "warn", run.error_message
    if run.news:
        return "Changed", "accent", ""
    if all(score.get("before") is None for score in run.scores.values()):
        return "First run", "accent", "Later runs are compared with this one."
    return "No change", "good", ""


def _grade(label: str, score: StoredRunScore, scan_id: str) -> RunGrade:
    before = score["before"]
    report = report_path(scan_id) if scan_id else ""
    compare = reverse("report-compare", args=[scan_id]) if scan_id else ""
    previous = before if before != score["score"] else None
    return RunGrade(label, score["score"], score["grade"], previous, report, compare)


def _lists(news: News) -> Iterable[ChangeList]:
    for name, heading in HEADINGS.items():
        groups = news.get(name, [])
        if groups:
            findings = tuple(map(_finding, groups[:MAX_FINDINGS]))
            yield ChangeList(heading, CHANGES[name][1], findings, len(groups) - len(findings) + news["more"][name])


def _finding(group: FindingNews) -> ChangedFinding:
    pages = tuple(map(_page, group["pages"][:MAX_PAGES]))
    severity = group["severity"]
    return ChangedFinding(
        label=LABELS.get(group["type"], group["type"]),
        title=group["title"],
        said=group["said"] or group["message"],
        severity=severity,
        tone=SEVERITY_TONES.get(severity, ""),
        pages=pages,
        more_pages=max(0, group["pages_affected"] - len(pages)),
    )


def _page(page: PageNews) -> ChangedPage:
    after, before = _scan_of(page["report_url"]), _scan_of(page["previous_report_url"] or "")
    compare = f"{reverse('report-compare', args=[after])}?{urlencode({'with': before})}" if after and before else ""
    urls = [report_path(scan_id) if scan_id else "" for scan_id in (after, before)]
    return ChangedPage(page.get("state") or path_of(page["url"]), urls[0], urls[1], compare)


def _scan_of(report_url: str) -> str:
    """Return the scan ID at the end of a report's URL, or "" if the URL has none."""
    scan_id = report_url.rpartition("/")[2]
    return scan_id if is_id("scan", scan_id) else ""
