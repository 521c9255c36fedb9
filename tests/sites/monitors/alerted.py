"""Helpers that build the data of grouped alerts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from sites.monitors.alert_schemas import AlertData, AlertedSite, AlertProblem
from sites.monitors.headlines import headline_of

BASE = "http://localhost:8000"


def make_problem(title: str, severity: str, *sites: str, kind: str = "finding", **site_values: Any) -> AlertProblem:
    """Return a problem of these sites. Keyword arguments override fields of the sites."""
    is_finding = kind == "finding"
    return {
        "kind": kind,
        "severity": severity,
        "title": title,
        "fix": "Refuse requests for it." if is_finding else "",
        "type": "security" if is_finding else None,
        "check": "exposed-git" if is_finding else None,
        "sites": [make_site(site, **site_values) for site in sites],
        "sites_total": len(sites),
        "monitors_total": len(sites),
    }


def make_site(site: str, **values: Any) -> AlertedSite:
    monitor = {"id": "mon_1", "name": "Shop", "target": f"https://{site}/", "monitor_url": f"{BASE}/o/home/monitors/1"}
    defaults: Any = {
        "site": site,
        "since": "2026-11-21T07:15:00Z",
        "ended_at": None,
        "note": "What was seen, in a sentence that has so many words that it takes more than one line.",
        "report_url": f"{BASE}/report/scan_2",
        "monitors": [monitor],
        "monitors_total": 1,
    }
    return cast("AlertedSite", defaults | values)


def make_alert(
    problems: Sequence[AlertProblem] = (),
    ended: Sequence[AlertProblem] = (),
    ended_meanwhile: Sequence[AlertProblem] = (),
) -> AlertData:
    return {
        "headline": headline_of(problems, ended, ended_meanwhile),
        "problems": list(problems),
        "ended": list(ended),
        "ended_meanwhile": list(ended_meanwhile),
        "more": {"problems": 0, "ended": 0, "ended_meanwhile": 0},
    }
