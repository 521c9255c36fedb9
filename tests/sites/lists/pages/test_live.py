"""Tests that a list's page shows progress and polls for changed rows."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from django.test import Client
from django.utils import timezone

from sites.models import ListEntry, ListResult, SiteList
from tests.factories import Member
from tests.page_reading import browser_of, page_of, text_of
from tests.sites.lists.cast import make_list
from tests.sites.lists.snapshot_cast import SnapshotSite, snapshot

HTMX = {"HX-Request": "true"}


@pytest.fixture
def client(home: Member) -> Client:
    return browser_of(home)


@pytest.fixture
def site_list(home: Member) -> SiteList:
    site_list = make_list(home)
    snapshot(site_list, [SnapshotSite(f"https://{letter}.example/", {"seo": 50}, "p") for letter in "abc"])
    site_list.entries.update(state="judged", judged_at=timezone.now())
    return site_list


def path_of(site_list: SiteList) -> str:
    return f"/o/{site_list.organization.slug}/lists/{site_list.id}"


def scan_again(entry: ListEntry, status: str) -> ListResult:
    return ListResult.objects.create(
        site_list=entry.site_list, entry=entry, url=entry.url, starts_at=timezone.now(), status=status
    )


def addresses_to_ask(page: Any) -> list[str]:
    return [str(each) for each in page_of(page).xpath("//*[@id='live']/@hx-get")]


def updated_rows(page: Any) -> list[str]:
    return [str(each) for each in page_of(page).xpath("//tr[@hx-swap-oob='true']/@id")]


@pytest.mark.parametrize("status", ["waiting", "started", "ended"])
def test_repeated_scan_is_marked(client: Client, site_list: SiteList, status: str) -> None:
    entry = site_list.entries.get(url="https://b.example/")
    scan_again(entry, status)
    page = client.get(path_of(site_list))
    rows = page_of(page).xpath("//tr[.//*[text()='Being scanned']]/@id")
    assert rows == [f"site-{entry.id}"]
    assert "1 site of this page is being scanned." in text_of(page)
    (address,) = addresses_to_ask(page)
    assert urlsplit(address).path == f"{path_of(site_list)}/live"


def test_page_without_running_scans_does_not_poll(client: Client, site_list: SiteList) -> None:
    scan_again(site_list.entries.earliest("url"), "done")
    page = client.get(path_of(site_list))
    assert addresses_to_ask(page) == []
    assert "Being scanned" not in text_of(page)
    assert not page_of(page).xpath("//script[contains(@src, 'htmx')]")


def test_polling_returns_only_changed_rows(client: Client, site_list: SiteList) -> None:
    entry = site_list.entries.get(url="https://b.example/")
    result = scan_again(entry, "started")
    (address,) = addresses_to_ask(client.get(path_of(site_list)))
    same = client.get(address, headers=HTMX)
    assert (updated_rows(same), addresses_to_ask(same)) == ([], [address])
    result.status = "done"
    result.save()
    ListEntry.objects.filter(id=entry.id).update(result=result, seo_score=93, seo_grade="A")
    changed = client.get(address, headers=HTMX)
    assert updated_rows(changed) == [f"site-{entry.id}"]
    assert "93" in text_of(changed)
    assert addresses_to_ask(changed) == []


def test_page_reloads_at_the_end(client: Client, site_list: SiteList) -> None:
    (run,) = site_list.runs.all()
    run.status, run.ended_at = "running", None
    run.save()
    first = site_list.entries.earliest("url")
    ListResult.objects.filter(run=run).update(status="waiting")
    ListResult.objects.filter(run=run, entry=first).update(status="started")
    page = client.get(path_of(site_list))
    assert "reload" not in text_of(page).lower()
    assert page_of(page).xpath("//tr[.//*[text()='Being scanned']]/@id") == [f"site-{first.id}"]
    (address,) = addresses_to_ask(page)
    assert parse_qs(urlsplit(address).query)["run"] == [run.id]
    run.status, run.ended_at = "completed", timezone.now()
    run.save()
    assert client.get(address, headers=HTMX)["HX-Refresh"] == "true"


def test_rows_of_other_lists_are_not_sent(client: Client, home: Member, site_list: SiteList) -> None:
    other = make_list(home)
    snapshot(other, [SnapshotSite("https://other.example/")])
    foreign = other.entries.get().id
    scan_again(site_list.entries.earliest("url"), "started")
    for row in (f"{foreign}.0.1", "ent_x.1.0", "'", "ent_0000000000000000000000.1.1", "\0"):
        answer = client.get(f"{path_of(site_list)}/live", {"row": row}, headers=HTMX)
        assert (answer.status_code, updated_rows(answer)) == (200, [])


def test_fact_columns_can_be_filtered(client: Client, site_list: SiteList) -> None:
    first, second, _ = site_list.entries.order_by("url")
    facts = {"hsts": False, "status": 200, "generator": "<b>Joomla</b>", "language": "de"}
    site_list.entries.filter(id=first.id).update(facts=facts)
    scan_again(second, "started")
    path = f"{path_of(site_list)}?show_hsts=yes&show_generator=yes"
    page = page_of(client.get(path))
    rows = [
        [cell.text_content().strip() for cell in row.xpath("td[@class='fact']")] for row in page.xpath("//tbody/tr")
    ]
    assert rows == [["No", "<b>Joomla</b>"], ["\N{EN DASH}"] * 2, ["\N{EN DASH}"] * 2]
    assert "show_hsts=yes" in page.xpath("//thead//a/@href")[0]
    assert len(page.xpath("//details[@open]//input[@checked]")) == 2
    (address,) = page.xpath("//*[@id='live']/@hx-get")
    ListResult.objects.filter(status="started").update(status="done")
    (row,) = page_of(client.get(address, headers=HTMX)).xpath("//tr")
    assert len(row.xpath("td[@class='fact']")) == 2
    filtered = page_of(client.get(f"{path_of(site_list)}?hsts=no&generator=JOOMLA"))
    assert filtered.xpath("//tbody/tr/@id") == [f"site-{first.id}"]
