"""Tests for the dashboard's lists."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from itertools import chain
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from django.test import Client
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st
from lxml import html

from accounts.usage import month_of
from infrastructure.web import keyset
from scans.models import Scan, path_of
from sites.models import SiteState
from tests.factories import Member, finished_scan, make_scan
from tests.page_reading import browser_of, page_of, rows_of, text_of

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
NONE = "\N{EN DASH}"


def create_scans(member: Member, urls: list[str], **columns: object) -> list[Scan]:
    """Create scans of these URLs in chronological order.

    Two consecutive scans have the same time.
    """
    return Scan.objects.bulk_create(
        Scan(
            organization=member.organization,
            url=url,
            created_at=NOW + timedelta(seconds=n // 2),
            period=month_of(NOW),
            **{"type": "seo", "status": "failed"} | columns,
        )
        for n, url in enumerate(urls)
    )


def pagination_link(client: Client, path: str, rel: str) -> str | None:
    links = page_of(client.get(path)).xpath("//a[@rel=$rel]/@href", rel=rel)
    return path.partition("?")[0] + links[0] if links else None


def flatten_pages(pages: Iterable[list[str]]) -> list[str]:
    return list(chain.from_iterable(pages))


def walk_pages(client: Client, path: str | None, rel: str) -> list[list[str]]:
    """Follow the pagination links and return the rows of each page."""
    pages = []
    while path is not None:
        pages.append(rows_of(client.get(path)))
        path = pagination_link(client, path, rel)
        assert len(pages) < 50
    return pages


def test_pagination_lists_each_scan_once(home: Member) -> None:
    path = "/o/home/scans/"
    create_scans(home, [f"https://example.com/{n}" for n in range(60)])
    make_scan(home, url="https://other.example.com/")
    client = browser_of(home)
    expected = [scan.url for scan in Scan.objects.order_by("-created_at", "-id")]
    older = walk_pages(client, path, "next")
    assert [len(page) for page in older][:2] == [25, 25]
    assert flatten_pages(older) == expected
    last = pagination_link(client, pagination_link(client, path, "next") or "", "next")
    newer = walk_pages(client, last, "prev")
    assert flatten_pages(reversed(newer)) == expected


def test_short_previous_page_becomes_the_first_page(home: Member) -> None:
    scans = create_scans(home, [f"https://example.com/{n}" for n in range(30)])
    client = browser_of(home)
    second = pagination_link(client, "/o/home/scans/", "next")
    assert second is not None
    back = pagination_link(client, second, "prev")
    assert back is not None
    Scan.objects.filter(id__in=[scan.id for scan in scans[10:]]).delete()
    assert len(rows_of(client.get(back))) == 10
    assert len(rows_of(client.get(second))) + len(rows_of(client.get("/o/home/scans/"))) >= 10


@pytest.mark.parametrize(
    "query",
    [
        "before=x",
        "before=99999999999999999999_scan_0",
        "after=-1_scan_0",
        "before=9999999999999999_" + "x" * 9 + "_0",
        "before=%00",
        "q=%00",
        "type=nope&status=%FF",
        "before=9999999999999999_scan_0",
    ],
)
def test_invalid_query_lists_the_newest_scans(home: Member, query: str) -> None:
    scan = finished_scan(home)
    assert rows_of(browser_of(home).get(f"/o/home/scans/?{query}")) == [scan.url]


@given(
    st.datetimes(min_value=datetime(1970, 1, 1), max_value=datetime(2200, 1, 1)),
    st.from_regex("[0-9A-Za-z]{22}", fullmatch=True),
)
def test_keyset_position_can_be_parsed_from_its_text(moment: datetime, random: str) -> None:
    place = (moment.replace(tzinfo=UTC), f"scan_{random}")
    assert keyset.NEWEST_FIRST.parse(keyset.NEWEST_FIRST.text(place)) == place


def test_scans_are_filtered_by_type_status_and_text(home: Member) -> None:
    finished_scan(home, url="https://shop.example.com/Basket", type="seo")
    finished_scan(home, "partial", url="https://shop.example.com/basket", type="security")
    finished_scan(home, url="https://www.example.com/", type="seo")
    client = browser_of(home)

    def listed_urls(query: str) -> set[str]:
        return set(rows_of(client.get(f"/o/home/scans/?{query}")))

    assert listed_urls("type=security") == {"https://shop.example.com/basket"}
    assert listed_urls("status=partial") == {"https://shop.example.com/basket"}
    assert listed_urls("type=seo&status=partial") == set()
    assert listed_urls("q=BASKET") == {"https://shop.example.com/Basket", "https://shop.example.com/basket"}
    assert listed_urls("q=%25") == set()
    assert listed_urls("q=basket&type=seo") == {"https://shop.example.com/Basket"}
    page = page_of(client.get("/o/home/scans/?type=seo&status=partial&q=%22x"))
    assert page.xpath("//select[@name='type']/option[@selected]/@value") == ["seo"]
    assert page.xpath("//select[@name='status']/option[@selected]/@value") == ["partial"]
    assert page.xpath("//input[@name='q']/@value") == ['"x']


def test_pagination_links_keep_filters(home: Member) -> None:
    create_scans(home, [f"https://example.com/{n}" for n in range(30)])
    link = pagination_link(browser_of(home), "/o/home/scans/?type=seo&status=failed&q=example", "next")
    query = parse_qs(urlsplit(link or "").query)
    assert {name: query[name] for name in ("type", "status", "q")} == {
        "type": ["seo"],
        "status": ["failed"],
        "q": ["example"],
    }


def test_search_continues_beyond_its_window(home: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keyset, "WINDOW", 20)
    matching = {3, 31, 32, 59}
    create_scans(home, [f"https://example.com/{'rare' if n in matching else 'page'}-{n}" for n in range(60)])
    client = browser_of(home)
    path: str | None = "/o/home/scans/?q=rare"
    assert "Searched" in text_of(client.get(path or ""))
    urls: list[str] = flatten_pages(walk_pages(client, path, "next"))
    assert urls == [f"https://example.com/rare-{n}" for n in sorted(matching, reverse=True)]
    nothing = client.get("/o/home/scans/?q=nowhere")
    assert "Nothing found so far" in text_of(nothing)
    assert "Search further back" in text_of(nothing)
    # The last part of the search has no match.
    Scan.objects.filter(url__endswith="-3").delete()
    urls.remove("https://example.com/rare-3")
    # Paging back from the oldest page to the newest loses no row.
    last = path
    while (older := pagination_link(client, last or "", "next")) is not None:
        last = older
    assert set(flatten_pages(walk_pages(client, last, "prev"))) == set(urls)


@pytest.mark.parametrize(
    ("url", "host", "path"),
    [
        ("https://example.com/", "example.com", "/"),
        ("http://example.com:8080/a?b=https://x.example.com/#c", "example.com:8080", "/a?b=https://x.example.com/#c"),
        ("https://[2001:db8::1]:8443/x/y", "[2001:db8::1]:8443", "/x/y"),
        ("https://example.com?q", "example.com", "/"),
        ("javascript:alert(1)", "", "/"),
        ("https://", "", "/"),
    ],
)
def test_host_of_a_scan_includes_the_port(home: Member, url: str, host: str, path: str) -> None:
    scan = Scan.objects.get(id=make_scan(home, url=url).id)
    assert (scan.host, path_of(scan.url)) == (host, path)


def table_cells(page: html.HtmlElement) -> list[list[str]]:
    """Return the rows of the last table.

    Cell labels for narrow screens are left out.
    """
    for name in page.xpath("//*[@class='type-name']"):
        name.drop_tree()
    table = page.xpath("//table[contains(@class, 'graded')]")[-1]
    return [
        [" ".join(cell.text_content().split()).replace(NONE, "") for cell in row] for row in table.xpath(".//tbody/tr")
    ]


def test_site_list_displays_last_grades(home: Member) -> None:
    finished_scan(home, url="https://a.example.com/", type="seo", age=timedelta(hours=2))
    old = finished_scan(home, url="https://a.example.com/", type="security", age=timedelta(hours=1))
    last = finished_scan(home, url="https://a.example.com/", type="security")
    lost = finished_scan(home, url="https://a.example.com/404", type="security")
    Scan.objects.filter(id__in=[old.id, lost.id]).update(score=12, grade="F")
    finished_scan(home, url="https://c.example.com/x", type="performance")
    client = browser_of(home, "viewer")
    page = page_of(client.get("/o/home/sites/"))
    links = page.xpath("//tbody/tr[1]/td//a/@href")
    cells = table_cells(page)
    assert [row[:6] for row in cells] == [
        ["a.example.com", "1 high", "Grade C 71", "", "", "Grade C 71"],
        ["c.example.com /x", "1 high", "", "Grade C 71", "", ""],
    ]
    assert f"/report/{last.id}" in links
    for link in page.xpath("//tbody//th/a/@href"):
        assert client.get(link).status_code == 200


def test_site_lists_each_page_once(home: Member) -> None:
    for path in ("/b", "/a", "/a", "/", "/b?x=1"):
        for type in ("seo", "security"):
            finished_scan(home, url=f"https://example.com{path}", type=type)
    finished_scan(home, url="https://www.example.com/other")
    client = browser_of(home)
    page = page_of(client.get("/o/home/sites/example.com"))
    assert [element.text_content() for element in page.xpath("//tr[@class='is-shown']/th/a")] == ["/"]
    links = page.xpath("//table[contains(@class, 'graded')]//tbody//th/a/@href")
    rows = table_cells(page)
    assert [row[0] for row in rows] == ["/", "/a", "/b", "/b?x=1"]
    assert rows[1][1:5] == ["Grade C 71", "", "", "Grade C 71"]
    for link, row in zip(links, rows, strict=True):
        response = client.get(f"/o/home/sites/example.com{link}")
        assert f"{row[0]} over time" in text_of(response)
    filtered = page_of(client.get("/o/home/sites/example.com?q=X%3D1"))
    assert [row[0] for row in table_cells(filtered)] == ["/b?x=1"]


def test_pages_of_a_site_are_paginated(home: Member) -> None:
    paths = sorted(f"/{n:02}" for n in range(60))
    create_scans(home, [f"https://example.com{path}" for path in paths for _ in range(3)])
    create_scans(home, ["https://example.co/00", "https://example.com.au/00"])
    client = browser_of(home)
    pages = walk_pages(client, "/o/home/sites/example.com", "next")
    assert [len(page) for page in pages] == [25, 25, 10]
    assert flatten_pages(pages) == paths
    back = walk_pages(client, f"/o/home/sites/example.com?after=https://example.com{paths[49]}", "prev")
    assert flatten_pages(reversed(back)) == paths


def test_url_too_long_for_the_index_is_displayed(home: Member) -> None:
    long = f"https://example.com/{'x' * 3000}"
    finished_scan(home, url=long)
    page = browser_of(home).get(f"/o/home/sites/example.com?page={long}")
    assert table_cells(page_of(page))[0][1] == "Grade C 71"


def create_sites(member: Member, hosts: Iterable[str], **columns: Any) -> None:
    """Create states of sites, each with a scan."""
    hosts = list(hosts)
    create_scans(member, [f"https://{host}/" for host in hosts])
    SiteState.objects.bulk_create(
        SiteState(
            organization=member.organization,
            host=host,
            url=f"https://{host}/",
            scanned_at=NOW + timedelta(minutes=n),
            **{"urgency": 3_000, "lowest_score": n % 7 * 10} | columns,
        )
        for n, host in enumerate(hosts)
    )


@pytest.mark.parametrize("sort", ["", "name", "-name", "score", "-scanned"])
def test_sorted_sites_are_paginated(home: Member, sort: str) -> None:
    hosts = [f"h{n:02}.example.com" for n in range(60)]
    create_sites(home, hosts)
    by_score = sorted(hosts, key=lambda host: (int(host[1:3]) % 7, host))
    expected = {"": hosts, "name": hosts, "score": by_score}.get(sort, hosts[::-1])
    client = browser_of(home)
    path = f"/o/home/sites/?sort={sort}"
    pages = walk_pages(client, path, "next")
    assert [len(page) for page in pages] == [25, 25, 10]
    assert flatten_pages(pages) == expected
    back = walk_pages(client, f"{path}&after={expected[49]}", "prev")
    assert flatten_pages(reversed(back)) == expected
    for query in ("after=zzz", "before=%00&after=%00", "sort=colour"):
        assert len(rows_of(client.get(f"/o/home/sites/?{query}"))) == 25


def test_sites_are_filtered(home: Member) -> None:
    create_sites(home, ["bad.example.com"], urgency=40, critical=2, seo_score=40, seo_grade="F")
    create_sites(home, ["down.example.com"], urgency=1_080, failing_since=NOW, security_score=80, security_grade="B")
    create_sites(home, ["fine.example.com"], urgency=3_097, seo_score=97, seo_grade="A+")
    client = browser_of(home)

    def hosts(query: str) -> list[str]:
        return [host.partition(".")[0] for host in rows_of(client.get(f"/o/home/sites/?{query}"))]

    assert hosts("") == ["bad", "down", "fine"]
    assert hosts("state=unreachable") == ["down"]
    assert hosts("grade=F") == hosts("state=critical") == hosts("q=BAD") == ["bad"]
    assert hosts("type=seo") == ["bad", "fine"]
    assert hosts("type=security&grade=F") == hosts("check=hsts") == hosts("tag=north") == []
    assert hosts("state=%00&grade=Z&type=x&check=nothing") == ["bad", "down", "fine"]
    (heading,) = page_of(client.get("/o/home/sites/")).xpath("//th[@aria-sort]")
    assert (heading.get("aria-sort"), heading.xpath("string(a/@href)")) == ("ascending", "?sort=-state")


def test_trend_breaks_where_the_catalogue_changed(home: Member) -> None:
    for minutes, version in ((30, "old"), (20, "old"), (10, "new"), (5, "new")):
        scan = finished_scan(home, age=timedelta(minutes=minutes))
        assert Scan.objects.get(id=scan.id).catalogue_version == "test"
        Scan.objects.filter(id=scan.id).update(catalogue_version=version)
    client = browser_of(home)
    for path in ("/o/home/sites/example.com", f"/report/{scan.id}"):
        page = page_of(client.get(path))
        assert len(page.xpath("//*[@class='plot']//*[local-name()='polyline']")) == 2, path
        assert "breaks where the rules changed" in page.text_content()


@pytest.mark.parametrize("host", ["nowhere.example.com", "%00", "EXAMPLE.COM", ""])
def test_unknown_site_returns_404(home: Member, host: str) -> None:
    finished_scan(home)
    response = browser_of(home).get(f"/o/home/sites/{host}")
    assert response.status_code == (404 if host else 200)


def test_report_is_kept_until_its_scan_is_too_old(home: Member) -> None:
    young, old = (make_scan(home, created_at=timezone.now() - timedelta(days=days)) for days in (29, 31))
    assert (young.is_kept, old.is_kept) == (True, False)
