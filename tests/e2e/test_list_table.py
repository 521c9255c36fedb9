"""Tests for a list's table of sites in a real browser."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from sites.models import ListResult
from tests.e2e.pages import PageRequest, RenderedPages, render_page, window
from tests.factories import member_of, person_of
from tests.sites.lists.snapshot_cast import SnapshotSite, make_list, snapshot

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("pages")]

TYPES = ["security", "performance", "accessibility", "seo"]
TOWNS = ("Aschaffenburg", "Bremerhaven", "Garmisch", "Heiligenhaus", "Ludwigshafen", "Neubrandenburg", "Schwedt")
MAX_ROW_HEIGHT = 56
SCREEN = {"width": 1280, "height": 720}
MEASURES = """() => {
  const rows = [...document.querySelectorAll('.list-table tbody tr')];
  const hidden = row => { const url = row.querySelector('.url'); return url.scrollWidth > url.clientWidth + 1; };
  const starts = rows.flatMap(row => [...row.querySelectorAll('.url .start')]);
  return {
    top: document.querySelector('.list-table').getBoundingClientRect().top + scrollY,
    height: Math.max(...rows.map(row => row.getBoundingClientRect().height)),
    cut: rows.filter(hidden).length + starts.filter(each => each.scrollWidth > each.clientWidth + 1).length,
  };
}"""


def test_table_row_updates_after_a_scan(db: None) -> None:
    home = member_of("Home")
    owner = person_of(home, "owner", "ada@people.test")
    site_list = make_list(home)
    snapshot(site_list, [SnapshotSite(f"https://{letter}.example/", {"seo": 50}) for letter in "ab"])
    entry = site_list.entries.earliest("url")
    result = ListResult.objects.create(
        site_list=site_list, entry=entry, url=entry.url, starts_at=timezone.now(), status="started"
    )
    path = f"/o/{home.organization.slug}/lists/{site_list.id}"
    page = render_page(PageRequest(path), owner, {})
    (address,) = re.findall(rb'hx-get="([^"]+)"', page.body)
    site_list.entries.filter(id=entry.id).update(result=result, seo_score=93, seo_grade="A", state="judged")
    ListResult.objects.filter(id=result.id).update(status="done")
    live = render_page(PageRequest(unescape(address.decode())), owner, {})

    def wait_for_row(tab: Page) -> tuple[bool, str, int]:
        for box in tab.locator("[name=entry]").all():
            box.check()
        row = tab.locator(f"#site-{entry.id}")
        expect(row).to_contain_text("Being scanned")
        expect(row).to_contain_text("93", timeout=15_000)
        expect(row).not_to_contain_text("Being scanned")
        return row.locator("[name=entry]").is_checked(), tab.locator("[data-ticked]").inner_text(), row.count()

    with window() as browser:
        shown = browser.run_on_page(RenderedPages({"list": page}, {live.path: live}), "list", wait_for_row)
    assert shown == (True, "2 selected", 1)


def test_site_table_shows_whole_names(db: None) -> None:
    home = member_of("Home")
    site_list = make_list(home, types=TYPES)
    sites = [
        SnapshotSite(
            f"https://www.museum-{town.lower()}.example.org/",
            dict.fromkeys(TYPES, 60 + number),
            tags=("museums", "open on Mondays", "north"),
        )
        for number, town in enumerate(TOWNS)
    ]
    run = snapshot(site_list, sites)
    site_list.entries.update(state="judged", judged_at=run.ended_at, note="A new site comes in spring", history=[1, 2])
    for type in TYPES:
        site_list.entries.update(**{f"{type}_score": 87, f"{type}_grade": "B", f"{type}_change": -12})
    owner = person_of(home, "owner", "ada@people.test")
    page = render_page(PageRequest(f"/o/{home.organization.slug}/lists/{site_list.id}"), owner, {})

    def measure(tab: Page) -> Any:
        tab.set_viewport_size({"width": SCREEN["width"], "height": SCREEN["height"]})
        return tab.evaluate(MEASURES)

    with window() as browser:
        measures = browser.run_on_page(RenderedPages({"list": page}, {}), "list", measure)
    assert measures["cut"] == 0
    assert measures["height"] <= MAX_ROW_HEIGHT
    assert measures["top"] < SCREEN["height"] - 2 * MAX_ROW_HEIGHT
