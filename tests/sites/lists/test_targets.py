"""Tests for list targets and their projections."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone

from sites.lists.pages.target_page import target_rows, target_text
from sites.lists.targets import SharePoint, parse_target, points_of, project
from sites.models import SiteList
from sites.models.site_list import StoredTarget
from tests.factories import Member
from tests.page_reading import browser_of, page_of, text_of
from tests.sites.lists.cast import make_list
from tests.sites.lists.snapshot_cast import SnapshotSite, snapshot

NOW = timezone.now()
URLS = [f"https://{letter}.example/" for letter in "abcd"]
HSTS: dict[str, Any] = {"check": "hsts", "percent": 95, "by": (NOW + timedelta(days=70)).date().isoformat()}


def target(**fields: Any) -> StoredTarget:
    return parse_target(HSTS | fields)


def add_snapshots(site_list: SiteList, *letters: str) -> None:
    """Add one weekly snapshot for each string of letters.

    A letter is the status of the hsts check on one site.

    Sites that pass have a score of 95, and the others have 40.
    """
    for age, text in enumerate(reversed(letters)):
        sites = [
            SnapshotSite(url, {"security": 95 if letter == "p" else 40}, letter, ("north",) if number < 2 else ())
            for number, (url, letter) in enumerate(zip(URLS, text, strict=True))
        ]
        snapshot(site_list, sites, checks=["hsts"], at=NOW - timedelta(days=7 * age))


@pytest.fixture
def towns(home: Member) -> SiteList:
    towns = make_list(home, name="Towns")
    add_snapshots(towns, "ffff", "pfff", "ppff")
    return towns


def test_target_share_is_counted_by_tag(towns: SiteList) -> None:
    score = {"check": "", "type": "security", "least": 90}
    assert [point.share for point in points_of(towns, target())] == [0, 25, 50]
    assert [point.share for point in points_of(towns, target(**score))] == [0, 25, 50]
    assert [point.share for point in points_of(towns, target(tag="north", **score))] == [0, 50, 100]
    assert points_of(towns, target(tag="east")) == []


def line(*shares: int, days: int = 7) -> list[SharePoint]:
    begin = datetime(2026, 1, 1, tzinfo=UTC)
    return [SharePoint(begin + timedelta(days=days * n), share, 100) for n, share in enumerate(shares)]


@pytest.mark.parametrize(
    ("points", "by", "share", "reached_on"),
    [
        (line(10, 20, 30), "2026-02-05", 60.0, "2026-03-01"),
        (line(10, 20, 30), "2027-01-01", 100.0, "2026-03-01"),
        (line(30, 20, 10), "2026-02-05", 0.0, None),
        (line(40, 40, 40), "2026-02-05", 40.0, None),
        (line(94, 95), "2026-02-05", 99.1, None),
    ],
)
def test_projection_continues_the_trend(
    points: list[SharePoint], by: str, share: float, reached_on: str | None
) -> None:
    projection = project(points, target(by=by))
    assert projection is not None
    assert projection.share == pytest.approx(share, abs=2)
    assert (projection.reached_on and projection.reached_on.isoformat()) == reached_on


def test_old_snapshots_do_not_affect_the_trend() -> None:
    projection = project(line(*[0] * 40, *range(10, 70, 5)), target(by="2027-12-31"))
    assert projection is not None
    assert projection.share == 100


@pytest.mark.parametrize("points", [[], line(10), line(10, 20, days=0)])
def test_projection_needs_two_days(points: list[SharePoint]) -> None:
    assert project(points, target()) is None


def test_targets_have_the_correct_states(towns: SiteList) -> None:
    targets = [
        target(),
        target(by=(NOW + timedelta(days=7)).date().isoformat()),
        target(percent=50),
        target(by=(NOW - timedelta(days=7)).date().isoformat()),
        target(tag="east"),
    ]
    towns.targets = targets
    states = [row.state.name for row in target_rows(towns, NOW)]
    assert states == ["On course", "Behind", "Reached", "Missed", "No numbers yet"]


@pytest.mark.parametrize(
    "fields",
    [
        {"check": ""},
        {"type": "seo", "least": 90},
        {"check": "", "type": "beauty", "least": 90},
        {"check": "", "type": "seo"},
        {"check": "no-such-check"},
        {"percent": 0},
        {"percent": 101},
        {"percent": "95"},
        {"percent": True},
        {"by": "June"},
        {"by": "2026-02-30"},
        {"by": "9999-01-01"},
        {"by": None},
        {"tag": "=1"},
        {"tag": 7},
        {"more": 1},
    ],
)
def test_invalid_targets_are_refused(home: Member, towns: SiteList, fields: dict[str, Any]) -> None:
    answer = home.api.patch(f"/v1/lists/{towns.id}", {"targets": [HSTS | fields]})
    assert (answer.status_code, answer.json()["code"]) == (400, "INVALID_PARAMS")


def test_targets_are_set_through_the_api(home: Member, towns: SiteList) -> None:
    path = f"/v1/lists/{towns.id}"
    assert "targets" not in home.api.get(path).json()
    changed = home.api.patch(path, {"targets": [HSTS, HSTS]})
    assert changed.status_code == 200
    expected = [{"tag": "", "type": "", "least": None} | HSTS]
    assert changed.json()["targets"] == home.api.get(path).json()["targets"] == expected
    for wrong in (7, None, [HSTS] * 21, ["x"]):
        assert home.api.patch(path, {"targets": wrong}).status_code == 400
    assert "targets" not in home.api.patch(path, {"targets": []}).json()


def test_target_can_be_removed_on_the_page(home: Member, towns: SiteList) -> None:
    path = f"/o/{home.organization.slug}/lists/{towns.id}"
    browser = browser_of(home)
    form = {"percent": "95", "goal": "hsts", "tag": "", "least": "90", "by": HSTS["by"]}
    done = browser.post(f"{path}/targets", form, follow=True)
    assert "The target was set." in text_of(done)
    assert target_text(target()) in text_of(done)
    assert "On course Now 50 %, 2 of 4 sites. At the pace of the last snapshots, 100 % on that day" in text_of(done)
    assert page_of(done).xpath("//polyline[@class='projected']")
    refused = browser.post(f"{path}/targets", form | {"by": "soon"}, follow=True)
    assert "No target was set. by must be a day such as 2027-06-30" in text_of(refused)
    second = browser.post(f"{path}/targets", form | {"goal": "type:seo", "tag": "north"}, follow=True)
    assert "95 % of sites tagged north have a score of at least 90 in SEO by" in text_of(second)
    browser.post(f"{path}/targets", {"remove": "0"})
    towns.refresh_from_db()
    assert [each["type"] for each in towns.targets] == ["seo"]
    assert browser_of(home, "viewer").post(f"{path}/targets", form).status_code == 403
