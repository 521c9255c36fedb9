"""Tests for imports of lists in several parts."""

from __future__ import annotations

from typing import Any

import pytest

from accounts.models import Tier
from sites.lists import importing, part_imports
from sites.models import ListImport, ListImportSite, SiteList
from sites.retention import delete_list_imports
from tests.factories import Member, member_of
from tests.sites.lists.cast import make_entries, make_list

pytestmark = pytest.mark.django_db


@pytest.fixture
def cities(home: Member) -> SiteList:
    Tier.objects.update(list_entries=1_000, lists=10)
    site_list = make_list(home)
    make_entries(site_list, [{"url": f"https://old-{number}.com/"} for number in range(7)])
    return site_list


def send(home: Member, site_list: SiteList, text: str, name: str = "july") -> Any:
    path = f"/v1/lists/{site_list.id}/entries?import={name}"
    media_type = "text/csv" if "," in text else "text/plain"
    return home.api.call("POST", path, text.encode(), media_type)


def finish(home: Member, site_list: SiteList, name: str = "july") -> list[int]:
    """Finish an import, and return the number of sites that each request has removed."""
    removed, cursor = [], ""
    while cursor is not None:
        answer: Any = home.api.delete(f"/v1/lists/{site_list.id}/entries?import={name}&cursor={cursor}")
        assert answer.status_code == 200, answer.content
        removed.append(answer.json()["removed"])
        cursor = answer.json()["next_cursor"]
        assert len(removed) < 20
    return removed


def hosts(site_list: SiteList) -> set[str]:
    site_list.refresh_from_db()
    found = set(site_list.entries.values_list("host", flat=True))
    assert site_list.entries_count == len(found)
    return found


@pytest.mark.parametrize("batch", [1, 2, 3, 100])
def test_import_in_parts_replaces_the_sites(
    home: Member, cities: SiteList, monkeypatch: pytest.MonkeyPatch, batch: int
) -> None:
    monkeypatch.setattr(part_imports, "ENTRIES_PER_REQUEST", batch)
    monkeypatch.setattr(part_imports, "RECORDS_PER_DELETION", 2)
    monkeypatch.setattr(part_imports, "MAX_REMOVED", 2)
    kept = cities.entries.get(host="old-3.com").id
    assert send(home, cities, "new-1.com\nold-3.com").json() == {"added": 1, "removed": 0, "changed": 0, "unchanged": 1}
    assert send(home, cities, "new-2.com\nold-6.com").status_code == 200
    # A part that is sent again changes nothing.
    assert send(home, cities, "new-2.com\nold-6.com").json()["unchanged"] == 2
    assert len(hosts(cities)) == 9
    assert sum(finish(home, cities)) == 5
    assert hosts(cities) == {"new-1.com", "new-2.com", "old-3.com", "old-6.com"}
    assert cities.entries.get(host="old-3.com").id == kept
    assert delete_list_imports()
    assert (ListImport.objects.count(), ListImportSite.objects.count()) == (0, 0)


def test_repeated_last_request_removes_nothing(home: Member, cities: SiteList) -> None:
    send(home, cities, "new-1.com\nold-3.com")
    path = f"/v1/lists/{cities.id}/entries?import=july&cursor="
    assert home.api.delete(path).json() == {"removed": 6, "next_cursor": None}
    # A process that deletes the records of the import was killed.
    ListImportSite.objects.all()[0].delete()
    assert home.api.delete(path).json() == {"removed": 0, "next_cursor": None}
    assert hosts(cities) == {"new-1.com", "old-3.com"}
    # An import with the same name begins anew.
    assert send(home, cities, "new-2.com").status_code == 200
    assert finish(home, cities) == [2]
    assert hosts(cities) == {"new-2.com"}


def test_import_that_expires_during_its_deletion_removes_nothing(home: Member, cities: SiteList) -> None:
    send(home, cities, "new-1.com")
    ListImport.objects.update(last_part_at="2020-01-01T00:00:00Z")
    assert not delete_list_imports(lambda: False)
    assert ListImportSite.objects.count() == 1
    assert home.api.delete(f"/v1/lists/{cities.id}/entries?import=july").json()["code"] == "INVALID_PARAMS"
    assert len(hosts(cities)) == 8


