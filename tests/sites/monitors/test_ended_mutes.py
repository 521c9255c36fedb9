"""What is still there when a mute ends: the first run afterwards counts it as new."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from reports.models import Mute
from sites.monitors.outcome import finish_run
from tests.factories import Member
from tests.results import elements
from tests.sites.monitors.test_outcome import BAD, GOOD, UNREACHABLE, mute, watch
from tests.sites.monitors.watching import Judged, Watch, finding, told
from website_scan.findings import HIGH
from website_scan.fingerprints import fingerprints
from website_scan.result import SkippedCheck

pytestmark = pytest.mark.django_db


def end_mutes() -> None:
    Mute.objects.update(ended_at=timezone.now())


def print_of(selector: str) -> str:
    (found,) = fingerprints("thing", elements(selector), "https://example.com/")
    return found


def muted_watch(owner: Member, site: Judged, *places: str, **columns: Any) -> Watch:
    """Return a monitor whose first run saw `thing` at these places, muted as `columns` say."""
    mute(owner, **columns)
    home = watch(owner, site)
    site.usual = (finding("thing", HIGH, *places),)
    assert home.look() == []
    return home


def test_finding_is_reported_once_after_its_mute_ends(owner: Member, site: Judged) -> None:
    home = muted_watch(owner, site)
    assert home.look() == []
    end_mutes()
    (body,) = home.look()
    assert told(body) == {"event": "changed", "reasons": ["new_findings"], "new": ["thing"]}
    assert body["data"]["new"][0]["said"] == "no longer muted"
    assert home.look() == []


def test_finding_is_reported_after_its_mute_expires(owner: Member, site: Judged) -> None:
    home = watch(owner, site)
    mute(owner, expires_at=home.now + timedelta(days=1, hours=1))
    site.usual = BAD
    assert home.look() == []
    assert [told(each)["new"] for each in home.look()] == [["thing"]]


def test_finding_fixed_during_the_mute_is_not_reported(owner: Member, site: Judged) -> None:
    home = muted_watch(owner, site)
    end_mutes()
    site.usual = GOOD
    assert home.look() == []
    site.usual = BAD
    assert [told(each)["new"] for each in home.look()] == [["thing"]]


def test_unmuted_place_of_a_known_finding_is_a_new_place(owner: Member, site: Judged) -> None:
    home = muted_watch(owner, site, "#a", "#b", fingerprint=print_of("#a"))
    end_mutes()
    (body,) = home.look()
    (worse,) = body["data"]["worse"]
    assert (worse["said"], worse["pages"][0]["places"]) == ("1 new place; no longer muted", ["#a"])
    assert body["data"]["new"] == []
    assert home.look() == []


def test_end_of_one_of_two_mutes_reports_its_place_only(owner: Member, site: Judged) -> None:
    mute(owner, fingerprint=print_of("#b"))
    home = muted_watch(owner, site, "#a", "#b", fingerprint=print_of("#a"))
    Mute.objects.filter(fingerprint=print_of("#a")).update(ended_at=timezone.now())
    (body,) = home.look()
    assert body["data"]["new"][0]["pages"][0]["places"] == ["#a"]


def test_finding_covered_by_another_mute_stays_muted(owner: Member, site: Judged) -> None:
    home = muted_watch(owner, site, "#a")
    end_mutes()
    mute(owner, fingerprint=print_of("#a"))
    assert home.look() == []


def test_run_without_verdict_postpones_the_end_of_a_mute(owner: Member, site: Judged) -> None:
    home = muted_watch(owner, site)
    end_mutes()
    site.usual = (finding("other", status="pass"),)
    site.columns = {"status": "partial", "skipped_checks": (SkippedCheck("thing", "Thing", "Late.", "out-of-time"),)}
    assert home.look() == []
    site.usual, site.columns = BAD, {}
    assert [told(each)["new"] for each in home.look()] == [["thing"]]


def test_outage_postpones_the_end_of_a_mute(owner: Member, site: Judged) -> None:
    home = muted_watch(owner, site)
    site.of["/"] = UNREACHABLE
    assert [each["event"] for each in home.look()] == ["monitor.failed"]
    end_mutes()
    assert home.look() == []
    site.of = {}
    (body,) = home.look()
    assert told(body)["new"] == ["thing"]
    assert not finish_run(home.run.id, home.now)


def test_change_at_the_end_of_a_mute_is_reported_once(owner: Member, site: Judged) -> None:
    home = muted_watch(owner, site, "#a")
    end_mutes()
    site.usual = (finding("thing", HIGH, "#a", "#b"),)
    (body,) = home.look()
    (new,) = body["data"]["new"]
    assert sorted(new["pages"][0]["places"]) == ["#a", "#b"]
    assert body["data"]["worse"] == []


def test_finding_without_mute_is_reported_once(owner: Member, site: Judged) -> None:
    home = watch(owner, site)
    site.usual = BAD
    assert home.look() == []
    mute(owner)
    end_mutes()
    assert home.look() == []
