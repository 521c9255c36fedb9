"""Tests for charts that compare a check's adoption between lists or tags."""

from __future__ import annotations

from datetime import timedelta
from urllib.parse import urlencode

import pytest
from django.utils import timezone
from lxml.html import HtmlElement

from sites.models import SiteList
from tests.factories import Member
from tests.page_reading import browser_of, page_of
from tests.sites.lists.cast import make_list
from tests.sites.lists.snapshot_cast import SnapshotSite, snapshot

NOW = timezone.now()
URLS = [f"https://{letter}.example/" for letter in "abcd"]


def add_snapshots(site_list: SiteList, *letters: str, tags: tuple[str, ...] = ("north", "south")) -> None:
    """Add one weekly snapshot for each string of letters.

    A letter is the status of the hsts check on one site.

    The first two sites have the first tag, and the others have the second.
    """
    for age, text in enumerate(reversed(letters)):
        sites = [
            SnapshotSite(url, {"security": 60}, letter, (tags[number >= 2],) if tags else ())
            for number, (url, letter) in enumerate(zip(URLS, text, strict=True))
        ]
        snapshot(site_list, sites, checks=["hsts"], at=NOW - timedelta(days=7 * age))


@pytest.fixture
def towns(home: Member) -> SiteList:
    towns = make_list(home, name="Towns")
    add_snapshots(towns, "ffff", "ppff", "pppf")
    return towns


def lines_of(home: Member, site_list: SiteList, **query: object) -> HtmlElement:
    path = f"/o/{home.organization.slug}/lists/{site_list.id}/adoption"
    answer = browser_of(home).get(f"{path}?{urlencode({'check': 'hsts', **query}, doseq=True)}")
    assert answer.status_code == 200
    return page_of(answer)


def rows_of_lines(page: HtmlElement) -> list[list[str]]:
    (table,) = page.xpath("//table[caption='Lines of the chart']")
    return [[" ".join(cell.text_content().split()) for cell in row] for row in table.xpath("tbody/tr")]


def test_tags_and_lists_can_share_one_chart(home: Member, towns: SiteList) -> None:
    clinics = make_list(home, name="Clinics")
    add_snapshots(clinics, "pppp", tags=())
    page = lines_of(home, towns, **{"with": ["tag:north", "tag:south", f"list:{clinics.id}"]})
    assert rows_of_lines(page) == [
        ["Towns", "0 %", "75 % of 4", "3"],
        ["Sites tagged north", "0 %", "100 % of 2", "3"],
        ["Sites tagged south", "0 %", "50 % of 2", "3"],
        ["Clinics", "100 %", "100 % of 4", "1"],
    ]
    lines = [
        line.get("points").split() for line in page.xpath("//section[@aria-labelledby='compared-title']//g/polyline")
    ]
    assert [len(line) for line in lines] == [3, 3, 3, 1]
    assert lines[0][0] == lines[1][0] == "6.0,154.0", "all lines have the same axis"
    assert lines[1][2] == lines[3][0] == "594.0,6.0"


def test_single_list_has_no_lines(home: Member, towns: SiteList) -> None:
    page = lines_of(home, towns)
    assert not page.xpath("//table[caption='Lines of the chart']")
    assert not page.xpath("//details[@class='more-filters' and @open]")


def test_tag_can_be_compared_with_all_sites(home: Member, towns: SiteList) -> None:
    page = lines_of(home, towns, tag="south", **{"with": "tag:"})
    assert [row[0] for row in rows_of_lines(page)] == ["Sites tagged south", "All sites of this list"]


def test_foreign_lines_are_ignored(home: Member, stranger: Member, towns: SiteList) -> None:
    foreign = make_list(stranger, name="Foreign")
    add_snapshots(foreign, "pppp")
    values = [f"list:{foreign.id}", "tag:east", "x", "list:", "tag:\0", *[f"tag:{n}" for n in range(50)]]
    page = lines_of(home, towns, **{"with": values})
    assert not page.xpath("//table[caption='Lines of the chart']")
    assert "Foreign" not in page.text_content()


def test_chart_has_at_most_six_lines(home: Member, towns: SiteList) -> None:
    others = [make_list(home, name="Towns") for _ in range(7)]
    page = lines_of(home, towns, **{"with": [f"list:{other.id}" for other in others]})
    assert [row[0] for row in rows_of_lines(page)] == ["Towns"]
    (hint,) = page.xpath("//p[starts-with(., 'Without numbers')]")
    assert (
        hint.text_content() == "Without numbers of this check: Towns (2), Towns (3), Towns (4), Towns (5), Towns (6)."
    )
