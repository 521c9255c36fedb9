"""Ends of outages: a message says so only if one said that they began."""

from __future__ import annotations

import pytest

from sites.models import Monitor
from tests.factories import Member
from tests.sites.monitors.test_outcome import BAD, GOOD, UNREACHABLE, watch
from tests.sites.monitors.watching import Judged, told

pytestmark = pytest.mark.django_db

SILENT = {"unreachable": False, "recovered": True}


def test_unreported_outage_has_no_recovery_message(owner: Member, site: Judged) -> None:
    home = watch(owner, site, alert=SILENT)
    site.usual = GOOD
    home.look()
    site.of["/"] = UNREACHABLE
    assert home.look() == []
    site.of = {}
    assert home.look() == []
    assert home.monitor.failing_since is None
    site.of["/"] = UNREACHABLE
    home.look()
    site.of["/"] = BAD
    assert [told(each)["event"] for each in home.look()] == ["changed"], "what has changed since is told all the same"


def test_alert_setting_at_the_start_of_the_outage_applies(owner: Member, site: Judged) -> None:
    home = watch(owner, site, alert=SILENT)
    site.of["/"] = UNREACHABLE
    home.look()
    Monitor.objects.update(alert={})
    site.of = {}
    assert home.look() == []
    site.of["/"] = UNREACHABLE
    assert [each["event"] for each in home.look()] == ["monitor.failed"]
    Monitor.objects.update(alert=SILENT)
    site.of = {}
    assert [each["event"] for each in home.look()] == ["monitor.recovered"]


def test_unreported_outage_of_one_of_several_pages_ends_without_message(owner: Member, site: Judged) -> None:
    home = watch(owner, site, "/", "/shop", alert=SILENT)
    home.look()
    site.of["/shop"] = UNREACHABLE
    assert [home.look(), home.look(), home.look()] == [[], [], []]
    site.of = {}
    assert home.look() == []
    assert home.run.news["reachable_pages"] == [{"url": "https://example.com/shop"}], "in the timeline"