def test_part_prolongs_its_import(home: Member, cities: SiteList) -> None:
    send(home, cities, "new-1.com")
    ListImport.objects.update(last_part_at="2020-01-01T00:00:00Z")
    send(home, cities, "new-2.com")
    assert delete_list_imports()
    assert finish(home, cities) == [7]


def test_parts_replace_tags_and_notes(home: Member, cities: SiteList) -> None:
    """A site that several parts have gets the tags of all of them, as if they were one file."""
    for registrar in ("a", "b"):
        numbers = send(home, cities, f"old-1.com,registrar-{registrar},{registrar}", registrar).json()
        assert (numbers["added"], numbers["changed"]) == (0, 1)
        repeated = send(home, cities, f"old-1.com,registrar-{registrar},{registrar}", registrar).json()
        assert repeated["unchanged"] == 1
    entry = cities.entries.get(host="old-1.com")
    assert (entry.tags, entry.note) == (["registrar-b"], "b")
    send(home, cities, "old-1.com,north", "b")
    entry.refresh_from_db()
    assert (sorted(entry.tags), entry.note) == (["north", "registrar-b"], "b")


def test_imports_do_not_affect_each_other(home: Member, cities: SiteList) -> None:
    send(home, cities, "new-1.com", "a")
    send(home, cities, "new-2.com", "b")
    finish(home, cities, "b")
    assert hosts(cities) == {"new-2.com"}
    assert ListImport.objects.get(state="open").name == "a"


def test_unknown_import_removes_nothing(home: Member, cities: SiteList) -> None:
    other = member_of("Other")
    send(home, cities, "new-1.com", "a")
    for query in ("import=b", "import=", "", "import=a&cursor=x", "import=%00"):
        answer = home.api.delete(f"/v1/lists/{cities.id}/entries?{query}")
        assert (answer.status_code, answer.json()["code"]) == (400, "INVALID_PARAMS"), query
    assert home.api.delete(f"/v1/lists/{cities.id}/entries?import=a&cursor=ent_{'0' * 22}").status_code == 404
    assert other.api.delete(f"/v1/lists/{cities.id}/entries?import=a").status_code == 404
    assert len(hosts(cities)) == 8


def test_invalid_part_adds_nothing(home: Member, cities: SiteList) -> None:
    assert send(home, cities, "new-1.com\nprinter").json()["code"] == "INVALID_ENTRIES"
    assert not ListImport.objects.exists()
    assert send(home, cities, "new-1.com", "a%20b").json()["code"] == "INVALID_PARAMS"


def test_list_has_few_unfinished_imports(home: Member, cities: SiteList) -> None:
    for number in range(part_imports.MAX_NAMES):
        assert send(home, cities, "new.com", f"i{number}").status_code == 200
    send(home, cities, "new.com", "i0")
    assert send(home, cities, "more.com", "one-more").status_code == 200
    # The import that has been idle the longest is forgotten, so it can no longer remove sites.
    assert home.api.delete(f"/v1/lists/{cities.id}/entries?import=i1").json()["code"] == "INVALID_PARAMS"
    assert len(hosts(cities)) == 9
    assert delete_list_imports()
    assert set(ListImport.objects.values_list("name", flat=True)) == {
        "i0",
        *[f"i{n}" for n in range(2, 10)],
        "one-more",
    }


def test_list_with_an_unfinished_import_can_be_deleted(home: Member, cities: SiteList) -> None:
    send(home, cities, "new-1.com")
    assert home.api.delete(f"/v1/lists/{cities.id}").status_code == 204
    assert not ListImportSite.objects.exists()


def test_large_list_is_not_replaced_at_once(home: Member, cities: SiteList, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importing, "MAX_REPLACED_ENTRIES", 5)
    answer = home.api.call("PUT", f"/v1/lists/{cities.id}/entries", b"new.com", "text/plain")
    assert (answer.status_code, answer.json()["code"]) == (409, "LIST_LIMIT")
    assert len(hosts(cities)) == 7
