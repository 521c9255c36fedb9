"""Bodies of test events with example data and `test: true`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings

from webhooks.events import encoded
from webhooks.models import EventKind
from website_scan.ids import new_id
from website_scan.timestamps import timestamp

URL = "https://example.com/"
LISTS = ("new", "fixed", "worse", "better", "unreachable_pages", "reachable_pages")
UNREACHABLE = "example.com can't be reached on port 443."


def example(kind: EventKind, now: datetime) -> bytes:
    """Return the body of a test event of this kind, as JSON."""
    data = EXAMPLES[kind.partition(".")[0]](kind, now)
    return encoded({"event": str(kind), "timestamp": timestamp(now), "test": True, "data": data})


def _scan_data(kind: EventKind, _now: datetime) -> dict[str, Any]:
    scan_id = new_id("scan")
    data: dict[str, Any] = {"scan_id": scan_id, "url": URL, "type": "security"}
    is_failed = kind is EventKind.SCAN_FAILED
    data |= {"status": kind.partition(".")[2], "score": None if is_failed else 87, "grade": None if is_failed else "B"}
    data |= {"findings_count": 0 if is_failed else 5, "report_url": f"{settings.BASE_URL}/report/{scan_id}"}
    if is_failed:
        data["error"] = {"code": "URL_NOT_REACHABLE", "message": UNREACHABLE}
    return data


def _audit_data(kind: EventKind, now: datetime) -> dict[str, Any]:
    audit_id = new_id("aud")
    if kind is EventKind.AUDIT_SCAN:
        return {**_scan_data(EventKind.SCAN_COMPLETED, now), "audit_id": audit_id}
    is_failed = kind is EventKind.AUDIT_FAILED
    data: dict[str, Any] = {
        "audit_id": audit_id,
        "target": URL,
        "types": ["security", "seo"],
        "status": "failed" if is_failed else "completed",
        "pages": {"planned": 12, "done": 0 if is_failed else 12, "failed": 12 if is_failed else 0},
        "results": {
            scan_type: {"score": None if is_failed else 87, "grade": None if is_failed else "B"}
            for scan_type in ("security", "seo")
        },
        "audit_url": f"{settings.BASE_URL}/audit/{audit_id}",
    }
    if is_failed:
        message = f"No page could be judged. {UNREACHABLE}"
        data["error"] = {"code": "URL_NOT_REACHABLE", "message": message}
    return data


def _monitor_data(kind: EventKind, now: datetime) -> dict[str, Any]:
    if kind is EventKind.MONITOR_ALERT:
        return _alert_data(now)
    monitor_id = new_id("mon")
    monitor_url = f"{settings.BASE_URL}/o/example/monitors/{monitor_id}"
    audit_id = new_id("aud")
    data: dict[str, Any] = {
        "monitor_id": monitor_id,
        "name": "Shop",
        "target": URL,
        "monitor_url": monitor_url,
        "run": {
            "id": new_id("run"),
            "audit_id": audit_id,
            "audit_url": f"{settings.BASE_URL}/audit/{audit_id}",
            "due_at": timestamp(now),
        },
    }
    if kind is EventKind.MONITOR_FAILED:
        return data | {
            "since": timestamp(now - timedelta(minutes=5)),
            "error": {"code": "URL_NOT_REACHABLE", "message": UNREACHABLE},
        }
    if kind is EventKind.MONITOR_RECOVERED:
        return data | {
            "down_since": timestamp(now - timedelta(hours=2)),
            "recovered_at": timestamp(now),
            "changes": None,
        }
    return data | {
        "scores": {"security": {"before": 92, "after": 80, "grade": "B"}},
        **{name: [_finding()] if name == "new" else [] for name in LISTS},
        "more": dict.fromkeys(LISTS, 0),
        "certificate": None,
        "reasons": ["new_findings", "score_drop"],
    }


def _alert_data(now: datetime) -> dict[str, Any]:
    finding = _finding()
    monitor_id = new_id("mon")
    site = {
        "site": "example.com",
        "since": timestamp(now - timedelta(minutes=2)),
        "ended_at": None,
        "note": finding["message"],
        "report_url": finding["pages"][0]["report_url"],
        "monitors": [
            {
                "id": monitor_id,
                "name": "Shop",
                "target": URL,
                "monitor_url": f"{settings.BASE_URL}/o/example/monitors/{monitor_id}",
            }
        ],
        "monitors_total": 1,
    }
    problem = {"kind": "finding", **{name: finding[name] for name in ("severity", "title", "fix", "type", "check")}}
    return {
        "headline": "Critical: Git repository is public \N{EN DASH} example.com",
        "problems": [{**problem, "sites": [site], "sites_total": 1, "monitors_total": 1}],
        "ended": [],
        "ended_meanwhile": [],
        "more": {"problems": 0, "ended": 0, "ended_meanwhile": 0},
    }


def _finding() -> dict[str, Any]:
    before, after = (f"{settings.BASE_URL}/report/{new_id('scan')}" for _ in range(2))
    return {
        "type": "security",
        "check": "exposed-git",
        "outcome": "public",
        "title": "Git repository is public",
        "severity": "critical",
        "pages_affected": 1,
        "message": "/.git/config can be read by everybody.",
        "fix": "Refuse requests for /.git/ on the server.",
        "said": "",
        "fingerprints": [],
        "pages": [{"url": URL, "report_url": after, "previous_report_url": before, "places": []}],
    }


def _list_data(kind: EventKind, now: datetime) -> dict[str, Any]:
    list_id, run_id = new_id("lst"), new_id("run")
    data: dict[str, Any] = {
        "list_id": list_id,
        "name": "Universities",
        "list_url": f"{settings.BASE_URL}/o/example/lists/{list_id}",
        "run": {
            "id": run_id,
            "status": "completed",
            "requested": False,
            "started_at": timestamp(now - timedelta(hours=24)),
            "ended_at": timestamp(now),
            "types": ["security"],
            "pages_per_entry": 1,
            "window_hours": 24,
            "entries": 120,
            "done": 118,
            "failed": 2,
            "left_out": 0,
            "error": None,
        },
        "results": {"security": {"judged": 118, "mean": 81.4, "grade": "B"}},
    }
    if kind is EventKind.LIST_COMPLETED:
        return data
    scores = {"before": {"score": 92, "grade": "A"}, "after": {"score": 80, "grade": "B"}}
    worse = {"url": URL, "entry_id": new_id("ent"), "tags": ["north"], "change": -12.0, "types": {"security": scores}}
    check = {"check": "hsts", "name": "HTTP Strict Transport Security", "type": "security", "of": 117}
    numbers = {"failed_before": 40, "failed_after": 37, "fixed": 4, "broken": 1}
    sites = {"compared": 117, "better": 6, "worse": 1, "added": 1, "removed": 0, "lost": 1, "regained": 0}
    return data | {
        "changes": {
            "run_id": run_id,
            "with_run_id": new_id("run"),
            "grades": {"better": 4, "worse": 1},
            "types": ["security"],
            "sites": sites,
            "better": [],
            "worse": [worse],
            "lost": ["https://www.example.com/"],
            "regained": [],
            "fewer_failures": [check | numbers],
            "more_failures": [],
            "checks_added": [],
            "checks_removed": [],
        }
    }


EXAMPLES: Mapping[str, Callable[[EventKind, datetime], dict[str, Any]]] = {
    "scan": _scan_data,
    "audit": _audit_data,
    "monitor": _monitor_data,
    "list": _list_data,
}
