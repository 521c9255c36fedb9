"""Tests for filtering, sorting and paging list entries in the API."""

from __future__ import annotations

import random
import re
from itertools import pairwise
from typing import Any
from urllib.parse import urlencode

import pytest

from infrastructure.api.errors import InvalidParams
from sites.lists.entries import ORDERS, SORTS, entries_page
from sites.lists.entry_filters import EntryFilter
from sites.models import SiteList
from tests.factories import Member
from tests.queries import counted
from tests.sites.lists.cast import make_entries, make_list

pytestmark = pytest.mark.django_db

SITES: list[dict[str, Any]] = [
    {"url": "https://a.com/", "tags": ["north", "city"], "state": "judged", "security_score": 90, "seo_score": 40},
    {"url": "https://b.com/", "tags": ["north"], "state": "partial", "security_score": 70, "note": "100% Über_all"},
    {"url": "https://c.com/x?y=Z", "state": "failed", "security_score": 70, "seo_score": 100},
    {"url": "https://xn--mnchen-3ya.de/", "tags": ["city"]},
]
GRADES = {90: "A", 70: "C", 40: "F", 100: "A+"}


@pytest.fixture
def cities(home: Member) -> SiteList:
    site_list = make_list(home)
    grades = [
        {f"{type}_grade": GRADES[site[f"{type}_score"]] for type in ("security", "seo") if f"{type}_score" in site}
        for site in SITES
    ]
    failing = [
        {"failing": ["hsts", "title"], "outcomes": ["hsts.short", "title.long"]},
        {"failing": ["hsts"], "outcomes": ["caa.missing", "hsts.missing"]},
        {},
        {},
    ]
    make_entries(
        site_list,
        [site | site_grades | checks for site, site_grades, checks in zip(SITES, grades, failing, strict=True)],
    )
    make_entries(make_list(home), [{"url": "https://a.com/", "tags": ["north"], "state": "judged"}])
    return site_list


def get_page(member: Member, site_list: SiteList, **query: object) -> dict[str, Any]:
    response: Any = member.api.get(f"/v1/lists/{site_list.id}/entries?{urlencode(query)}")
    assert response.status_code == 200, response.content
    answer: dict[str, Any] = response.json()
    return answer


def matching_letters(member: Member, site_list: SiteList, **query: object) -> str:
    """Return the first letter of every host that matches the query."""
    answer = get_page(member, site_list, **query)
    assert answer["total"] == len(answer["entries"])
    return "".join(entry["url"].removeprefix("https://")[0] for entry in answer["entries"])


@pytest.mark.parametrize(
    ("query", "hosts"),
    [
        ({}, "abcx"),
        ({"tag": "north"}, "ab"),
        ({"tag": "city"}, "ax"),
        ({"tag": "nor"}, ""),
        ({"type": "seo"}, "ac"),
        ({"type": "performance"}, ""),
        ({"grade": "A+"}, "c"),
        ({"grade": "C"}, "bc"),
        ({"grade": "C", "type": "seo"}, ""),
        ({"least": 80}, "ac"),
        ({"least": 80, "type": "security"}, "a"),
        ({"most": 70, "type": "security"}, "bc"),
        ({"most": 0}, ""),
        ({"least": 41, "most": 99, "type": "seo"}, ""),
        ({"least": 0}, "abc"),
        ({"check": "hsts"}, "ab"),
        ({"outcome": "hsts.short"}, "a"),
        ({"outcome": "caa.missing"}, "b"),
        ({"check": "csp-present"}, ""),
        ({"check": "hsts", "outcome": "title.long"}, "a"),
        ({"state": "failed"}, "c"),
        ({"state": "new"}, "x"),
        ({"text": "C.CO"}, "c"),
        ({"text": "y=z"}, "c"),
        ({"text": "über_"}, "b"),
        ({"text": "100%"}, "b"),
        ({"text": "%"}, "b"),
        ({"text": "_"}, "b"),
        ({"text": "münchen"}, "x"),
        ({"text": "MÜNCHEN.de"}, "x"),
        ({"tag": "north", "check": "title"}, "a"),
        ({"tag": "north", "state": "failed"}, ""),
    ],
)
def test_filters_return_matching_entries(home: Member, cities: SiteList, query: dict[str, object], hosts: str) -> None:
    assert matching_letters(home, cities, **query) == hosts


@pytest.mark.parametrize(
    ("sort", "values"),
    [
        ("seo", [40, 100, None, None]),
        ("-seo", [100, 40, None, None]),
        ("security", [70, 70, 90, None]),
        ("-security", [90, 70, 70, None]),
        ("-performance", [None] * 4),
    ],
)
def test_entries_without_a_value_come_last(home: Member, cities: SiteList, sort: str, values: list[int | None]) -> None:
    results = [entry["results"] for entry in get_page(home, cities, sort=sort)["entries"]]
    assert [result.get(sort.strip("-"), {}).get("score") for result in results] == values


