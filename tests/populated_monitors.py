"""Monitors in each state.

One has a year of runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, time, timedelta
from typing import Any, cast, get_args

from accounts.models import User
from scans.models import Scan
from sites.models import Badge, MaintenanceWindow, Monitor, MonitorRun
from sites.models.stored_json import FindingNews, News, NewsList, PageNews, RunScore
from sites.monitors.alerts import DEFAULT_ALERT as USUAL_ALERT
from tests.factories import Member
from tests.populated_audits import SITE, TYPES, look_at, make_audit, make_pages
from website_scan.findings import ScanType
from website_scan.result import ScanResult

DAYS = 365
GRADES = ((97, "A+"), (90, "A"), (80, "B"), (70, "C"), (60, "D"), (0, "F"))
KINDS = ("new", "worse", "fixed", "better")
FAULT = "Images have no text alternative that says what they show"


def make_monitor(member: Member, **columns: Any) -> Monitor:
    """Create an accepted monitor of one page."""
    values: dict[str, Any] = {
        "name": "Bakery",
        "kind": "page",
        "pages": [SITE],
        "types": TYPES,
        "max_pages": 1,
        "every": "day",
        "alert": dict(USUAL_ALERT),
    }
    return Monitor.objects.create(organization=member.organization, **values | columns)


def score(value: int, before: int | None = None) -> RunScore:
    """Return a scan type's score in the format of MonitorRun.scores."""
    return {"before": before, "score": value, "grade": next(grade for minimum, grade in GRADES if value >= minimum)}


def finding(title: str, *, severity: str = "high", scan: str = "", before: str = "", pages: int = 1) -> FindingNews:
    """Return a finding as it appears in a run's news."""
    page_news: list[PageNews] = [
        {
            "url": f"{SITE}bread/{n}",
            "report_url": f"http://localhost/report/{scan}",
            "previous_report_url": f"http://localhost/report/{before}",
            "places": [],
        }
        for n in range(min(pages, 5))
    ]
    return {
        "type": "accessibility",
        "check": "images",
        "outcome": "missing",
        "title": title,
        "severity": severity,
        "pages_affected": pages,
        "message": "3 images have none, such as /rolls.png.",
        "fix": "Give each image an alt attribute with what it shows.",
        "said": "3 images have none, such as /rolls.png.",
        "fingerprints": [],
        "pages": page_news,
    }


def news(more: int = 0, **parts: Any) -> News:
    """Return the news of a run.

    `more` is the number of new findings that are counted but not listed.
    """
    lists: dict[str, Any] = {name: [] for name in get_args(NewsList)}
    counts = {**dict.fromkeys(lists, 0), "new": more}
    return cast("News", {"scores": {}, **lists, "more": counts, "certificate": None, "reasons": [], **parts})


