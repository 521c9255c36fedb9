"""Tests for the snapshot pages."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import ActivityEvent, Tier
from sites.models import ListRun, ListShare, SiteList
from tests.factories import Member, person_of
from tests.page_reading import browser_of, page_of, text_of
from tests.populated_lists import populate_lists
from tests.sites.lists.cast import make_list
from tests.sites.lists.snapshot_cast import SnapshotSite, make_share, snapshot

A, B, C = (f"https://{letter}.example/" for letter in "abc")
NOW = timezone.now()
# Letters are statuses of https-available, http-to-https-redirect, hsts and title.
OLD = [
    SnapshotSite(A, {"security": 40, "seo": 80}, "pffp", ("north",)),
    SnapshotSite(B, {"security": 60, "seo": 70}, "ppfw", ("north", "south")),
    SnapshotSite(C, {"security": 90, "seo": 90}, "pppp", ("south",)),
]
NEW = [
    SnapshotSite(A, {"security": 80, "seo": 80}, "pppp", ("north",)),
    SnapshotSite(B, {"security": 50, "seo": 70}, "pffw", ("north", "south")),
    SnapshotSite(C, tags=("south",)),
]


@pytest.fixture
def client(home: Member) -> Client:
    return browser_of(home)


@pytest.fixture
def site_list(home: Member) -> SiteList:
    return make_list(home)


@pytest.fixture
def runs(site_list: SiteList) -> list[ListRun]:
    """Two snapshots of the list, the older one first."""
    return [snapshot(site_list, OLD, at=NOW - timedelta(days=8)), snapshot(site_list, NEW, at=NOW - timedelta(days=1))]


def run_path(run: ListRun) -> str:
    return f"/o/home/lists/{run.site_list_id}/runs/{run.id}"


def table_rows(response: Any, caption: str) -> list[list[str]]:
    """Return the cell texts of each row in the table with this caption."""
    (table,) = page_of(response).xpath(f"//table[caption[contains(., '{caption}')]]")
    return [
        [" ".join(element.text_content().split()) for element in row.xpath("./th|./td")]
        for row in table.xpath(".//tbody/tr")
    ]


def test_page_without_snapshots_says_what_to_do(client: Client, home: Member, site_list: SiteList) -> None:
    SiteList.objects.update(entries_count=3)
    path = f"/o/home/lists/{site_list.id}"
    for page in ("snapshot", "adoption"):
        assert "No snapshot yet" in text_of(client.get(f"{path}/{page}"))
        assert page_of(client.get(f"{path}/{page}")).xpath("//main//form/@action") == [f"{path}/run"]
    assert "No run yet" in text_of(client.get(f"{path}/runs"))
    assert "Nothing is shared" in text_of(client.get(f"{path}/sharing"))
    SiteList.objects.update(entries_count=0)
    assert "Add sites to the list first." in text_of(client.get(f"{path}/snapshot"))


def test_snapshot_page_lists_failed_checks(client: Client, runs: list[ListRun]) -> None:
    page = client.get(run_path(runs[0]))
    text = text_of(page)
    assert "Sites 3 Judged 3 Not reached 0 Left out 0" in text
    titles = [element.text_content() for element in page_of(page).xpath("//ol[@class='held-list']//h3")]
    assert titles == ["No HSTS header", "No redirect from HTTP to HTTPS"]
    assert "2 of 3 sites 67 %" in text
    assert "Half of them score between 50 and 75; the median is 60." in text
    assert table_rows(page, "by tag") == [
        ["north", "2", "Grade F 50.0", "Grade C 75.0"],
        ["south", "2", "Grade C 75.0", "Grade B 80.0"],
    ]
    south_page = client.get(f"{run_path(runs[0])}?tag=south")
    assert "1 of 2 sites 50 %" in text_of(south_page)
    assert "No check fails" in text_of(client.get(f"{run_path(runs[0])}?type=seo"))
    latest = client.get(f"/o/home/lists/{runs[0].site_list_id}/snapshot")
    assert table_rows(latest, "could not be judged") == [[C, "The site cannot be reached."]]


def test_check_links_to_its_failing_sites(client: Client, runs: list[ListRun]) -> None:
    page = client.get(run_path(runs[0]))
    (link, *_) = page_of(page).xpath("//ol[@class='held-list']//a[contains(@href, '/sites?')]/@href")
    sites_page = client.get(link)
    assert "2 of 3 sites fail." in text_of(sites_page)
    assert [row[0] for row in table_rows(sites_page, "Sites with")] == ["a.example north", "b.example north, south"]
    warned = client.get(f"{run_path(runs[0])}/sites?check=title&status=warn")
    assert [row[0] for row in table_rows(warned, "Sites with")] == ["b.example north, south"]
    tagged = client.get(f"{run_path(runs[0])}/sites?check=hsts&tag=south")
    assert "1 of 2 sites fail" in text_of(tagged)
    assert client.get(f"{run_path(runs[0])}/sites?check=nothing").status_code == 404
    assert client.get(f"{run_path(runs[0])}/sites")["Location"] == run_path(runs[0])


def test_failing_sites_of_a_check_are_paginated(client: Client, site_list: SiteList) -> None:
    run = snapshot(
        site_list, [SnapshotSite(f"https://s{n:03}.example/", {"seo": 50}, "f") for n in range(130)], checks=["hsts"]
    )
    first = client.get(f"{run_path(run)}/sites?check=hsts")
    (following,) = page_of(first).xpath("//a[@rel='next']/@href")
    second = client.get(f"{run_path(run)}/sites{following}")
    hosts = [row[0] for page in (first, second) for row in table_rows(page, "Sites with")]
    assert hosts == [f"s{n:03}.example" for n in range(130)]
    assert not page_of(second).xpath("//a[@rel='next']")


def test_adoption_page_has_a_chart(client: Client, runs: list[ListRun]) -> None:
    path = f"/o/home/lists/{runs[0].site_list_id}/adoption"
    page = client.get(f"{path}?check=hsts")
    assert "50 % of 2 sites use HSTS. 17 percentage points more than in the snapshot of" in text_of(page)
    assert [row[1:] for row in table_rows(page, "by snapshot")] == [["1", "2", "50 %"], ["1", "3", "33 %"]]
    assert len(page_of(page).xpath("//svg[@role='img']//*[@class='point']")) == 2
    (label,) = page_of(page).xpath("//svg[@role='img']/@aria-label")
    assert "33 % at first, 50 % most recently" in label
    assert table_rows(page, "by tag") == [["south", "0", "1", "0 %"], ["north", "1", "2", "50 %"]]
    tag_page = client.get(f"{path}?check=hsts&tag=south")
    assert "0 % of 1 site uses HSTS" in text_of(tag_page)
    # If the query has no known check, the page displays a common one.
    assert "redirect to HTTPS" in text_of(client.get(f"{path}?check=nothing"))
    assert "ran on no site tagged west" in text_of(client.get(f"{path}?check=hsts&tag=west"))


def test_compare_page_has_two_snapshots(client: Client, runs: list[ListRun]) -> None:
    page = client.get(f"{run_path(runs[1])}/compare")
    text = text_of(page)
    assert "Judged in both 2 Better 1 Worse 1" in text
    assert table_rows(page, "Sites that got better") == [["a.example", "+20.0", "Security 40 → then 80"]]
    assert table_rows(page, "Sites that got worse")[0][:2] == ["b.example", "\N{MINUS SIGN}5.0"]
    assert table_rows(page, "fail on fewer sites") == [["No HSTS header", "2", "1", "2"]]
    assert "No longer reached 1" in text
    chosen = client.get(f"{run_path(runs[0])}/compare?with={runs[1].id}")
    assert "Better 1 Worse 1" in text_of(chosen)


def test_compare_page_needs_two_snapshots(client: Client, site_list: SiteList) -> None:
    run = snapshot(site_list, OLD)
    assert "Nothing to compare with yet" in text_of(client.get(f"{run_path(run)}/compare"))


def test_snapshot_is_exported(client: Client, runs: list[ListRun]) -> None:
    export = client.get(f"{run_path(runs[0])}/export/csv")
    lines = export.getvalue().decode().splitlines()
    assert len(lines) == 4
    assert export["Content-Disposition"] == f'attachment; filename="{runs[0].id}.csv"'
    assert client.get(f"{run_path(runs[0])}/export/jsonl").status_code == 200
    assert client.get(f"{run_path(runs[0])}/export/exe").status_code == 404


def test_runs_page_shows_the_states(client: Client, home: Member) -> None:
    Tier.objects.update(lists=20, list_entries=10_000)
    ids = populate_lists(home, 12, NOW, person_of(home, "owner", "ada@people.test"))
    rows = table_rows(client.get(f"/o/home/lists/{ids['list_id']}/runs"), "newest first")
    assert len(rows) == 9
    assert "Completed 11 of 12 sites judged, 1 failed" in rows[0][0]
    partial = "Partial 12 of 12 sites judged, 3 left out The scans of the month were used up."
    assert any(partial in row[0] for row in rows)
    (running, *_) = table_rows(client.get(f"/o/home/lists/{ids['running_list_id']}/runs"), "newest first")
    assert "Running 3 of 12 sites judged, 1 failed" in running[0]


def test_shared_snapshot_can_be_revoked(client: Client, runs: list[ListRun]) -> None:
    path = f"/o/home/lists/{runs[0].site_list_id}/sharing"
    done = client.post(f"{path}/new", {"run": runs[0].id, "table": "yes"}, follow=True)
    share = ListShare.objects.get()
    assert (share.run, share.has_table) == (runs[0], True)
    address = f"http://localhost:8000/list/{share.id}"
    assert "The page is public." in text_of(done)
    assert address in text_of(done)
    assert Client().get(f"/list/{share.id}").status_code == 200
    badge = text_of(client.get(f"{path}?share={share.id}&check=hsts"))
    assert f'<img src="{address}.svg?check=hsts" alt="50 % of 2 sites use HSTS"' in badge
    assert ActivityEvent.objects.latest("id").action == "list.shared"
    client.post(f"{path}/{share.id}/revoke")
    assert not ListShare.objects.exists()
    assert Client().get(f"/list/{share.id}").status_code == 404


def test_shared_snapshot_hides_sites(client: Client, runs: list[ListRun]) -> None:
    client.post(f"/o/home/lists/{runs[0].site_list_id}/sharing/new")
    share = ListShare.objects.get()
    assert (share.run, share.has_table) == (None, False)
    assert client.post(f"/o/home/lists/{runs[0].site_list_id}/sharing/new", {"run": "run_x"}).status_code == 404


def test_number_of_shares_is_limited(client: Client, runs: list[ListRun]) -> None:
    site_list = runs[0].site_list
    for _ in range(20):
        make_share(site_list)
    path = f"/o/home/lists/{site_list.id}/sharing"
    assert "A list may have 20 shared pages." in text_of(client.get(path))
    assert "Nothing was shared." in text_of(client.post(f"{path}/new", follow=True))
