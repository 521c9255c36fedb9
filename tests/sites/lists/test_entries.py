"""Pages of a list's entries: every filter, every order, cursors in both directions, and few queries."""

from __future__ import annotations

import random
from itertools import pairwise
from typing import Any
from urllib.parse import urlencode

import pytest

from sites.lists.entries import ORDERS, SORTS
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
        {f"{type}_grade": GRADES[each[f"{type}_score"]] for type in ("security", "seo") if f"{type}_score" in each}
        for each in SITES
    ]
    failing = [
        {"failing": ["hsts", "title"], "outcomes": ["hsts.short", "title.long"]},
        {"failing": ["hsts"], "outcomes": ["caa.missing", "hsts.missing"]},
        {},
        {},
    ]
    make_entries(site_list, [each | more | checks for each, more, checks in zip(SITES, grades, failing, strict=True)])
    make_entries(make_list(home), [{"url": "https://a.com/", "tags": ["north"], "state": "judged"}])
    return site_list


def page(member: Member, site_list: SiteList, **query: object) -> dict[str, Any]:
    response: Any = member.api.get(f"/v1/lists/{site_list.id}/entries?{urlencode(query)}")
    assert response.status_code == 200, response.content
    answer: dict[str, Any] = response.json()
    return answer


def found(member: Member, site_list: SiteList, **query: object) -> str:
    """Return the first letters of the hosts on the page."""
    answer = page(member, site_list, **query)
    assert answer["total"] == len(answer["entries"])
    return "".join(each["url"].removeprefix("https://")[0] for each in answer["entries"])


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
        ({"check": "hst"}, ""),
        ({"outcome": "hsts.short"}, "a"),
        ({"outcome": "caa.missing"}, "b"),
        ({"outcome": "hsts"}, ""),
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
def test_filters_match_entries(home: Member, cities: SiteList, query: dict[str, object], hosts: str) -> None:
    assert found(home, cities, **query) == hosts


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
def test_entries_without_a_value_are_sorted_last(
    home: Member, cities: SiteList, sort: str, values: list[int | None]
) -> None:
    results = [each["results"] for each in page(home, cities, sort=sort)["entries"]]
    assert [each.get(sort.strip("-"), {}).get("score") for each in results] == values


def test_sort_by_url_orders_entries_by_host(home: Member, cities: SiteList) -> None:
    assert (found(home, cities), found(home, cities, sort="-url")) == ("abcx", "xcba")


@pytest.mark.parametrize("sort", ORDERS)
def test_cursors_page_forward_and_backward_through_all_entries(home: Member, sort: str) -> None:
    site_list = make_list(home)
    chance = random.Random(sort)  # not for secrets
    column = SORTS[sort.removeprefix("-")]
    values = [None, -3, 0, 0, 50, 51] if column.endswith("_change") else [None, 0, 50, 50, 51, 100]
    more = {} if column == "host" else {column: None}
    make_entries(
        site_list,
        [
            {"url": f"https://h{chance.randrange(9)}.com/{number}"} | {name: chance.choice(values) for name in more}
            for number in range(29)
        ],
    )
    whole = page(home, site_list, sort=sort, limit=100)["entries"]
    assert len({each["id"] for each in whole}) == 29
    pages: list[Any] = []
    cursor: dict[str, Any] = {}
    while True:
        answer = page(home, site_list, sort=sort, limit=7, **cursor)
        assert (answer["total"], answer["limit"]) == (29, 7)
        pages.append(answer)
        if answer["next_cursor"] is None:
            break
        cursor = {"cursor": answer["next_cursor"]}
    assert [each for answer in pages for each in answer["entries"]] == whole
    assert pages[0]["previous_cursor"] is None
    for before, answer in reversed(list(pairwise(pages))):
        back = page(home, site_list, sort=sort, limit=7, cursor=answer["previous_cursor"])
        assert back["entries"] == before["entries"]
        assert (back["previous_cursor"] is None) == (before is pages[0])
        assert page(home, site_list, sort=sort, limit=7, cursor=back["next_cursor"])["entries"] == answer["entries"]


def test_cursor_remains_valid_after_its_entry_is_deleted(home: Member, cities: SiteList) -> None:
    cursor = page(home, cities, limit=2)["next_cursor"]
    cities.entries.filter(host="b.com").delete()
    assert [each["url"] for each in page(home, cities, limit=2, cursor=cursor)["entries"]] == [
        "https://c.com/x?y=Z",
        "https://xn--mnchen-3ya.de/",
    ]


def test_page_before_the_first_entry_is_the_first_page(home: Member, cities: SiteList) -> None:
    first = page(home, cities, limit=2)
    back = page(home, cities, limit=2, cursor=first["next_cursor"])["previous_cursor"]
    assert page(home, cities, limit=2, cursor=back) == first
    cities.entries.filter(host="a.com").delete()
    shown = page(home, cities, limit=2, cursor=back)
    assert [each["url"] for each in shown["entries"]] == ["https://b.com/", "https://c.com/x?y=Z"]
    assert (shown["previous_cursor"], shown["next_cursor"] is None) == (None, False)


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
    page(home, cities)  # notes the first use of the key

    def queries(**query: object) -> int:
        with counted() as asked:
            page(home, cities, limit=100, **query)
        return len(asked)

    few = queries(), queries(tag="north", sort="-seo")
    make_entries(cities, [{"url": f"https://d.com/{number}", "tags": ["north"]} for number in range(200)])
    assert (queries(), queries(tag="north", sort="-seo")) == few
    assert few[1] <= few[0] + 1