def add_runs(monitor: Monitor, count: int, last: datetime, every: timedelta = timedelta(days=1)) -> None:
    """Add `count` finished runs, the last one at `last`.

    Every thirtieth run has changes.
    """
    runs = []
    for age in range(count):
        at = last - age * every
        scores = {
            type: score(95 - (age // 30 * 7 + n * 9) % 50, 95 - ((age + 1) // 30 * 7 + n * 9) % 50)
            for n, type in enumerate(monitor.types)
        }
        run = MonitorRun(monitor=monitor, due_at=at, not_before=at, started_at=at, ended_at=at, scores=scores)
        run.status = MonitorRun.Status.DONE
        if age % 30 == 4:
            changes: dict[str, Any] = {KINDS[age // 30 % 4]: [finding(FAULT)]}
            run.news, run.is_told = news(**changes), True
        if age % 90 == 17:
            run.status, run.scores = MonitorRun.Status.FAILED, {}
            run.error_code, run.error_message = "TIMEOUT", "The page did not answer in time."
        if age % 90 == 50:
            run.status, run.scores = MonitorRun.Status.SKIPPED, {}
            run.error_code, run.error_message = "STILL_RUNNING", "The run before it had not ended."
        runs.append(run)
    MonitorRun.objects.bulk_create(runs)


def populate_monitors(
    home: Member, rows: int, now: datetime, owner: User, results: Mapping[ScanType, ScanResult] | None
) -> dict[str, Any]:
    """Create monitors in each state, and return their IDs by name."""
    at = now.replace(minute=0, second=0, microsecond=0)
    tomorrow = {"next_run_at": at + timedelta(hours=21)}
    berlin = {"at": time(6), "timezone": "Europe/Berlin", "recipients": [owner.id]}
    scores = {
        type: {name: value for name, value in score(92 - 11 * n).items() if name != "before"}
        for n, type in enumerate(TYPES)
    }
    for n in range(rows):
        other = make_monitor(
            home,
            name=f"Shop {n}",
            pages=[f"https://shop-{n}.example.com/"],
            scores=scores,
            created_at=now - timedelta(days=n + 3),
            **tomorrow,
        )
        add_runs(other, 20, at)
    watched = make_monitor(
        home, scores=scores, certificate_expires_at=now + timedelta(days=19), certificate_host="bakery.example.com",
        created_at=now - timedelta(days=DAYS), **tomorrow, **berlin,
    )  # fmt: skip
    add_runs(watched, DAYS, at - timedelta(days=2))
    _add_last_runs(home, watched, at, results)
    failing = make_monitor(
        home, name="Out of reach", pages=["https://gone.example.com/"], scores=scores, types=TYPES[:1],
        failing_since=now - timedelta(hours=5), **tomorrow,
    )  # fmt: skip
    add_runs(failing, 18, at)
    MonitorRun.objects.filter(monitor=failing, due_at__gte=at).update(
        status="failed", scores={}, error_code="TIMEOUT", error_message="The page did not answer in time."
    )
    site = {
        "kind": "site",
        "max_pages": 100,
        "discover": ["sitemap", "links"],
        "every": "week",
        "day": 1,
        "at": time(6),
    }
    paused = make_monitor(
        home, name="Paused by the quota", **site, scores=scores, paused_at=now - timedelta(days=2),
        pause_reason="quota", next_run_at=now + timedelta(days=9),
        credential_names={"headers": ["X-Preview"], "cookies": [], "basic_auth": False},
    )  # fmt: skip
    add_runs(paused, 3, at - timedelta(days=3))
    fresh = make_monitor(home, name="Set up a minute ago", **tomorrow)
    running = make_monitor(home, name="Running", every="hour", scores=scores, **tomorrow)
    add_runs(running, 2, at - timedelta(hours=1), timedelta(hours=1))
    audit = make_audit(home, run_of="monitor", created_at=now)
    make_pages(audit, [SITE])
    run = MonitorRun.objects.create(
        monitor=running, due_at=now, not_before=now, status="running", attempts=1, audit=audit
    )
    badge = Badge.objects.create(organization=home.organization, monitor=watched)
    page_badge = Badge.objects.create(organization=home.organization, page=SITE)
    window = MaintenanceWindow.objects.create(
        organization=home.organization, name="Deployment", starts_at=now, ends_at=now + timedelta(hours=1)
    )
    monitors_by_name = {"": watched, "failing_": failing, "paused_": paused, "fresh_": fresh, "running_": running}
    return {f"{name}monitor_id": monitor.id for name, monitor in monitors_by_name.items()} | {
        "running_run_id": run.id,
        "monitor_run_id": watched.runs.latest("due_at").id,
        "window_id": window.id,
        "badge_id": badge.id,
        "page_badge_id": page_badge.id,
    }


def _add_last_runs(home: Member, monitor: Monitor, at: datetime, results: Mapping[ScanType, ScanResult] | None) -> None:
    """Create the last two runs of a monitor with audits and reports."""
    report_ids: list[str] = []
    for age in (1, 0):
        audit = make_audit(home, run_of="monitor", created_at=at - timedelta(days=age))
        results_by_type = {str(scan_type): result for scan_type, result in (results or {}).items()}
        look_at(make_pages(audit, [SITE])[0], at - timedelta(days=age), results_by_type)
        report_ids.append(Scan.objects.get(audit_page__audit=audit, type="accessibility").id)
        run = MonitorRun.objects.create(
            monitor=monitor, due_at=audit.created_at, not_before=at, status="done", attempts=1, audit=audit,
            ended_at=at, scores={type: score(92 - 11 * n, 97 - 11 * n) for n, type in enumerate(TYPES)},
        )  # fmt: skip
    fault = finding("Links have no name", scan=report_ids[1], before=report_ids[0], pages=87)
    run.news = news(
        new=[fault, finding("Text is too pale for its background", severity="medium")],
        worse=[finding("Form fields have no labels", severity="critical")],
        fixed=[finding("The page has no main heading", severity="low")],
        certificate={"host": "bakery.example.com", "expires_at": "2026-12-11T00:00:00Z", "days_left": 19},
        unreachable_pages=[{"url": f"{SITE}gone", "message": "The page answers with status 503."}],
        more=3,
    )
    run.is_told = True
    run.save()
