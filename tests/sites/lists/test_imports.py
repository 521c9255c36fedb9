"""Tests for importing sites into a list."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from django.db import transaction
from django.utils import timezone

from accounts.models import ActivityEvent, Tier
from sites.lists.importing import difference
from sites.lists.services import delete_entries, tag_entries, tags_of
from sites.lists.uploads import read_rows
from sites.models import ListEntry, ListResult, ListRun, SiteList
from tests.factories import Member, key_caller, member_of, person_of
from tests.queries import counted
from tests.sites.lists.cast import make_entries, make_entry, make_list
from tests.threads import close_connections
from website_scan.net.policy import Policy

pytestmark = pytest.mark.django_db


@pytest.fixture
def cities(home: Member) -> SiteList:
    Tier.objects.update(list_entries=1_000, lists=10)
    return make_list(home)


def upload_entries(
    member: Member, site_list: SiteList, upload: str, media_type: str = "text/csv", method: str = "PUT"
) -> Any:
    return member.api.call(method, f"/v1/lists/{site_list.id}/entries", upload.encode(), media_type)


def import_counts(response: Any) -> tuple[int, ...]:
    assert response.status_code == 200, response.content
    return tuple(response.json().values())


def stored_entries(site_list: SiteList) -> dict[str, tuple[list[str], str]]:
    rows = site_list.entries.order_by("url")
    site_list.refresh_from_db()
    assert site_list.entries_count == len(rows)
    return {entry.url: (entry.tags, entry.note) for entry in rows}


def test_put_keeps_existing_entries(home: Member, cities: SiteList) -> None:
    assert import_counts(upload_entries(home, cities, "a.com,x\nb.com,x;y,Note\nc.com")) == (3, 0, 0, 0)
    a, b = (cities.entries.get(host=host) for host in ("a.com", "b.com"))
    ListEntry.objects.filter(id__in=[a.id, b.id]).update(
        seo_score=90, seo_grade="A", history=[80, 90], failing=["hsts"]
    )
    assert import_counts(upload_entries(home, cities, "d.com\nb.com,y,Note\na.com,x")) == (1, 1, 1, 1)
    assert stored_entries(cities) == {
        "https://a.com/": (["x"], ""),
        "https://b.com/": (["y"], "Note"),
        "https://d.com/": ([], ""),
    }
    for before in (a, b):
        now = ListEntry.objects.get(id=before.id)
        assert (now.url, now.seo_score, now.history, now.failing) == (before.url, 90, [80, 90], ["hsts"])
    assert import_counts(upload_entries(home, cities, "d.com\nb.com,y,Note\na.com,x")) == (0, 0, 0, 3)
    assert import_counts(upload_entries(home, cities, '{"entries": []}', "application/json")) == (0, 3, 0, 0)
    assert stored_entries(cities) == {}
    (last, *_) = ActivityEvent.objects.order_by("-id")
    assert (last.action, last.details["removed"], last.object_name) == ("list.imported", 3, "Cities")
    assert ActivityEvent.objects.filter(action="list.imported").count() == 3, "nothing changed once"


def test_post_merges_tags(home: Member, cities: SiteList) -> None:
    upload_entries(home, cities, "a.com,x,Note\nb.com,y")
    assert import_counts(upload_entries(home, cities, "a.com,x\nb.com,z,Other\nc.com\nc.com,w", method="POST")) == (
        1,
        0,
        1,
        1,
    )
    assert stored_entries(cities) == {
        "https://a.com/": (["x"], "Note"),
        "https://b.com/": (["y", "z"], "Other"),
        "https://c.com/": (["w"], ""),
    }
    many = ";".join(f"t{number}" for number in range(20))
    refused = upload_entries(home, cities, f"d.com\nb.com,{many}", method="POST")
    assert (refused.status_code, refused.json()["code"]) == (400, "INVALID_ENTRIES")
    assert [entry["line"] for entry in refused.json()["entries"]] == [2]
    assert "https://d.com/" not in stored_entries(cities)


def test_refused_import_changes_nothing(home: Member, cities: SiteList) -> None:
    upload_entries(home, cities, "a.com,x")
    before = stored_entries(cities)
    for upload in ("b.com\nlocalhost", "b.com\nc.com,=1", "b.com\n" + "\n".join(f"c{n}.com,t{n}" for n in range(201))):
        assert upload_entries(home, cities, upload).status_code == 400, upload[:50]
        assert stored_entries(cities) == before


def test_import_matches_its_preview(home: Member, cities: SiteList) -> None:
    upload_entries(home, cities, "a.com,x\nb.com\nc.com")
    rows = read_rows(b"a.com,y\nb.com\nd.com\ne.com", "text/csv", Policy())
    preview = difference(cities, rows)
    assert (preview.added, preview.removed, preview.changed, preview.unchanged) == (2, 1, 1, 1)
    assert preview.removed_urls == ["https://c.com/"]
    assert preview.kinds == {"https://a.com/": "changed", "https://d.com/": "added", "https://e.com/": "added"}
    assert len(stored_entries(cities)) == 3, "nothing has changed"
    assert import_counts(upload_entries(home, cities, "a.com,y\nb.com\nd.com\ne.com")) == (2, 1, 1, 1)


def test_plan_limits_the_entries_of_all_lists(home: Member, cities: SiteList) -> None:
    other = make_list(home)
    make_entries(other, [{"url": f"https://o{number}.com/"} for number in range(4)])
    Tier.objects.update(list_entries=6)
    refused = upload_entries(home, cities, "a.com\nb.com\nc.com")
    assert (refused.status_code, refused.json()["code"]) == (409, "LIST_LIMIT")
    assert "6 sites in all lists together; these would be 7" in refused.json()["error"]
    assert stored_entries(cities) == {}
    assert import_counts(upload_entries(home, cities, "a.com\nb.com")) == (2, 0, 0, 0)
    assert upload_entries(home, cities, "c.com", method="POST").status_code == 409
    assert import_counts(upload_entries(home, cities, "c.com\nd.com")) == (2, 2, 0, 0), "as many as before"
    Tier.objects.update(list_entries=3)
    assert import_counts(upload_entries(home, cities, "c.com")) == (0, 1, 0, 1), (
        "a smaller plan takes nothing away, and lets it shrink"
    )
    assert upload_entries(home, cities, "c.com\nd.com").status_code == 409


def test_owner_has_one_list_limit(home: Member, cities: SiteList) -> None:
    second = member_of("Second")
    Tier.objects.update(list_entries=3, lists=2, quota_per_owner=True)
    ada = person_of(home, "owner", "ada@example.com")
    second.organization.membership_set.create(user=ada, role="owner")
    assert import_counts(upload_entries(home, cities, "a.com\nb.com")) == (2, 0, 0, 0)
    created = second.api.post("/v1/lists", {"name": "More"})
    assert created.status_code == 201
    path = f"/v1/lists/{created.json()['id']}/entries"
    assert second.api.call("PUT", path, b"c.com\nd.com", "text/plain").json()["code"] == "LIST_LIMIT"
    assert second.api.call("PUT", path, b"c.com", "text/plain").status_code == 200
    assert second.api.post("/v1/lists", {"name": "Too many"}).json()["code"] == "LIST_LIMIT"


def test_import_query_count_is_constant(home: Member, cities: SiteList) -> None:
    def queries(hosts: range) -> int:
        upload = "\n".join(f"h{number}.com,t{number % 5}" for number in hosts)
        with counted() as queries:
            assert upload_entries(home, cities, upload).status_code == 200
        return len(queries)

    queries(range(1))
    queries(range(95, 100))  # The tags of the list are counted if an import has a new tag.
    assert queries(range(100, 106)) == queries(range(200, 500))


def test_result_survives_its_entry(home: Member, cities: SiteList) -> None:
    now = timezone.now()
    entry = make_entry(cities, "https://a.com/")
    run = ListRun.objects.create(site_list=cities, types=["seo"], pages_per_entry=1, window_hours=0, entries=1)
    result = ListResult.objects.create(site_list=cities, run=run, entry=entry, starts_at=now, url=entry.url)
    entry.result = result
    entry.save()
    assert import_counts(upload_entries(home, cities, "b.com")) == (1, 1, 0, 0)
    result.refresh_from_db()
    assert (result.entry_id, result.status, result.url) == (None, "waiting", "https://a.com/")


CREDENTIALS = {"headers": {"X-Key": "secret"}}


def test_credentials_refuse_a_second_origin(home: Member, cities: SiteList) -> None:
    path = f"/v1/lists/{cities.id}"
    upload_entries(home, cities, "a.com/1\na.com/2\nb.com")
    refused = home.api.patch(path, {"request": CREDENTIALS})
    assert (refused.status_code, refused.json()["code"]) == (400, "INVALID_REQUEST_FIELD")
    upload_entries(home, cities, "a.com/1\na.com/2")
    assert home.api.patch(path, {"request": CREDENTIALS}).json()["request"]["headers"] == ["X-Key"]
    for method in ("PUT", "POST"):
        refused = upload_entries(home, cities, "a.com/3\nhttp://a.com/\nb.com", method=method)
        assert refused.json()["code"] == "INVALID_ENTRIES"
        assert [entry["line"] for entry in refused.json()["entries"]] == [2, 3]
    assert upload_entries(home, cities, "b.com", method="POST").status_code == 400
    assert import_counts(upload_entries(home, cities, "a.com/3\na.com/1")) == (1, 1, 0, 1)
    cities.refresh_from_db()
    assert cities.credentials is not None
    assert import_counts(upload_entries(home, cities, "b.com/1\nb.com/2")) == (2, 2, 0, 0)
    cities.refresh_from_db()
    assert cities.credentials is None
    assert cities.credential_names is None


def test_emptied_list_loses_its_credentials(home: Member, cities: SiteList) -> None:
    path = f"/v1/lists/{cities.id}"
    upload_entries(home, cities, "a.com")
    home.api.patch(path, {"request": CREDENTIALS})
    upload_entries(home, cities, '{"entries": []}', "application/json")
    assert "request" not in home.api.get(path).json()
    upload_entries(home, cities, "a.com")
    home.api.patch(path, {"request": CREDENTIALS})
    home.api.delete(f"{path}/entries/{cities.entries.get().id}")
    assert "request" not in home.api.get(path).json()


@pytest.mark.django_db(transaction=True, serialized_rollback=True)
def test_concurrent_imports_are_serialized(home: Member) -> None:
    Tier.objects.update(list_entries=1_000, lists=10)
    cities = make_list(home)
    make_entries(cities, [{"url": f"https://h{number}.com/"} for number in range(50)])
    uploads = ["\n".join(f"h{number}.com,{name}" for number in hosts) for name, hosts in UPLOADS.items()]
    responses: list[Any] = []

    def send_upload(upload: str) -> None:
        try:
            responses.append(upload_entries(home, cities, upload))
        finally:
            close_connections()

    threads = [threading.Thread(target=send_upload, args=[upload]) for upload in uploads for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert [response.status_code for response in responses] == [200] * 4
    final = stored_entries(cities)
    assert {tags[0] for tags, _ in final.values()} in ({"one"}, {"two"}), "no mixture"
    (name,) = {tags[0] for tags, _ in final.values()}
    assert set(final) == {f"https://h{number}.com/" for number in UPLOADS[name]}


UPLOADS = {"one": range(30), "two": range(20, 60)}


def test_several_entries_can_be_deleted(home: Member, cities: SiteList) -> None:
    caller = key_caller(home.organization.id)
    upload_entries(home, cities, "a.com,x\nb.com,x;y\nc.com,z")
    ids = list(cities.entries.order_by("host").values_list("id", flat=True))
    foreign = make_entry(make_list(member_of("Other")))
    changed = tag_entries(
        caller=caller, list_id=cities.id, entries=[*ids[:2], foreign.id, "x"], add=["new"], remove=["x"]
    )
    assert changed == 2
    assert stored_entries(cities) == {
        "https://a.com/": (["new"], ""),
        "https://b.com/": (["y", "new"], ""),
        "https://c.com/": (["z"], ""),
    }
    foreign.refresh_from_db()
    assert foreign.tags == []
    assert tags_of(cities) == {"new": 2, "y": 1, "z": 1}
    assert tag_entries(caller=caller, list_id=cities.id, entries=ids, remove=["none"]) == 0
    assert delete_entries(caller=caller, list_id=cities.id, entries=[ids[0], foreign.id]) == 1
    assert len(stored_entries(cities)) == 2
    assert ListEntry.objects.filter(id=foreign.id).exists()
    with transaction.atomic():
        assert list(
            ActivityEvent.objects.filter(action__startswith="list.").order_by("id").values_list("action", flat=True)
        ) == [
            "list.imported",
            "list.entries_tagged",
            "list.entries_deleted",
        ]
