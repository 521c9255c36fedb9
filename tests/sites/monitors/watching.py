"""Monitor that runs in this process, by the real services and engine, and the events for its receiver."""

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
from tests.sites.audits.cast import work_off
from webhooks.models import Event
from website_scan.findings import HIGH, ScanType, Severity
from website_scan.result import CategoryResult, CheckResult, CheckStatus, ScanError, ScanResult
from website_scan.run import failed_result

HOOK = "https://example.com/hook"
EVENTS = ["scan.completed", "scan.partial", "scan.failed", "audit.completed", "audit.failed"]
EVENTS += ["monitor.changed", "monitor.failed", "monitor.recovered"]
# Start of the simulated days; close to the real dates of the scans, so that none counts as expired.
BEGIN = datetime.now(UTC).replace(microsecond=0)


class Watch:
    """Monitor that runs once a day, with its recorded events."""

    def __init__(self, monitor: Monitor, work: Callable[[str], object] = work_off) -> None:
        """`work` runs the waiting scans of the audit with the given ID."""
        self.monitor, self._work = monitor, work
        self.now = BEGIN
        self._notified = 0

    def look(self) -> list[dict[str, Any]]:
        """Run once, with a second try if there is one; return the bodies of the resulting events."""
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
        bodies = [json.loads(bytes(each.body)) for each in Event.objects.order_by("created_at", "id")]
        new, self._notified = bodies[self._notified :], len(bodies)
        return new


def told(body: dict[str, Any]) -> dict[str, Any]:
    """Return the kind of an event, its reasons, and the checks in each of its lists."""
    data = body["data"]
    changes = data if body["event"] == "monitor.changed" else data.get("changes") or {}
    found: dict[str, Any] = {"event": body["event"].removeprefix("monitor.")}
    if changes:
        found["reasons"] = changes["reasons"]
    for name in ("new", "fixed", "worse", "better"):
        if checks := sorted({each["check"] for each in changes.get(name, ())}):
            found[name] = checks
    if "error" in data:
        found["error"] = data["error"]["code"]
    return found


def finding(check: str, severity: Severity = HIGH, *places: str, status: CheckStatus = "fail") -> CheckResult:
    """Return a check that failed, or has another status, with these places."""
    if status == "pass":
        return check_of(check, check.title(), check.title(), "pass", None, severity, "All is well.")
    return check_of(
        check, check.title(), f"{check} is bad", status, severity, severity, "It is so.", "Do.", elements(*places)
    )


class Judged:
    """Worker substitute that finishes an audit's visits: `of` has by path the checks or the error of each scan."""

    def __init__(self) -> None:
        self.of: dict[str, tuple[CheckResult, ...] | ScanError] = {}
        self.usual: tuple[CheckResult, ...] = (finding("good", status="pass"),)
        self.scores: dict[str, int] = {}
        self.columns: dict[str, Any] = {}
        self.facts: dict[str, Any] = {"status": 200}

    def work_off(self, audit_id: str) -> None:
        while (
            waiting := Scan.objects.visits().filter(status="queued", audit_page__audit=audit_id).first()
        ) is not None:
            claim = claim_scan(waiting.id)
            assert claim is not None
            scans = {ScanType(each.type): each for each in Scan.objects.of_visit(claim.scan_id)}
            assert finish_scan(claim, *(self._result(scans[each]) for each in claim.types))
            dispatch_pages(waiting.organization_id)

    def _result(self, scan: Scan) -> ScanResult:
        found = self.of.get(urlsplit(scan.url).path, self.usual)
        if isinstance(found, ScanError):
            return failed_result(ScanType(scan.type), scan.url, datetime.now(UTC), found)
        values: dict[str, Any] = {
            "categories": (CategoryResult("things", "Things", 10, found, 71),),
            "facts": self.facts,
        }
        values |= {"score": self.scores.get(scan.type, 90), "grade": "A"}
        return make_result(scan, **values | self.columns)