def test_entries_are_sorted_by_url(home: Member) -> None:
    site_list = make_list(home)
    urls = [
        *(
            "http://a.com/",
            "https://a.com/",
            "https://a.com/b",
            "https://a.com/a",
            "https://a.com/Z",
            "https://a-b.com/",
        ),
        *("https://a.com/?q=2", "https://a.com/?q=1", "https://b.com/x", f"https://b.com/{'l' * 1_990}"),
        *(f"https://c.com/{number}" for number in range(40)),
    ]
    shuffled = random.Random(5).sample(urls, len(urls))
    make_entries(site_list, [{"url": url} for url in shuffled])
    for sort, expected in (("url", sorted(urls)), ("-url", sorted(urls, reverse=True))):
        assert [entry["url"] for entry in get_page(home, site_list, sort=sort, limit=100)["entries"]] == expected
        found: list[str] = []
        cursor: dict[str, str] = {}
        while cursor or not found:
            page = get_page(home, site_list, sort=sort, limit=3, **cursor)
            found += [entry["url"] for entry in page["entries"]]
            cursor = {"cursor": page["next_cursor"]} if page["next_cursor"] else {}
        assert found == expected


@pytest.mark.parametrize("sort", ORDERS)
def test_cursor_for_another_sort_order_is_refused(cities: SiteList, sort: str) -> None:
    first = entries_page(cities, EntryFilter(), sort=sort, limit=2)
    assert first.next_cursor is not None
    second = entries_page(cities, EntryFilter(), sort=sort, cursor=first.next_cursor, limit=2)
    assert second.previous_cursor is not None
    for cursor in (first.next_cursor, second.previous_cursor):
        for other in ORDERS:
            if other != sort:
                error = f"cursor is of a page in the order {sort}, and this one is in the order {other}."
                with pytest.raises(InvalidParams, match=f"^{re.escape(error)}$"):
                    entries_page(cities, EntryFilter(), sort=other, cursor=cursor, limit=2)


def test_cursor_of_another_order_is_refused(home: Member, cities: SiteList) -> None:
    cursor = get_page(home, cities, sort="seo", limit=2)["next_cursor"]
    response: Any = home.api.get(f"/v1/lists/{cities.id}/entries?{urlencode({'sort': '-seo', 'cursor': cursor})}")
    assert (response.status_code, response.json()["code"]) == (400, "INVALID_PARAMS")


@pytest.mark.parametrize(
    ("query", "error"),
    [
        ("check=hst", "check is 'hst', which is not the ID of a check. The nearest are hsts"),
        ("check=Title", "The nearest are title"),
        ("check=HSTS", "The nearest are hsts"),
        ("check=zzzzzzzz", "which is not the ID of a check. The documentation of checks lists them all."),
        ("outcome=hsts", "outcome is 'hsts', which is not an outcome of a check. The nearest are hsts."),
        ("outcome=hsts.shrt", "The nearest are hsts.short"),
    ],
)
def test_refusal_suggests_similar_names(home: Member, cities: SiteList, query: str, error: str) -> None:
    response: Any = home.api.get(f"/v1/lists/{cities.id}/entries?{query}")
    assert (response.status_code, response.json()["code"]) == (400, "INVALID_PARAMS")
    assert error in response.json()["error"]


@pytest.mark.parametrize("sort", ORDERS)
def test_cursors_lead_through_all_entries(home: Member, sort: str) -> None:
    site_list = make_list(home)
    generator = random.Random(sort)
    column = SORTS[sort.removeprefix("-")]
    values = [None, -3, 0, 0, 50, 51] if column.endswith("_change") else [None, 0, 50, 50, 51, 100]
    more = {} if column == "address" else {column: None}
    make_entries(
        site_list,
        [
            {"url": f"https://h{generator.randrange(9)}.com/{number}"}
            | {name: generator.choice(values) for name in more}
            for number in range(29)
        ],
    )
    whole = get_page(home, site_list, sort=sort, limit=100)["entries"]
    assert len({entry["id"] for entry in whole}) == 29
    pages: list[Any] = []
    cursor: dict[str, Any] = {}
    while True:
        answer = get_page(home, site_list, sort=sort, limit=7, **cursor)
        assert (answer["total"], answer["limit"]) == (29, 7)
        pages.append(answer)
        if answer["next_cursor"] is None:
            break
        cursor = {"cursor": answer["next_cursor"]}
    assert [entry for answer in pages for entry in answer["entries"]] == whole
    assert pages[0]["previous_cursor"] is None
    for before, answer in reversed(list(pairwise(pages))):
        back = get_page(home, site_list, sort=sort, limit=7, cursor=answer["previous_cursor"])
        assert back["entries"] == before["entries"]
        assert (back["previous_cursor"] is None) == (before is pages[0])
        assert get_page(home, site_list, sort=sort, limit=7, cursor=back["next_cursor"])["entries"] == answer["entries"]


