"""Tests for the results of a list by success criterion over the API."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest

from sites.lists.conformance import statement
from sites.models import ListResult, SiteList
from tests.factories import Member, member_of
from tests.queries import counted
from tests.sites.lists.cast import make_list
from tests.sites.lists.snapshot_cast import SnapshotSite, snapshot
from website_scan.accessibility.standards import Standard

# link-name concerns 2.4.4 and 4.1.2 (A), button-name 4.1.2 (A), color-contrast 1.4.3 (AA). hsts is of another type.
CHECKS = ("hsts", "link-name", "button-name", "color-contrast", "html-has-lang")
# Failed and warned checks of each site as letters, in the order of CHECKS.
LETTERS = ("fffpp", "pwfpp", "pppfp", "pppwp", "ppppp", "p----")


def site_of(number: int, letters: str) -> SnapshotSite:
    scores = {"security": 70} if letters.endswith("----") else {"security": 70, "accessibility": 80}
    return SnapshotSite(f"https://{number}.example/", scores, letters, ("north",) if number == 2 else ())


@pytest.fixture
def site_list(home: Member) -> SiteList:
    site_list = make_list(home, types=["security", "accessibility"])
    snapshot(site_list, [site_of(number, letters) for number, letters in enumerate(LETTERS)], checks=CHECKS)
    return site_list


def get(member: Member, site_list: SiteList, query: str = "") -> Any:
    return member.api.get(f"/v1/lists/{site_list.id}/conformance{query}")


def rows_of(body: Any) -> dict[str, Any]:
    return {row["number"]: row for row in body["criteria"]}


def test_sites_are_counted_once_for_each_criterion(home: Member, site_list: SiteList) -> None:
    body = get(home, site_list).json()
    rows = rows_of(body)
    assert (body["standard"], body["level"], body["sites"], len(rows)) == ("wcag22", "AA", 5, 55)
    # The first site fails both checks of 4.1.2. The second fails one of them and warns on the other.
    assert (rows["4.1.2"]["sites_failed"], rows["4.1.2"]["sites_to_review"]) == (2, 0)
    assert (rows["2.4.4"]["sites_failed"], rows["2.4.4"]["sites_to_review"]) == (1, 1)
    assert [check["check"] for check in rows["4.1.2"]["checks"]] == ["button-name", "link-name"]
    assert rows["2.4.4"]["checks"][0] | {"name": ""} == {
        "check": "link-name",
        "name": "",
        "type": "accessibility",
        "failed": 1,
        "warned": 1,
        "passed": 3,
        "of": 5,
    }
    assert [site["url"] for site in rows["4.1.2"]["sites"]] == ["https://0.example/", "https://1.example/"]
    assert (rows["3.1.1"]["result"], rows["2.4.3"]["result"]) == ("no-automatic-failure", "not-tested")
    assert rows["3.1.1"]["sites"] == rows["3.1.1"]["checks"] == []


def test_sites_are_counted_under_the_lowest_failed_level(home: Member, site_list: SiteList) -> None:
    body = get(home, site_list).json()
    assert body["failed_sites"] == {"A": 2, "AA": 1}
    assert body["statement"] == (
        "2 of 5 sites fail WCAG 2.2 at level A, and 1 more at level AA. The other 2 still need a person's test."
    )


def test_standard_level_and_tag_can_be_chosen(home: Member, site_list: SiteList) -> None:
    body = get(home, site_list, "?standard=en301549&level=AAA&tag=north").json()
    assert (body["level"], body["tag"], body["sites"], len(body["criteria"])) == ("AA", "north", 1, 50)
    assert rows_of(body)["1.4.3"] | {"checks": [], "sites": [], "name": "", "url": ""} == {
        "number": "1.4.3",
        "name": "",
        "level": "AA",
        "clause": "9.1.4.3",
        "url": "",
        "result": "fails",
        "sites_failed": 1,
        "sites_to_review": 0,
        "checks": [],
        "sites": [],
    }
    assert get(home, site_list, "?level=A").json()["failed_sites"] == {"A": 2}
    assert get(home, site_list, "?level=B").json()["code"] == "INVALID_PARAMS"


def test_sites_need_review_only_if_they_do_not_fail(home: Member, site_list: SiteList) -> None:
    row = rows_of(get(home, site_list).json())["1.4.3"]
    assert (row["sites_failed"], row["sites_to_review"]) == (1, 1)
    assert [site["url"] for site in row["sites"]] == ["https://2.example/"]


def test_first_sites_of_a_criterion_are_listed(home: Member) -> None:
    site_list = make_list(home, types=["accessibility"])
    sites = [SnapshotSite(f"https://{number}.example/", {"accessibility": 50}, "f") for number in range(7)]
    snapshot(site_list, sites, checks=["button-name"])
    row = rows_of(get(home, site_list).json())["4.1.2"]
    assert row["sites_failed"] == 7
    assert [site["url"] for site in row["sites"]] == [f"https://{number}.example/" for number in range(5)]
    first = ListResult.objects.get(url="https://0.example/")
    assert row["sites"][0]["entry_id"] == first.entry_id


def test_csv_has_a_line_for_each_criterion(home: Member, site_list: SiteList) -> None:
    response = get(home, site_list, "?format=csv")
    assert response["Content-Disposition"] == f'attachment; filename="{site_list.id}-wcag22.csv"'
    lines = {row["clause"]: row for row in csv.DictReader(io.StringIO(response.content.decode()))}
    assert len(lines) == 55
    assert (lines["4.1.2"]["result"], lines["4.1.2"]["sites_failed"]) == ("Fails", "2")
    assert lines["4.1.2"]["sites"] == "https://0.example/ https://1.example/"


def test_list_without_finished_run_has_no_results(home: Member) -> None:
    response = get(home, make_list(home, types=["accessibility"]))
    assert (response.status_code, response.json()["code"]) == (404, "SNAPSHOT_NOT_FOUND")


def test_list_of_other_types_has_no_results(home: Member) -> None:
    fresh, judged = make_list(home), make_list(home, types=["seo"])
    snapshot(judged, [SnapshotSite("https://a.example/", {"seo": 50}, "p")], checks=["title"])
    for site_list in (fresh, judged):
        response = get(home, site_list)
        assert (response.status_code, response.json()["code"]) == (409, "NOT_ACCESSIBILITY")


def test_list_of_another_organization_is_not_found(site_list: SiteList) -> None:
    assert get(member_of("Other"), site_list).json()["code"] == "LIST_NOT_FOUND"


def test_number_of_queries_does_not_grow_with_sites(home: Member, site_list: SiteList) -> None:
    large = make_list(home, types=["security", "accessibility"])
    snapshot(large, [site_of(number, LETTERS[number % 6]) for number in range(60)], checks=CHECKS)
    get(home, site_list)
    with counted() as queries_of_few:
        get(home, site_list)
    with counted() as queries_of_many:
        get(home, large)
    assert len(queries_of_few) == len(queries_of_many)


@pytest.mark.parametrize(
    ("failed", "sites", "sentence"),
    [
        ({"A": 0, "AA": 0}, 0, "No site was judged for accessibility."),
        (
            {"A": 0, "AA": 0},
            1,
            "On 1 site, no automatic check found a failure of WCAG 2.2, level AA. It still needs a person's test.",
        ),
        (
            {"A": 0},
            1200,
            "On 1,200 sites, no automatic check found a failure of WCAG 2.2, level A. "
            "All of them still need a person's test.",
        ),
        ({"A": 1, "AA": 0}, 2, "1 of 2 sites fails WCAG 2.2 at level A. The other 1 still needs a person's test."),
        ({"A": 0, "AA": 3}, 3, "3 of 3 sites fail WCAG 2.2 at level AA."),
    ],
)
def test_statement_counts_failed_and_other_sites(failed: dict[str, int], sites: int, sentence: str) -> None:
    assert statement(Standard.WCAG_22, failed, sites) == sentence
