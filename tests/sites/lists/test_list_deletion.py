"""Tests for the deletion of lists, with limits that make small lists large."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from sites.exported import KINDS
from sites.lists import collecting, list_deletion, services, starting
from sites.models import ListCount, ListEntry, ListResult, ListRun, ListShare, SiteList
from sites.models.site_list import ListCounts
from tests.factories import Member, key_caller
from tests.page_reading import browser_of
from tests.sites.lists.cast import make_entry, make_list

pytestmark = pytest.mark.django_db
MODELS = (ListRun, ListEntry, ListResult, ListCount, ListShare)


def make_full_list(member: Member) -> SiteList:
    """Create a list with rows of all kinds, among them a run and results that wait for their start."""
    empty_counts: ListCounts = {"sites": 0, "judged": 0, "scores": {}, "grades": {}, "checks": {}}
    site_list = make_list(member, next_run_at=timezone.now() - timedelta(hours=1), entries_count=1)
    run = ListRun.objects.create(site_list=site_list, types=["seo"], pages_per_entry=1, window_hours=0, entries=1)
    entry = make_entry(site_list, tags=["north"])
    for run_of_result in (run, None):
        result = ListResult.objects.create(
            site_list=site_list, run=run_of_result, entry=entry, starts_at=timezone.now(), url=entry.url
        )
    ListEntry.objects.filter(id=entry.id).update(result=result)
    ListCount.objects.create(run=run, data=empty_counts)
    ListShare.objects.create(site_list=site_list, run=run)
    return site_list


def numbers_of_rows() -> list[int]:
    """Return the numbers of lists and of rows of other kinds."""
    return [SiteList.with_deleted.count(), *(model.objects.count() for model in MODELS)]


def test_deleted_list_deletes_its_results(home: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(list_deletion, "ROWS_PER_DELETION", 1)
    site_list, other = make_full_list(home), make_full_list(home)
    services.delete_list(caller=key_caller(home.organization.id), list_id=site_list.id)
    assert numbers_of_rows() == [1, 1, 1, 2, 1, 1]
    assert home.api.delete(f"/v1/lists/{other.id}").status_code == 204
    assert numbers_of_rows() == [0] * 6


def test_large_list_is_hidden_and_then_deleted(home: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(list_deletion, "MAX_ROWS_AT_ONCE", 1)
    monkeypatch.setattr(list_deletion, "ROWS_PER_DELETION", 1)
    site_list, other = make_full_list(home), make_list(home)
    path, address = f"/v1/lists/{site_list.id}", f"/o/{home.organization.slug}/lists/{site_list.id}"
    share = ListShare.objects.get().share_url
    assert collecting.due_results(home.organization.id, timezone.now()).exists()
    assert home.api.delete(path).status_code == 204
    assert numbers_of_rows() == [2, 1, 1, 2, 1, 0]
    for request in (path, f"{path}/entries", f"{path}/runs", f"{path}/adoption?check=hsts"):
        assert home.api.get(request).status_code == 404, request
    assert [row["id"] for row in home.api.get("/v1/lists").json()["lists"]] == [other.id]
    browser = browser_of(home)
    assert browser.get(address).status_code == browser.get(share).status_code == 404
    exported = [row.pk for kind in KINDS if kind.name.startswith("list") for row in kind.rows(home.organization.id)]
    assert exported == [other.id]
    # The scans of its entries do not start any more.
    assert not collecting.due_results(home.organization.id, timezone.now()).exists()
    assert starting.start_due(timezone.now(), lambda: True) == 0
    assert ListRun.objects.get().has_ended
    left = iter([True] * 4)
    assert list_deletion.delete_hidden_lists(lambda: next(left, False)) is False
    assert (ListResult.objects.count(), ListEntry.objects.count()) == (0, 1)
    assert list_deletion.delete_hidden_lists() is True
    assert numbers_of_rows() == [1, 0, 0, 0, 0, 0]
