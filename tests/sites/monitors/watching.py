"""Helpers that run a monitor in the test process.

They return the events for its webhook.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

from scans.models import Scan
from scans.visits.claims import claim_scan, finish_scan
from sites.audits.dispatch import dispatch_pages
from sites.models import Monitor, MonitorRun
from sites.monitors.outcome import finish_run
from sites.monitors.runs import start_run
from tests.factories import make_result
from tests.results import check_of, elements
from tests.sites.audits.cast import run_all_work
from webhooks.models import Event
from website_scan.findings import HIGH, ScanType, Severity
from website_scan.result import CategoryResult, CheckResult, CheckStatus, ScanError, ScanResult
from website_scan.run import failed_result

HOOK = "https://example.com/hook"
EVENTS = ["scan.completed", "scan.partial", "scan.failed", "audit.completed", "audit.failed"]
EVENTS += ["monitor.changed", "monitor.failed", "monitor.recovered"]
# Simulated days begin now, because scans have real dates and must not expire.
BEGIN = datetime.now(UTC).replace(microsecond=0)


class DailyMonitor:
    """Monitor that runs once a simulated day and records its events."""

    def __init__(self, monitor: Monitor, work: Callable[[str], object] = run_all_work) -> None:
        """Store the monitor.

        `work` runs an audit's waiting scans, given its ID.
        """
        self.monitor, self._work = monitor, work
        self.now = BEGIN
        self._notified = 0

    def run_once(self) -> list[dict[str, Any]]:
        """Run the monitor once, including a due second attempt.

        Return the bodies of the new events.
        """
        self.now += timedelta(days=1)
        run = self.monitor.runs.create(due_at=self.now, not_before=self.now)
        while run.status == MonitorRun.Status.DUE:
            now = run.not_before
            assert start_run(run.id, self.monitor.id, now)
            run.refresh_from_db()
            if run.audit is not None:
                self._work(run.audit.id)
            assert finish_run(run.id, now)
            assert not finish_run(run.id, now)
            run.refresh_from_db()
        self.run = run
        self.monitor.refresh_from_db()
        bodies = [json.loads(bytes(event.body)) for event in Event.objects.order_by("created_at", "id")]
        new, self._notified = bodies[self._notified :], len(bodies)
        return new


def event_summary(body: dict[str, Any]) -> dict[str, Any]:
    """Summarize a monitor event.

    The summary has its kind, its reasons and the checks in its lists.
    """
    data = body["data"]
    changes = data if body["event"] == "monitor.changed" else data.get("changes") or {}
    summary: dict[str, Any] = {"event": body["event"].removeprefix("monitor.")}
    if changes:
        summary["reasons"] = changes["reasons"]
    for name in ("new", "fixed", "worse", "better"):
        if checks := sorted({change["check"] for change in changes.get(name, ())}):
            summary[name] = checks
    if "error" in data:
        summary["error"] = data["error"]["code"]
    return summary


def make_finding(check: str, severity: Severity = HIGH, *places: str, status: CheckStatus = "fail") -> CheckResult:
    """Return a check with this status and these places.

    By default, it has failed.
    """
    if status == "pass":
        return check_of(check, check.title(), check.title(), "pass", None, severity, "All is well.")
    return check_of(
        check, check.title(), f"{check} is bad", status, severity, severity, "It is so.", "Do.", elements(*places)
    )


class ScriptedSite:
    """Site whose scans have scripted results.

    `results_by_path` maps a path to its checks or its error.

    `checks_by_type` has the checks of all other paths by scan type, and `default_checks` those of all other types.
    """

    def __init__(self) -> None:
        self.results_by_path: dict[str, tuple[CheckResult, ...] | ScanError] = {}
        self.default_checks: tuple[CheckResult, ...] = (make_finding("good", status="pass"),)
        self.checks_by_type: dict[str, tuple[CheckResult, ...]] = {}
        self.scores: dict[str, int] = {}
        self.columns: dict[str, Any] = {}
        self.facts: dict[str, Any] = {"status": 200}

    def run_all_work(self, audit_id: str) -> None:
        while (
            waiting := Scan.objects.visits().filter(status="queued", audit_page__audit=audit_id).first()
        ) is not None:
            claim = claim_scan(waiting.id)
            assert claim is not None
            scans = {ScanType(scan.type): scan for scan in Scan.objects.of_visit(claim.scan_id)}
            assert finish_scan(claim, *(self._make_result(scans[scan_type]) for scan_type in claim.types))
            dispatch_pages(waiting.organization_id)

    def _make_result(self, scan: Scan) -> ScanResult:
        of_type = self.checks_by_type.get(scan.type, self.default_checks)
        result = self.results_by_path.get(urlsplit(scan.url).path, of_type)
        if isinstance(result, ScanError):
            return failed_result(ScanType(scan.type), scan.url, datetime.now(UTC), result)
        values: dict[str, Any] = {
            "categories": (CategoryResult("things", "Things", 10, result, 71),),
            "facts": self.facts,
        }
        values |= {"score": self.scores.get(scan.type, 90), "grade": "A"}
        return make_result(scan, **values | self.columns)
