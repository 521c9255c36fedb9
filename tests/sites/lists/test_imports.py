"""Imports into a list: atomicity, preserved IDs and results, limits of plans, credentials, concurrency."""

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


def put(member: Member, site_list: SiteList, upload: str, media_type: str = "text/csv", method: str = "PUT") -> Any:
    return member.api.call(method, f"/v1/lists/{site_list.id}/entries", upload.encode(), media_type)


def numbers(response: Any) -> tuple[int, ...]:
    assert response.status_code == 200, response.content
    return tuple(response.json().values())


def entries(site_list: SiteList) -> dict[str, tuple[list[str], str]]:
    found = site_list.entries.order_by("url")
    site_list.refresh_from_db()
    assert site_list.entries_count == len(found)
    return {entry.url: (entry.tags, entry.note) for entry in found}


def test_put_replaces_entries_and_preserves_ids_and_results_of_reimported_urls(home: Member, cities: SiteList) -> None:
    assert numbers(put(home, cities, "a.com,x\nb.com,x;y,Note\nc.com")) == (3, 0, 0, 0)
    a, b = (cities.entries.get(host=host) for host in ("a.com", "b.com"))
    ListEntry.objects.filter(id__in=[a.id, b.id]).update(
        seo_score=90, seo_grade="A", history=[80, 90], failing=["hsts"]
    )
    assert numbers(put(home, cities, "d.com\nb.com,y,Note\na.com,x")) == (1, 1, 1, 1)
    assert entries(cities) == {
        "https://a.com/": (["x"], ""),
        "https://b.com/": (["y"], "Note"),
        "https://d.com/": ([], ""),
    }
    for before in (a, b):
        now = ListEntry.objects.get(id=before.id)
        assert (now.url, now.seo_score, now.history, now.failing) == (before.url, 90, [80, 90], ["hsts"])
    assert numbers(put(home, cities, "d.com\nb.com,y,Note\na.com,x")) == (0, 0, 0, 3)
    assert numbers(put(home, cities, '{"entries": []}', "application/json")) == (0, 3, 0, 0)
    assert entries(cities) == {}
    (last, *_) = ActivityEvent.objects.order_by("-id")
    assert (last.action, last.details["removed"], last.object_name) == ("list.imported", 3, "Cities")
    assert ActivityEvent.objects.filter(action="list.imported").count() == 3, "nothing changed once"


def test_post_adds_sites_and_merges_tags(home: Member, cities: SiteList) -> None:
    put(home, cities, "a.com,x,Note\nb.com,y")
    assert numbers(put(home, cities, "a.com,x\nb.com,z,Other\nc.com\nc.com,w", method="POST")) == (1, 0, 1, 1)
    assert entries(cities) == {
        "https://a.com/": (["x"], "Note"),
        "https://b.com/": (["y", "z"], "Other"),
        "https://c.com/": (["w"], ""),
    }
    many = ";".join(f"t{number}" for number in range(20))
    refused = put(home, cities, f"d.com\nb.com,{many}", method="POST")
    assert (refused.status_code, refused.json()["code"]) == (400, "INVALID_ENTRIES")
    assert [each["line"] for each in refused.json()["entries"]] == [2]
    assert "https://d.com/" not in entries(cities)


def test_refused_import_changes_nothing(home: Member, cities: SiteList) -> None:
    put(home, cities, "a.com,x")
    before = entries(cities)
    for upload in ("b.com\nlocalhost", "b.com\nc.com,=1", "b.com\n" + "\n".join(f"c{n}.com,t{n}" for n in range(201))):
        assert put(home, cities, upload).status_code == 400, upload[:50]
        assert entries(cities) == before