def test_cursor_survives_a_deleted_entry(home: Member, cities: SiteList) -> None:
    cursor = get_page(home, cities, limit=2)["next_cursor"]
    cities.entries.filter(host="b.com").delete()
    assert [entry["url"] for entry in get_page(home, cities, limit=2, cursor=cursor)["entries"]] == [
        "https://c.com/x?y=Z",
        "https://xn--mnchen-3ya.de/",
    ]


def test_page_before_the_first_is_the_first(home: Member, cities: SiteList) -> None:
    first = get_page(home, cities, limit=2)
    back = get_page(home, cities, limit=2, cursor=first["next_cursor"])["previous_cursor"]
    assert get_page(home, cities, limit=2, cursor=back) == first
    cities.entries.filter(host="a.com").delete()
    first_page = get_page(home, cities, limit=2, cursor=back)
    assert [entry["url"] for entry in first_page["entries"]] == ["https://b.com/", "https://c.com/x?y=Z"]
    assert (first_page["previous_cursor"], first_page["next_cursor"] is None) == (None, False)


@pytest.mark.parametrize(
    "query",
    [
        *("sort=x", "sort=", "sort=--url", "limit=0", "limit=101", "cursor=x", "cursor=a.1.ent_1", "offset=1"),
        *("type=x", "grade=E", "least=-1", "most=101", "least=x", "state=x", "tag=", "text=%20", "check=%00"),
        *(f"sort=seo&cursor=a.x.ent_{'a' * 22}", f"cursor=c.x.ent_{'a' * 22}", f"text={'x' * 201}"),
    ],
)
def test_invalid_query_parameter_is_refused(home: Member, cities: SiteList, query: str) -> None:
    response: Any = home.api.get(f"/v1/lists/{cities.id}/entries?{query}")
    assert (response.status_code, response.json()["code"]) == (400, "INVALID_PARAMS")


def test_entries_page_query_count_is_constant(home: Member, cities: SiteList) -> None:
    get_page(home, cities)  # The first request with an API key stores when it was used.

    def queries(**query: object) -> int:
        with counted() as queries:
            get_page(home, cities, limit=100, **query)
        return len(queries)

    few = queries(), queries(tag="north", sort="-seo")
    make_entries(cities, [{"url": f"https://d.com/{number}", "tags": ["north"]} for number in range(200)])
    assert (queries(), queries(tag="north", sort="-seo")) == few
    assert few[1] <= few[0] + 1


FACTS: list[dict[str, Any]] = [
    {"hsts": True, "status": 200, "generator": "WordPress 6.4", "language": "de-AT"},
    {"hsts": False, "status": 404, "generator": "TYPO3 100% CMS", "language": "de"},
    {"status": 200, "language": "den"},
    {},
]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({"hsts": "yes"}, "a"),
        ({"hsts": "no"}, "b"),
        ({"http_status": 200}, "ac"),
        ({"http_status": 404}, "b"),
        ({"generator": "wordpress"}, "a"),
        ({"generator": "%"}, "b"),
        ({"language": "DE"}, "ab"),
        ({"language": "de-at"}, "a"),
        ({"language": "de", "hsts": "no", "tag": "north"}, "b"),
        ({"language": "fr"}, ""),
    ],
)
def test_entries_are_filtered_by_facts(home: Member, cities: SiteList, query: dict[str, Any], expected: str) -> None:
    for entry, facts in zip(cities.entries.order_by("url"), FACTS, strict=True):
        cities.entries.filter(id=entry.id).update(facts=facts)
    page = get_page(home, cities, **query)
    assert "".join(entry["url"][8] for entry in page["entries"]) == expected
    assert page["total"] == len(expected)
    for entry in page["entries"]:
        assert entry["facts"] in FACTS


@pytest.mark.parametrize("query", ["hsts=maybe", "http_status=99", "http_status=x", "generator=", "language=%00"])
def test_invalid_facts_are_refused(home: Member, cities: SiteList, query: str) -> None:
    answer = home.api.get(f"/v1/lists/{cities.id}/entries?{query}")
    assert (answer.status_code, answer.json()["code"]) == (400, "INVALID_PARAMS")
