"""Tests for the page of a single site in a list."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from sites.models import ListEntry, ListResult, SiteList
from tests.factories import Member
from tests.page_reading import browser_of, page_of, text_of
from tests.queries import counted
from tests.sites.lists.cast import make_list
from tests.sites.lists.snapshot_cast import SnapshotSite, snapshot

A = "https://a.example/start"
NOW = timezone.now()


@pytest.fixture
def client(home: Member) -> Client:
    return browser_of(home)


@pytest.fixture
def entry(home: Member) -> ListEntry:
    """Return a site with a single scan and two snapshots.

    The site was not reached in the later snapshot.
    """
    site_list = make_list(home)
    site = SnapshotSite(A, {"security": 60, "seo": 90}, "pppp", ("north",))
    snapshot(site_list, [site], at=NOW - timedelta(days=14))
    snapshot(site_list, [SnapshotSite(A)], at=NOW - timedelta(days=7))
    entry = site_list.entries.get()
    ListResult.objects.create(
        site_list=site_list, entry=entry, url=A, starts_at=NOW, ended_at=NOW, status="done", seo_score=95, seo_grade="A"
    )
    return entry


def path_of(entry: ListEntry) -> str:
    return f"/o/{entry.site_list.organization.slug}/lists/{entry.site_list_id}/entries/{entry.id}"


def test_page_shows_all_results_newest_first(client: Client, entry: ListEntry) -> None:
    with counted() as queries:
        page = client.get(path_of(entry))
    assert page.status_code == 200
    assert len(queries) <= 16
    rows = [" ".join(row.text_content().split()) for row in page_of(page).xpath("//tbody/tr")]
    assert [("A 95" in row, "D 60" in row, "Not reached" in row) for row in rows] == [
        (True, False, False),
        (False, False, True),
        (False, True, False),
    ]
    assert "Scanned by itself" in rows[0]
    assert page_of(page).xpath("//ul[@class='lines']//svg/@aria-label") == ["SEO: 90, 95"], "oldest first"
    runs = [run.id for run in entry.site_list.runs.order_by("-started_at")]
    links = page_of(page).xpath("//tbody//a[text()='Snapshot']/@href")
    assert [link.rpartition("/")[2] for link in links] == runs


def test_table_links_to_the_page_of_a_site(client: Client, entry: ListEntry) -> None:
    list_path = path_of(entry).partition("/entries/")[0]
    (link,) = page_of(client.get(list_path)).xpath("//a[@class='address']/@href")
    assert f"{list_path.rpartition('/')[0]}/{link}" == path_of(entry)


def test_tags_are_edited_on_the_page(client: Client, entry: ListEntry) -> None:
    done = client.post(path_of(entry), {"tags": " south ;north; south", "note": "  Call   Ann "}, follow=True)
    assert "Tags and note were saved." in text_of(done)
    entry.refresh_from_db()
    assert (entry.tags, entry.note) == (["south", "north"], "Call Ann")
    refused = client.post(path_of(entry), {"tags": "=SUM(A1)", "note": "Kept"})
    assert refused.status_code == 400
    assert "A tag must not begin with an equals sign" in text_of(refused)
    fields = {field.name: field.value for field in page_of(refused).xpath("//input[@name='tags' or @name='note']")}
    assert fields == {"tags": "=SUM(A1)", "note": "Kept"}
    entry.refresh_from_db()
    assert entry.note == "Call Ann"


def test_viewers_cannot_change_the_page(home: Member, entry: ListEntry) -> None:
    viewer = browser_of(home, "viewer")
    page = viewer.get(path_of(entry))
    assert page.status_code == 200
    assert not page_of(page).xpath("//main//form")
    assert viewer.post(path_of(entry), {"tags": "", "note": "x"}).status_code == 403
    entry.refresh_from_db()
    assert entry.note == ""


def test_site_of_another_list_is_not_found(home: Member, stranger: Member, entry: ListEntry) -> None:
    other: SiteList = make_list(home)
    client = browser_of(home)
    assert client.get(path_of(entry).replace(entry.site_list_id, other.id)).status_code == 404
    assert client.get(path_of(entry).replace(entry.id, "ent_0000000000000000000000")).status_code == 404
    assert browser_of(stranger).get(path_of(entry)).status_code == 404


def test_new_site_has_no_result_yet(client: Client, home: Member, entry: ListEntry) -> None:
    ListResult.objects.all().delete()
    assert "No result yet The next run of the list judges this site, or scan it now." in text_of(
        client.get(path_of(entry))
    )