def test_import_makes_the_changes_of_its_preview(home: Member, cities: SiteList) -> None:
    put(home, cities, "a.com,x\nb.com\nc.com")
    rows = read_rows(b"a.com,y\nb.com\nd.com\ne.com", "text/csv", Policy())
    found = difference(cities, rows)
    assert (found.added, found.removed, found.changed, found.unchanged) == (2, 1, 1, 1)
    assert found.samples == {
        "added": ["https://d.com/", "https://e.com/"],
        "removed": ["https://c.com/"],
        "changed": ["https://a.com/"],
    }
    assert len(entries(cities)) == 3, "nothing has changed"
    assert numbers(put(home, cities, "a.com,y\nb.com\nd.com\ne.com")) == (2, 1, 1, 1)


def test_plan_limits_entries_of_all_lists_together(home: Member, cities: SiteList) -> None:
    other = make_list(home)
    make_entries(other, [{"url": f"https://o{number}.com/"} for number in range(4)])
    Tier.objects.update(list_entries=6)
    refused = put(home, cities, "a.com\nb.com\nc.com")
    assert (refused.status_code, refused.json()["code"]) == (409, "LIST_LIMIT")
    assert "6 sites in all lists together; these would be 7" in refused.json()["error"]
    assert entries(cities) == {}
    assert numbers(put(home, cities, "a.com\nb.com")) == (2, 0, 0, 0)
    assert put(home, cities, "c.com", method="POST").status_code == 409
    assert numbers(put(home, cities, "c.com\nd.com")) == (2, 2, 0, 0), "as many as before"
    Tier.objects.update(list_entries=3)
    assert numbers(put(home, cities, "c.com")) == (0, 1, 0, 1), "a smaller plan takes nothing away, and lets it shrink"
    assert put(home, cities, "c.com\nd.com").status_code == 409


def test_organizations_of_a_free_owner_share_the_list_limits(home: Member, cities: SiteList) -> None:
    second = member_of("Second")
    Tier.objects.update(list_entries=3, lists=2, quota_per_owner=True)
    ada = person_of(home, "owner", "ada@example.com")
    second.organization.membership_set.create(user=ada, role="owner")
    assert numbers(put(home, cities, "a.com\nb.com")) == (2, 0, 0, 0)
    made = second.api.post("/v1/lists", {"name": "More"})
    assert made.status_code == 201
    path = f"/v1/lists/{made.json()['id']}/entries"
    assert second.api.call("PUT", path, b"c.com\nd.com", "text/plain").json()["code"] == "LIST_LIMIT"
    assert second.api.call("PUT", path, b"c.com", "text/plain").status_code == 200
    assert second.api.post("/v1/lists", {"name": "Too many"}).json()["code"] == "LIST_LIMIT"


def test_number_of_queries_is_independent_of_the_rows(home: Member, cities: SiteList) -> None:
    def queries(hosts: range) -> int:
        upload = "\n".join(f"h{number}.com,t{number % 5}" for number in hosts)
        with counted() as asked:
            assert put(home, cities, upload).status_code == 200
        return len(asked)

    queries(range(1))
    assert queries(range(100, 103)) == queries(range(200, 500))


def test_removed_entry_keeps_its_results_and_its_run_goes_on(home: Member, cities: SiteList) -> None:
    now = timezone.now()
    entry = make_entry(cities, "https://a.com/")
    run = ListRun.objects.create(site_list=cities, types=["seo"], pages_per_entry=1, window_hours=0, entries=1)
    result = ListResult.objects.create(site_list=cities, run=run, entry=entry, starts_at=now, url=entry.url)
    entry.result = result
    entry.save()
    assert numbers(put(home, cities, "b.com")) == (1, 1, 0, 0)
    result.refresh_from_db()
    assert (result.entry_id, result.status, result.url) == (None, "waiting", "https://a.com/")


CREDENTIALS = {"headers": {"X-Key": "secret"}}


