"""Tests for lists and their entries in the API."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from accounts.keys.services import create_api_key
from accounts.mailing.topics import Subscription
from accounts.models import ActivityEvent, Tier
from infrastructure.api.scopes import Scope
from scans.models import IdempotencyRecord
from sites.models import ListRun, SiteList
from sites.recipients import warning_of
from tests.factories import Api, Member, member_of, person_of, register_webhook
from tests.queries import counted
from tests.sites.lists.cast import make_entries, make_entry, make_list
from website_scan.ids import is_id, new_id

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _large_plan(db: None) -> None:
    Tier.objects.update(lists=10, list_entries=1_000)


def status_and_code(response: Any) -> tuple[int, str]:
    return response.status_code, response.json()["code"]


def test_new_list_has_default_values(home: Member) -> None:
    ada = person_of(home, "owner", "ada@example.com")
    created = home.api.post("/v1/lists", {"name": "  All   cities "})
    body = created.json()
    assert created.status_code == 201
    assert created["Location"] == f"/v1/lists/{body['id']}"
    assert is_id("lst", body["id"])
    assert home.api.get(created["Location"]).json() == body
    assert body | {"id": "", "created_at": "", "list_url": ""} == {
        "id": "",
        "name": "All cities",
        "types": ["security", "performance", "accessibility", "seo"],
        "pages_per_entry": 1,
        "every": None,
        "window_hours": 24,
        "timezone": "UTC",
        "notify": {"emails": [], "webhooks": True},
        "unsubscribed": [],
        "warning": warning_of(SiteList),
        "entries": 0,
        "next_run_at": None,
        "run": None,
        "created_at": "",
        "list_url": "",
    }
    assert body["list_url"].endswith(f"/o/{home.organization.slug}/lists/{body['id']}")
    path = created["Location"]
    body = home.api.patch(path, {"notify": {"emails": [ada.email]}, "types": ["seo", "security"]}).json()
    assert (body["notify"]["emails"], body["warning"], body["types"]) == ([ada.email], None, ["security", "seo"])
    Subscription(ada, f"list:{body['id']}").stop()
    assert home.api.get(path).json()["unsubscribed"] == [ada.email]
    register_webhook(home, "https://hooks.example.com/", ["list.completed"])
    assert home.api.get(path).json()["warning"] is None


def test_schedule_determines_the_next_run(home: Member) -> None:
    created = home.api.post("/v1/lists", {"name": "a", "every": "quarter", "timezone": "Europe/Berlin"}).json()
    assert created["next_run_at"] > f"{timezone.now():%Y-%m-%dT%H:%M:%SZ}"
    path = f"/v1/lists/{created['id']}"
    weekly = home.api.patch(path, {"every": "week"}).json()
    assert weekly["next_run_at"] is not None
    assert home.api.patch(path, {"window_hours": 3}).json()["next_run_at"] == weekly["next_run_at"]
    assert home.api.patch(path, {"every": None}).json()["next_run_at"] is None


def test_plan_limits_the_lists(home: Member) -> None:
    Tier.objects.update(lists=1, pages_per_audit=5, shortest_interval="month")
    assert "5 for a site" in home.api.post("/v1/lists", {"name": "a", "pages_per_entry": 6}).json()["error"]
    assert "every month at most" in home.api.post("/v1/lists", {"name": "a", "every": "week"}).json()["error"]
    assert home.api.post("/v1/lists", {"name": "a", "every": "month", "pages_per_entry": 5}).status_code == 201
    refused = home.api.post("/v1/lists", {"name": "b"})
    assert status_and_code(refused) == (409, "LIST_LIMIT")
    assert "1 list" in refused.json()["error"]


def test_list_is_created_once_per_key(home: Member) -> None:
    body = {"name": "a", "request": {"headers": {"X-Key": "secret"}}}
    first = home.api.post("/v1/lists", body, Idempotency_Key="k")
    again = home.api.post("/v1/lists", body, Idempotency_Key="k")
    assert (again.status_code, again["Idempotent-Replayed"], again.json()) == (201, "true", first.json())
    assert SiteList.objects.count() == 1
    assert "secret" not in IdempotencyRecord.objects.get().response
    for other in (body | {"name": "b"}, body | {"request": {"headers": {"X-Key": "other"}}}):
        assert status_and_code(home.api.post("/v1/lists", other, Idempotency_Key="k")) == (422, "IDEMPOTENCY_MISMATCH")


def test_lists_are_listed_newest_first(home: Member) -> None:
    older, newer = make_list(home, name="older"), make_list(home, name="newer")
    make_list(member_of("Other"))
    for hours in (5, 1):
        started_at = timezone.now() - timedelta(hours=hours)
        columns = {"status": "completed", "types": ["seo"], "pages_per_entry": 1, "window_hours": 0, "entries": hours}
        ListRun.objects.create(site_list=older, started_at=started_at, **columns)
    answer = home.api.get("/v1/lists").json()
    assert [site_list["name"] for site_list in answer["lists"]] == ["newer", "older"]
    assert [site_list["run"] and site_list["run"]["entries"] for site_list in answer["lists"]] == [None, 1]
    assert (answer["total"], answer["limit"], answer["offset"]) == (2, 20, 0)
    assert home.api.get("/v1/lists?limit=1&offset=1").json()["lists"] == answer["lists"][1:]
    assert newer.id != older.id


def test_list_query_count_is_constant(home: Member) -> None:
    home.api.get("/v1/lists")  # The first request with an API key stores when it was used.

    def measured(count: int) -> int:
        for _ in range(count):
            make_list(home)
        with counted() as measured:
            assert home.api.get("/v1/lists?limit=100").status_code == 200
        return len(measured)

    assert measured(1) == measured(20)


def test_foreign_lists_are_not_found(home: Member, stranger: Member) -> None:
    site_list, other = make_list(home), make_list(home)
    entry = make_entry(site_list)
    path = f"/v1/lists/{site_list.id}"
    for id in (site_list.id, new_id("lst"), new_id("mon"), "x", "%00", f"{site_list.id}%0A"):
        api = stranger.api if id == site_list.id else home.api
        for method, ending, body in (
            *(("GET", "", b""), ("PATCH", "", b'{"name": "b"}'), ("DELETE", "", b""), ("GET", "/entries", b"")),
            *(("PUT", "/entries", b'{"entries": []}'), ("POST", "/entries", b'{"entries": []}')),
            *(("GET", f"/entries/{entry.id}", b""), ("DELETE", f"/entries/{entry.id}", b"")),
            ("PATCH", f"/entries/{entry.id}", b'{"note": "b"}'),
        ):
            response = api.call(method, f"/v1/lists/{id}{ending}", body, "application/json")
            assert status_and_code(response) == (404, "LIST_NOT_FOUND"), (method, id, ending)
    for wrong in (f"/v1/lists/{other.id}/entries/{entry.id}", f"{path}/entries/{new_id('ent')}", f"{path}/entries/x"):
        for method, body in (("GET", b""), ("DELETE", b""), ("PATCH", b'{"note": "b"}')):
            response = home.api.call(method, wrong, body, "application/json")
            assert status_and_code(response) == (404, "ENTRY_NOT_FOUND"), (method, wrong)
    assert home.api.get(f"{path}/entries/{entry.id}").json()["note"] == ""


def test_key_without_scope_cannot_change_lists(home: Member) -> None:
    site_list = make_list(home)
    entry = make_entry(site_list)
    path = f"/v1/lists/{site_list.id}"
    for scope in (Scope.READ, Scope.SCAN):
        api = Api(create_api_key(organization=home.organization, name=scope, scope=scope)[1])
        for method, address in (
            *(("POST", "/v1/lists"), ("PATCH", path), ("DELETE", path), ("PUT", f"{path}/entries")),
            *(("POST", f"{path}/entries"), ("PATCH", f"{path}/entries/{entry.id}")),
            ("DELETE", f"{path}/entries/{entry.id}"),
        ):
            response = api.call(method, address, b"{}", "application/json")
            assert status_and_code(response) == (403, "INSUFFICIENT_SCOPE"), (scope, method, address)
        assert api.get(f"{path}/entries").json()["total"] == 1


def test_entry_can_be_changed_and_deleted(home: Member) -> None:
    site_list = make_list(home)
    put = home.api.call("PUT", f"/v1/lists/{site_list.id}/entries", b"a.com,x\nb.com", "text/csv")
    assert put.status_code == 200
    (first, _) = home.api.get(f"/v1/lists/{site_list.id}/entries").json()["entries"]
    path = f"/v1/lists/{site_list.id}/entries/{first['id']}"
    assert home.api.get(path).json() == first
    changed = home.api.patch(path, {"tags": ["y", " y", ""], "note": " New  note "}).json()
    assert (changed["tags"], changed["note"], changed["id"]) == (["y"], "New note", first["id"])
    assert home.api.patch(path, {"note": ""}).json()["note"] == ""
    assert home.api.patch(path, {"note": ""}).status_code == 200
    for body in (
        *({"tags": "x"}, {"tags": [5]}, {"tags": None}, {"tags": ["a;b"]}, {"tags": ["=1"]}, {"note": None}),
        *({"note": "=1"}, {"note": "x" * 501}, {"note": "a\0"}, {"url": "https://c.com/"}, {"state": "new"}),
        {"tags": [str(number) for number in range(21)]},
    ):
        assert status_and_code(home.api.patch(path, body)) == (400, "INVALID_PARAMS"), body
    assert home.api.delete(path).status_code == 204
    assert status_and_code(home.api.delete(path)) == (404, "ENTRY_NOT_FOUND")
    assert home.api.get(f"/v1/lists/{site_list.id}").json()["entries"] == 1
    actions = list(
        ActivityEvent.objects.filter(action__startswith="list.").order_by("id").values_list("action", flat=True)
    )
    assert actions == ["list.imported", "list.entry_changed", "list.entry_changed", "list.entry_deleted"]


def test_changed_entry_respects_the_tag_limit(home: Member) -> None:
    site_list = make_list(home)
    make_entries(site_list, [{"url": f"https://{n}.com/", "tags": [f"t{n}"]} for n in range(200)])
    path = f"/v1/lists/{site_list.id}/entries/{site_list.entries.earliest('id').id}"
    assert status_and_code(home.api.patch(path, {"tags": ["new", "newer"]})) == (400, "INVALID_PARAMS")
    assert home.api.patch(path, {"tags": ["new"]}).status_code == 200


def test_entry_contains_its_latest_result(home: Member) -> None:
    site_list = make_list(home)
    entry = make_entry(
        site_list,
        state="partial",
        seo_score=71,
        seo_grade="C",
        seo_change=-9,
        moved_to="www.example.com",
        security_score=100,
        security_grade="A+",
        failing=["title"],
        history=[80, 85],
        error_code="TIMEOUT",
        error_message="Too slow.",
        judged_at=timezone.now(),
    )
    body = home.api.get(f"/v1/lists/{site_list.id}/entries/{entry.id}").json()
    assert body["results"] == {
        "security": {"score": 100, "grade": "A+", "change": None},
        "seo": {"score": 71, "grade": "C", "change": -9},
    }
    assert list(body["results"]) == ["security", "seo"]
    assert (body["state"], body["moved_to"], body["failing"]) == ("partial", "www.example.com", ["title"])
    assert body["error"] == {"code": "TIMEOUT", "message": "Too slow."}


@pytest.mark.parametrize("content_type", ["", "application/xml", "multipart/form-data; boundary=x", "text/html"])
def test_unsupported_media_type_is_refused(home: Member, content_type: str) -> None:
    path = f"/v1/lists/{make_list(home).id}/entries"
    refused = home.api.call("PUT", path, b"a.com", content_type)
    assert status_and_code(refused) == (415, "UNSUPPORTED_MEDIA_TYPE")
    assert "or as text/csv or text/plain" in refused.json()["error"]


def test_too_large_uploads_are_refused(home: Member) -> None:
    path = f"/v1/lists/{make_list(home).id}/entries"
    assert status_and_code(home.api.call("PUT", path, b"a" * (16 * 1024 * 1024 + 1), "text/csv")) == (
        413,
        "PAYLOAD_TOO_LARGE",
    )
    refused = home.api.call("PUT", path, b"a.com", "text/csv", Content_Encoding="gzip")
    assert status_and_code(refused) == (415, "UNSUPPORTED_MEDIA_TYPE")
    assert status_and_code(home.api.call("PUT", path, b"", "text/csv")) == (400, "INVALID_PARAMS")
