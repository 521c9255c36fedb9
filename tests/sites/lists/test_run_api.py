"""Tests for list runs, snapshots, exports and shares in the API."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from accounts.keys.services import create_api_key
from accounts.models import Tier
from infrastructure.api.scopes import Scope
from sites.models import ListCount, ListResult, ListRun, SiteList
from sites.models.site_list import ListCounts
from tests.factories import Api, Member
from tests.sites.lists.cast import make_entry, make_list

pytestmark = pytest.mark.django_db
NUMBERS = {"types": ["seo"], "pages_per_entry": 1, "window_hours": 0}


@pytest.fixture
def cities(home: Member) -> SiteList:
    Tier.objects.update(lists=10, list_entries=100)
    site_list = make_list(home, types=["seo"], window_hours=2)
    make_entry(site_list)
    return site_list


def make_snapshot(site_list: SiteList, *, failed: int, age: timedelta = timedelta()) -> ListRun:
    """Create a finished run of one site.

    The check `title` has failed or passed.
    """
    now = timezone.now() - age
    columns = {"status": "completed", "started_at": now, "ended_at": now, "entries": 1, "done": 1, "checks": ["title"]}
    run = ListRun.objects.create(site_list=site_list, **columns, **NUMBERS)
    score = 100 - 20 * failed
    ListResult.objects.create(
        site_list=site_list,
        run=run,
        url="https://example.com/",
        tags=["north"],
        starts_at=now,
        status="done",
        seo_score=score,
        seo_grade="B",
        statuses="f" if failed else "p",
    )
    for tag in ("", "north"):
        data: ListCounts = {
            "sites": 1,
            "judged": 1,
            "scores": {"seo": {str(score): 1}},
            "grades": {"seo": {"B": 1}},
            "checks": {"title": [failed, 0, 1 - failed]},
        }
        ListCount.objects.create(run=run, tag=tag, data=data)
    return run


def status_and_code(response: Any) -> tuple[int, str]:
    return response.status_code, response.json()["code"]


def test_run_can_be_polled_and_cancelled(home: Member, cities: SiteList) -> None:
    path = f"/v1/lists/{cities.id}/runs"
    response = home.api.post(path, {})
    run = response.json()
    assert (response.status_code, response["Location"]) == (202, f"{path}/{run['id']}")
    assert (run["status"], run["entries"], run["requested"], run["window_hours"]) == ("running", 1, True, 2)
    assert home.api.get(response["Location"]).json() == run
    assert home.api.get(path).json() == {"runs": [run], "total": 1, "limit": 20, "offset": 0}
    assert home.api.get(f"/v1/lists/{cities.id}").json()["run"] == run
    assert status_and_code(home.api.post(path, {})) == (409, "LIST_RUNNING")
    assert status_and_code(home.api.get(f"/v1/lists/{cities.id}/snapshots/{run['id']}")) == (404, "SNAPSHOT_NOT_FOUND")
    cancelled: Any = home.api.delete(response["Location"])
    assert (cancelled.json()["status"], cancelled.json()["left_out"]) == ("cancelled", 1)
    assert home.api.delete(response["Location"]).json() == cancelled.json()
    assert home.api.get(f"/v1/lists/{cities.id}/snapshots/{run['id']}").json()["sites"] == 1


def test_key_with_scan_scope_can_run_lists(home: Member, cities: SiteList) -> None:
    scanner = Api(create_api_key(organization=home.organization, name="scan", scope=Scope.SCAN)[1])
    reader = Api(create_api_key(organization=home.organization, name="read", scope=Scope.READ)[1])
    path, entry = f"/v1/lists/{cities.id}", cities.entries.get()
    for address in (f"{path}/runs", f"{path}/entries/{entry.id}/scan"):
        assert status_and_code(reader.post(address, {})) == (403, "INSUFFICIENT_SCOPE")
        assert scanner.post(address, {}).status_code == 202
    run = ListRun.objects.get()
    assert status_and_code(reader.delete(f"{path}/runs/{run.id}")) == (403, "INSUFFICIENT_SCOPE")
    assert scanner.delete(f"{path}/runs/{run.id}").status_code == 200
    assert status_and_code(scanner.post(f"{path}/shares", {})) == (403, "INSUFFICIENT_SCOPE")


def test_single_entry_is_scanned_again(home: Member, cities: SiteList) -> None:
    entry = cities.entries.get()
    path = f"/v1/lists/{cities.id}/entries/{entry.id}"
    response = home.api.post(f"{path}/scan", {})
    assert (response.status_code, response["Location"]) == (202, path)
    assert response.json() == {"entry_id": entry.id, "url": entry.url, "audit_id": None}
    assert status_and_code(home.api.post(f"{path}/scan", {})) == (409, "LIST_RUNNING")
    assert not ListRun.objects.exists()


def test_run_of_another_list_is_not_found(home: Member, stranger: Member, cities: SiteList) -> None:
    run = make_snapshot(cities, failed=0)
    other = make_list(home)
    for ending in ("", "/diff", "/export/csv", "/export/jsonl"):
        path = f"/v1/lists/{{}}/snapshots/{run.id}{ending}"
        assert status_and_code(home.api.get(path.format(other.id))) == (404, "SNAPSHOT_NOT_FOUND")
        assert status_and_code(stranger.api.get(path.format(cities.id))) == (404, "LIST_NOT_FOUND")
    for method in ("GET", "DELETE"):
        assert status_and_code(home.api.call(method, f"/v1/lists/{other.id}/runs/{run.id}")) == (404, "RUN_NOT_FOUND")
        assert status_and_code(stranger.api.call(method, f"/v1/lists/{cities.id}/runs/{run.id}")) == (
            404,
            "LIST_NOT_FOUND",
        )


def test_snapshots_can_be_compared(home: Member, cities: SiteList) -> None:
    before = make_snapshot(cities, failed=1, age=timedelta(days=7))
    after = make_snapshot(cities, failed=0)
    path = f"/v1/lists/{cities.id}/snapshots/{after.id}"
    whole = home.api.get(path).json()
    assert whole["run"] == home.api.get(f"/v1/lists/{cities.id}/runs/{after.id}").json()
    assert (whole["types"]["seo"]["mean"], whole["tags"][0]["tag"], whole["checks"][0]["passed"]) == (100, "north", 1)
    assert home.api.get(f"{path}?tag=north").json()["judged"] == 1
    assert home.api.get(f"{path}?tag=south").json()["judged"] == 0
    difference = home.api.get(f"{path}/diff").json()
    assert (difference["run_id"], difference["with_run_id"]) == (after.id, before.id)
    assert difference["sites"]["better"] == 1
    assert [site["change"] for site in difference["better"]] == [20]
    assert [failure["check"] for failure in difference["fewer_failures"]] == ["title"]
    assert home.api.get(f"{path}/diff?with={before.id}").json() == difference
    reversed_difference = home.api.get(f"/v1/lists/{cities.id}/snapshots/{before.id}/diff?with={after.id}").json()
    assert reversed_difference["sites"]["worse"] == 1
    assert status_and_code(home.api.get(f"/v1/lists/{cities.id}/snapshots/{before.id}/diff")) == (
        404,
        "SNAPSHOT_NOT_FOUND",
    )
    adoption = home.api.get(f"/v1/lists/{cities.id}/adoption?check=title").json()
    assert [(run["run_id"], run["passed"], run["of"]) for run in adoption["runs"]] == [
        (before.id, 0, 1),
        (after.id, 1, 1),
    ]
    assert home.api.get(f"/v1/lists/{cities.id}/adoption?check=title&limit=1").json()["runs"] == adoption["runs"][1:]
    unknown: Any = home.api.get(f"/v1/lists/{cities.id}/adoption?check=no-such-check")
    assert (unknown.status_code, unknown.json()["code"]) == (400, "INVALID_PARAMS")
    assert home.api.get(f"/v1/lists/{cities.id}/adoption?check=csp-present").json()["runs"] == []


def test_snapshots_are_exported(home: Member, cities: SiteList) -> None:
    run = make_snapshot(cities, failed=1)
    path = f"/v1/lists/{cities.id}/snapshots/{run.id}/export"
    table: Any = home.api.get(f"{path}/csv")
    assert table["Content-Disposition"] == f'attachment; filename="{run.id}.csv"'
    assert (table["Cache-Control"], table["Vary"]) == ("private, no-cache", "Authorization")
    header, row = table.getvalue().decode().splitlines()
    assert header.startswith("url,tags,")
    assert row.startswith("https://example.com/,north,")
    objects: Any = home.api.get(f"{path}/jsonl")
    assert objects["Content-Type"].startswith("text/jsonl")
    assert [json.loads(line)["url"] for line in objects.getvalue().splitlines()] == ["https://example.com/"]
    assert status_and_code(home.api.get(f"{path}/xml")) == (400, "INVALID_PARAMS")


def test_snapshot_export_can_be_imported(home: Member, cities: SiteList) -> None:
    run = make_snapshot(cities, failed=1)
    table: Any = home.api.get(f"/v1/lists/{cities.id}/snapshots/{run.id}/export/csv")
    other = make_list(home)
    put: Any = home.api.call("PUT", f"/v1/lists/{other.id}/entries", table.getvalue(), "text/csv")
    assert put.json() == {"added": 1, "removed": 0, "changed": 0, "unchanged": 0}
    assert [(entry.url, entry.tags) for entry in other.entries.all()] == [("https://example.com/", ["north"])]


def test_shares_can_be_revoked(home: Member, stranger: Member, cities: SiteList) -> None:
    run = make_snapshot(cities, failed=0)
    path = f"/v1/lists/{cities.id}/shares"
    created = home.api.post(path, {"run_id": run.id, "table": True})
    share = created.json()
    assert (created.status_code, created["Location"]) == (201, f"{path}/{share['id']}")
    assert (share["run_id"], share["table"]) == (run.id, True)
    assert share["share_url"].endswith(f"/list/{share['id']}")
    always = home.api.post(path, {}).json()
    assert (always["run_id"], always["table"]) == (None, False)
    assert home.api.get(path).json()["shares"] == [always, share]
    assert status_and_code(stranger.api.get(path)) == (404, "LIST_NOT_FOUND")
    assert status_and_code(stranger.api.delete(created["Location"])) == (404, "LIST_NOT_FOUND")
    assert status_and_code(home.api.post(path, {"run_id": "x"})) == (404, "SNAPSHOT_NOT_FOUND")
    assert home.api.delete(created["Location"]).status_code == 204
    assert status_and_code(home.api.delete(created["Location"])) == (404, "SHARE_NOT_FOUND")
    assert home.api.get(path).json()["shares"] == [always]