def test_list_with_credentials_refuses_a_second_origin(home: Member, cities: SiteList) -> None:
    path = f"/v1/lists/{cities.id}"
    put(home, cities, "a.com/1\na.com/2\nb.com")
    refused = home.api.patch(path, {"request": CREDENTIALS})
    assert (refused.status_code, refused.json()["code"]) == (400, "INVALID_REQUEST_FIELD")
    put(home, cities, "a.com/1\na.com/2")
    assert home.api.patch(path, {"request": CREDENTIALS}).json()["request"]["headers"] == ["X-Key"]
    for method in ("PUT", "POST"):
        refused = put(home, cities, "a.com/3\nhttp://a.com/\nb.com", method=method)
        assert refused.json()["code"] == "INVALID_ENTRIES"
        assert [each["line"] for each in refused.json()["entries"]] == [2, 3]
    assert put(home, cities, "b.com", method="POST").status_code == 400
    assert numbers(put(home, cities, "a.com/3\na.com/1")) == (1, 1, 0, 1)
    cities.refresh_from_db()
    assert cities.credentials is not None
    assert numbers(put(home, cities, "b.com/1\nb.com/2")) == (2, 2, 0, 0)
    cities.refresh_from_db()
    assert cities.credentials is None
    assert cities.credential_names is None


def test_emptied_list_drops_credentials_before_sites_of_another_origin(home: Member, cities: SiteList) -> None:
    path = f"/v1/lists/{cities.id}"
    put(home, cities, "a.com")
    home.api.patch(path, {"request": CREDENTIALS})
    put(home, cities, '{"entries": []}', "application/json")
    assert "request" not in home.api.get(path).json()
    put(home, cities, "a.com")
    home.api.patch(path, {"request": CREDENTIALS})
    home.api.delete(f"{path}/entries/{cities.entries.get().id}")
    assert "request" not in home.api.get(path).json()


@pytest.mark.django_db(transaction=True, serialized_rollback=True)
def test_concurrent_imports_are_serialized(home: Member) -> None:
    Tier.objects.update(list_entries=1_000, lists=10)
    cities = make_list(home)
    make_entries(cities, [{"url": f"https://h{number}.com/"} for number in range(50)])
    uploads = ["\n".join(f"h{number}.com,{name}" for number in hosts) for name, hosts in UPLOADS.items()]
    found: list[Any] = []

    def send(upload: str) -> None:
        try:
            found.append(put(home, cities, upload))
        finally:
            close_connections()

    threads = [threading.Thread(target=send, args=[upload]) for upload in uploads for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert [each.status_code for each in found] == [200] * 4
    final = entries(cities)
    assert {tags[0] for tags, _ in final.values()} in ({"one"}, {"two"}), "no mixture"
    (name,) = {tags[0] for tags, _ in final.values()}
    assert set(final) == {f"https://h{number}.com/" for number in UPLOADS[name]}


UPLOADS = {"one": range(30), "two": range(20, 60)}


def test_tag_entries_changes_tags_of_many_entries(home: Member, cities: SiteList) -> None:
    caller = key_caller(home.organization.id)
    put(home, cities, "a.com,x\nb.com,x;y\nc.com,z")
    ids = list(cities.entries.order_by("host").values_list("id", flat=True))
    foreign = make_entry(make_list(member_of("Other")))
    changed = tag_entries(
        caller=caller, list_id=cities.id, entries=[*ids[:2], foreign.id, "x"], add=["new"], remove=["x"]
    )
    assert changed == 2
    assert entries(cities) == {
        "https://a.com/": (["new"], ""),
        "https://b.com/": (["y", "new"], ""),
        "https://c.com/": (["z"], ""),
    }
    foreign.refresh_from_db()
    assert foreign.tags == []
    assert tags_of(cities) == {"new": 2, "y": 1, "z": 1}
    assert tag_entries(caller=caller, list_id=cities.id, entries=ids, remove=["none"]) == 0
    assert delete_entries(caller=caller, list_id=cities.id, entries=[ids[0], foreign.id]) == 1
    assert len(entries(cities)) == 2
    assert ListEntry.objects.filter(id=foreign.id).exists()
    with transaction.atomic():
        assert list(
            ActivityEvent.objects.filter(action__startswith="list.").order_by("id").values_list("action", flat=True)
        ) == [
            "list.imported",
            "list.entries_tagged",
            "list.entries_deleted",
        ]
