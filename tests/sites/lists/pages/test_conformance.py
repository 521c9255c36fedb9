"""Tests for the page with a list's results by success criterion."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from sites.models import SiteList
from tests.factories import Member
from tests.page_reading import browser_of, page_of, text_of
from tests.queries import counted
from tests.reports.test_conformance_words import SUCCESS
from tests.sites.lists.cast import make_list
from tests.sites.lists.snapshot_cast import SnapshotSite, snapshot
from tests.sites.lists.test_conformance import CHECKS, LETTERS, site_of


@pytest.fixture
def client(home: Member) -> Client:
    return browser_of(home)


@pytest.fixture
def site_list(home: Member) -> SiteList:
    site_list = make_list(home, types=["security", "accessibility"])
    snapshot(site_list, [site_of(number, letters) for number, letters in enumerate(LETTERS)], checks=CHECKS)
    return site_list


def path_of(site_list: SiteList, query: str = "") -> str:
    return f"/o/home/lists/{site_list.id}/conformance{query}"


def cells(response: Any, number: str) -> list[str]:
    """Return the texts of a criterion's row."""
    (row,) = page_of(response).xpath(f"//tr[@id='criterion-{number}']")
    return [" ".join(cell.text_content().split()) for cell in row.xpath("./th|./td")]


def test_page_says_first_how_many_sites_fail(client: Client, site_list: SiteList) -> None:
    response = client.get(path_of(site_list))
    (statement,) = page_of(response).xpath("//p[@class='meaning']/text()")
    assert statement.startswith("2 of 5 sites fail WCAG 2.2 at level A, and 1 more at level AA.")
    assert "Automatic checks prove failures only." in text_of(response)


def test_criterion_has_numbers_checks_and_sites(client: Client, site_list: SiteList) -> None:
    response = client.get(path_of(site_list))
    name, level, result, failed, to_review, checks = cells(response, "2.4.4")
    assert (name, level, result) == ("2.4.4 Link Purpose (In Context)", "A", "Fails")
    assert (failed, to_review) == ("1 20 %", "1")
    assert "Links without a name fails on 1 site, needs review on 1 site" in checks
    assert "Sites that fail: 0.example" in checks
    run = site_list.runs.get()
    expected = f"/o/home/lists/{site_list.id}/runs/{run.id}/sites?check=link-name"
    assert page_of(response).xpath("//tr[@id='criterion-2.4.4']//li//a/@href") == [expected]
    assert client.get(expected).status_code == 200


def test_every_criterion_has_a_procedure(client: Client, site_list: SiteList) -> None:
    page = page_of(client.get(path_of(site_list)))
    assert len(page.xpath("//tr//details/summary[contains(., 'What a person still has to test')]")) == 55
    assert len(page.xpath("//tr//details//ol/li[starts-with(., 'It fails if ')]")) == 55


def test_choices_are_in_the_links(client: Client, site_list: SiteList) -> None:
    page = page_of(client.get(path_of(site_list, "?standard=en301549&level=A&result=fails&tag=north")))
    assert page.xpath("//select/option[@selected]/text()") == ["EN 301 549 V3.2.1", "A", "north"]
    assert page.xpath("//input[@name='result']/@value") == ["fails"]
    assert len(page.xpath("//tbody/tr")) == 0
    assert page.xpath("//a[@download]/@href") == [
        "?standard=en301549&level=A&format=json&tag=north",
        "?standard=en301549&level=A&format=csv&tag=north",
    ]


@pytest.mark.parametrize(
    ("query", "media_type"), [("?format=csv", "text/csv; charset=utf-8"), ("?format=json", "application/json")]
)
def test_results_can_be_downloaded(client: Client, site_list: SiteList, query: str, media_type: str) -> None:
    response = client.get(path_of(site_list, query))
    assert (response.status_code, response["Content-Type"]) == (200, media_type)
    assert response["Content-Disposition"].startswith(f'attachment; filename="{site_list.id}-wcag22.')


def test_no_text_says_that_a_site_meets_a_criterion(client: Client, home: Member) -> None:
    """A machine proves failures only, here on a list in which no site fails."""
    site_list = make_list(home, types=["accessibility"])
    snapshot(site_list, [SnapshotSite("https://a.example/", {"accessibility": 100}, "ppppp")], checks=CHECKS)
    (section,) = page_of(client.get(path_of(site_list))).xpath("//section[contains(@class, 'conformance')]")
    for procedure in section.xpath(".//details[contains(@class, 'procedure')]"):
        procedure.getparent().remove(procedure)
    text = section.text_content()
    assert "no automatic check found a failure" in text
    assert SUCCESS.findall(text) == []
    assert SUCCESS.findall(client.get(path_of(site_list, "?format=csv")).content.decode()) == []


def test_list_of_other_types_has_no_such_page(client: Client, home: Member) -> None:
    site_list = make_list(home)
    snapshot(site_list, [SnapshotSite("https://a.example/", {"seo": 50}, "pppp")])
    assert client.get(path_of(site_list)).status_code == 404
    assert "Success criteria" not in text_of(client.get(f"/o/home/lists/{site_list.id}"))


def test_page_without_snapshot_says_so(client: Client, home: Member) -> None:
    site_list = make_list(home, types=["accessibility"])
    response = client.get(path_of(site_list))
    assert "No snapshot yet" in text_of(response)
    assert page_of(response).xpath("//a[@aria-current='page' and .='Success criteria']")


def test_number_of_queries_does_not_grow_with_sites(client: Client, home: Member, site_list: SiteList) -> None:
    large = make_list(home, types=["security", "accessibility"])
    snapshot(large, [site_of(number, LETTERS[number % 6]) for number in range(60)], checks=CHECKS)
    client.get(path_of(site_list))
    with counted() as queries_of_few:
        client.get(path_of(site_list))
    with counted() as queries_of_many:
        client.get(path_of(large))
    assert len(queries_of_few) == len(queries_of_many)
