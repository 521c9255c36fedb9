"""Tests for reporting the end of an outage.

It is reported only if the beginning was reported.
"""

from __future__ import annotations

import pytest

from sites.models import Monitor
from tests.factories import Member
from tests.sites.monitors.test_outcome import BAD, GOOD, UNREACHABLE, daily_monitor
from tests.sites.monitors.watching import ScriptedSite, event_summary

pytestmark = pytest.mark.django_db

SILENT = {"unreachable": False, "recovered": True}


def test_unreported_outage_has_no_recovery(owner: Member, site: ScriptedSite) -> None:
    home = daily_monitor(owner, site, alert=SILENT)
    site.default_checks = GOOD
    home.run_once()
    site.results_by_path["/"] = UNREACHABLE
    assert home.run_once() == []
    site.results_by_path = {}
    assert home.run_once() == []
    assert home.monitor.failing_since is None
    site.results_by_path["/"] = UNREACHABLE
    home.run_once()
    site.results_by_path["/"] = BAD
    assert [event_summary(body)["event"] for body in home.run_once()] == ["changed"], (
        "what has changed since is told all the same"
    )


def test_recovery_follows_the_earlier_setting(owner: Member, site: ScriptedSite) -> None:
    home = daily_monitor(owner, site, alert=SILENT)
    site.results_by_path["/"] = UNREACHABLE
    home.run_once()
    Monitor.objects.update(alert={})
    site.results_by_path = {}
    assert home.run_once() == []
    site.results_by_path["/"] = UNREACHABLE
    assert [body["event"] for body in home.run_once()] == ["monitor.failed"]
    Monitor.objects.update(alert=SILENT)
    site.results_by_path = {}
    assert [body["event"] for body in home.run_once()] == ["monitor.recovered"]


def test_unreported_outage_ends_silently(owner: Member, site: ScriptedSite) -> None:
    home = daily_monitor(owner, site, "/", "/shop", alert=SILENT)
    home.run_once()
    site.results_by_path["/shop"] = UNREACHABLE
    assert [home.run_once(), home.run_once(), home.run_once()] == [[], [], []]
    site.results_by_path = {}
    assert home.run_once() == []
    assert home.run.news["reachable_pages"] == [{"url": "https://example.com/shop"}], "in the timeline"
