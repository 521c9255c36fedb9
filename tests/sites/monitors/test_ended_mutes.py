"""Tests that an ended mute reports its finding as new.

The finding must still exist.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from reports.models import Mute
from sites.monitors.outcome import finish_run
from tests.factories import Member
from tests.results import elements
from tests.sites.monitors.test_outcome import BAD, GOOD, UNREACHABLE, create_mute, daily_monitor
from tests.sites.monitors.watching import DailyMonitor, ScriptedSite, event_summary, make_finding
from website_scan.findings import HIGH
from website_scan.fingerprints import fingerprints
from website_scan.result import SkippedCheck

pytestmark = pytest.mark.django_db


def end_mutes() -> None:
    Mute.objects.update(ended_at=timezone.now())


def place_fingerprint(selector: str) -> str:
    (place,) = fingerprints("thing", elements(selector), "https://example.com/")
    return place


def muted_monitor(owner: Member, site: ScriptedSite, *places: str, **columns: Any) -> DailyMonitor:
    """Return a monitor that has found the muted check `thing`.

    Its first run found the check at these places.

    `columns` describe the mute.
    """
    create_mute(owner, **columns)
    home = daily_monitor(owner, site)
    site.default_checks = (make_finding("thing", HIGH, *places),)
    assert home.run_once() == []
    return home


def test_finding_is_reported_once_after_its_mute(owner: Member, site: ScriptedSite) -> None:
    home = muted_monitor(owner, site)
    assert home.run_once() == []
    end_mutes()
    (body,) = home.run_once()
    assert event_summary(body) == {"event": "changed", "reasons": ["new_findings"], "new": ["thing"]}
    assert body["data"]["new"][0]["said"] == "no longer muted"
    assert home.run_once() == []


def test_expired_mute_reports_its_finding(owner: Member, site: ScriptedSite) -> None:
    home = daily_monitor(owner, site)
    create_mute(owner, expires_at=home.now + timedelta(days=1, hours=1))
    site.default_checks = BAD
    assert home.run_once() == []
    assert [event_summary(body)["new"] for body in home.run_once()] == [["thing"]]


def test_fixed_finding_is_not_reported(owner: Member, site: ScriptedSite) -> None:
    home = muted_monitor(owner, site)
    end_mutes()
    site.default_checks = GOOD
    assert home.run_once() == []
    site.default_checks = BAD
    assert [event_summary(body)["new"] for body in home.run_once()] == [["thing"]]


def test_unmuted_place_is_a_new_place(owner: Member, site: ScriptedSite) -> None:
    home = muted_monitor(owner, site, "#a", "#b", fingerprint=place_fingerprint("#a"))
    end_mutes()
    (body,) = home.run_once()
    (worse,) = body["data"]["worse"]
    assert (worse["said"], worse["pages"][0]["places"]) == ("1 new place; no longer muted", ["#a"])
    assert body["data"]["new"] == []
    assert home.run_once() == []


def test_ended_mute_reports_only_its_place(owner: Member, site: ScriptedSite) -> None:
    create_mute(owner, fingerprint=place_fingerprint("#b"))
    home = muted_monitor(owner, site, "#a", "#b", fingerprint=place_fingerprint("#a"))
    Mute.objects.filter(fingerprint=place_fingerprint("#a")).update(ended_at=timezone.now())
    (body,) = home.run_once()
    assert body["data"]["new"][0]["pages"][0]["places"] == ["#a"]


def test_finding_under_another_mute_stays_muted(owner: Member, site: ScriptedSite) -> None:
    home = muted_monitor(owner, site, "#a")
    end_mutes()
    create_mute(owner, fingerprint=place_fingerprint("#a"))
    assert home.run_once() == []


def test_ended_mute_waits_for_a_verdict(owner: Member, site: ScriptedSite) -> None:
    home = muted_monitor(owner, site)
    end_mutes()
    site.default_checks = (make_finding("other", status="pass"),)
    site.columns = {"status": "partial", "skipped_checks": (SkippedCheck("thing", "Thing", "Late.", "out-of-time"),)}
    assert home.run_once() == []
    site.default_checks, site.columns = BAD, {}
    assert [event_summary(body)["new"] for body in home.run_once()] == [["thing"]]


def test_mute_that_ends_in_an_outage_is_reported(owner: Member, site: ScriptedSite) -> None:
    home = muted_monitor(owner, site)
    site.results_by_path["/"] = UNREACHABLE
    assert [body["event"] for body in home.run_once()] == ["monitor.failed"]
    end_mutes()
    assert home.run_once() == []
    site.results_by_path = {}
    (body,) = home.run_once()
    assert event_summary(body)["new"] == ["thing"]
    assert not finish_run(home.run.id, home.now)


def test_changed_finding_is_reported_once(owner: Member, site: ScriptedSite) -> None:
    home = muted_monitor(owner, site, "#a")
    end_mutes()
    site.default_checks = (make_finding("thing", HIGH, "#a", "#b"),)
    (body,) = home.run_once()
    (new,) = body["data"]["new"]
    assert sorted(new["pages"][0]["places"]) == ["#a", "#b"]
    assert body["data"]["worse"] == []


def test_mute_between_two_runs_is_not_reported(owner: Member, site: ScriptedSite) -> None:
    home = daily_monitor(owner, site)
    site.default_checks = BAD
    assert home.run_once() == []
    create_mute(owner)
    end_mutes()
    assert home.run_once() == []
