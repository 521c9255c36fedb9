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


def test_what_is_still_there_is_new_once(owner: Member, site: Judged) -> None:
    home = muted_watch(owner, site)
    assert home.look() == []
    end_mutes()
    (body,) = home.look()
    assert told(body) == {"event": "changed", "reasons": ["new_findings"], "new": ["thing"]}
    assert body["data"]["new"][0]["said"] == "no longer muted"
    assert home.look() == []


def test_a_mute_ends_with_its_time_as_well(owner: Member, site: Judged) -> None:
    home = watch(owner, site)
    mute(owner, expires_at=home.now + timedelta(days=1, hours=1))
    site.usual = BAD
    assert home.look() == []
    assert [told(each)["new"] for each in home.look()] == [["thing"]]


def test_what_was_mended_meanwhile_is_not_told(owner: Member, site: Judged) -> None:
    home = muted_watch(owner, site)
    end_mutes()
    site.usual = GOOD
    assert home.look() == []
    site.usual = BAD
    assert [told(each)["new"] for each in home.look()] == [["thing"]]


def test_a_place_among_others_is_a_new_place(owner: Member, site: Judged) -> None:
    home = muted_watch(owner, site, "#a", "#b", fingerprint=print_of("#a"))
    end_mutes()
    (body,) = home.look()
    (worse,) = body["data"]["worse"]
    assert (worse["said"], worse["pages"][0]["places"]) == ("1 new place; no longer muted", ["#a"])
    assert body["data"]["new"] == []
    assert home.look() == []


def test_one_of_two_mutes_that_ends_shows_its_place_alone(owner: Member, site: Judged) -> None:
    mute(owner, fingerprint=print_of("#b"))
    home = muted_watch(owner, site, "#a", "#b", fingerprint=print_of("#a"))
    Mute.objects.filter(fingerprint=print_of("#a")).update(ended_at=timezone.now())
    (body,) = home.look()
    assert body["data"]["new"][0]["pages"][0]["places"] == ["#a"]


def test_what_another_mute_hides_stays_hidden(owner: Member, site: Judged) -> None:
    home = muted_watch(owner, site, "#a")
    end_mutes()
    mute(owner, fingerprint=print_of("#a"))
    assert home.look() == []


def test_a_report_without_a_verdict_leaves_it_to_the_next(owner: Member, site: Judged) -> None:
    home = muted_watch(owner, site)
    end_mutes()
    site.usual = (finding("other", status="pass"),)
    site.columns = {"status": "partial", "skipped_checks": (SkippedCheck("thing", "Thing", "Late.", "out-of-time"),)}
    assert home.look() == []
    site.usual, site.columns = BAD, {}
    assert [told(each)["new"] for each in home.look()] == [["thing"]]


def test_an_outage_forgets_no_mute(owner: Member, site: Judged) -> None:
    home = muted_watch(owner, site)
    site.of["/"] = UNREACHABLE
    assert [each["event"] for each in home.look()] == ["monitor.failed"]
    end_mutes()
    assert home.look() == []
    site.of = {}
    (body,) = home.look()
    assert told(body)["new"] == ["thing"]
    assert not finish_run(home.run.id, home.now)


def test_what_changes_while_a_mute_ends_is_told_with_it(owner: Member, site: Judged) -> None:
    home = muted_watch(owner, site, "#a")
    end_mutes()
    site.usual = (finding("thing", HIGH, "#a", "#b"),)
    (body,) = home.look()
    (new,) = body["data"]["new"]
    assert sorted(new["pages"][0]["places"]) == ["#a", "#b"]
    assert body["data"]["worse"] == []


def test_what_was_never_muted_is_told_once_as_ever(owner: Member, site: Judged) -> None:
    home = watch(owner, site)
    site.usual = BAD
    assert home.look() == []
    mute(owner)
    end_mutes()
    assert home.look() == []
