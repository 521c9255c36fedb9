"""Tests for the page and the downloads of a report's results by success criterion."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from reports.models import Report
from scans.models import Scan
from tests.factories import Member, finished_scan, member_of
from tests.page_reading import browser_of, page_of
from tests.reports.test_conformance_api import accessibility_scan
from website_scan.accessibility.standards import success_criteria

ROWS = "//table[contains(@class, 'criteria')]/tbody/tr"
ATTACK = "<script>alert(1)</script>"


@pytest.fixture
def scan(home: Member) -> Scan:
    return accessibility_scan(home)


@pytest.fixture
def client(home: Member) -> Client:
    return browser_of(home, "viewer")


def address(scan: Scan, query: str = "") -> str:
    return f"/report/{scan.id}/conformance{query}"


def get(client: Client, scan: Scan, query: str = "") -> Any:
    response = client.get(address(scan, query))
    assert response.status_code == 200
    return response


def row_texts(response: Any) -> list[str]:
    """Return the text of each criterion's row, with single spaces."""
    return [" ".join(row.text_content().split()) for row in page_of(response).xpath(ROWS)]


def test_page_begins_with_the_criteria_that_fail(client: Client, scan: Scan) -> None:
    page = page_of(get(client, scan))
    assert page.xpath("//p[@class='meaning']")[0].text_content().startswith("Fails WCAG 2.2, level A: 1.1.1.")
    assert "Automatic checks prove failures only." in page.text_content()


def test_page_has_a_row_for_each_criterion(client: Client, scan: Scan) -> None:
    response = get(client, scan)
    rows = row_texts(response)
    assert len(rows) == 55
    assert rows[0].startswith("1.1.1 Non-text Content A Fails Images without a text alternative")
    (first, *_) = page_of(response).xpath(ROWS)
    links = [link.get("href") for link in first.xpath(".//a")]
    assert links == [success_criteria()["1.1.1"].url, f"/report/{scan.id}#check-image-alt"]


def test_rows_have_the_procedure_of_their_criterion(client: Client, scan: Scan) -> None:
    (first, *_) = row_texts(get(client, scan))
    criterion = success_criteria()["1.1.1"]
    for text in (criterion.asks, criterion.machine, *criterion.procedure):
        assert text in first


@pytest.mark.parametrize(
    ("query", "rows", "clause"),
    [
        ("?standard=en301549", 50, "9.1.1.1"),
        ("?standard=en301549&level=AAA", 50, "9.1.1.1"),
        ("?standard=section508&level=A", 25, "1.1.1"),
        ("?level=AAA", 86, "1.1.1"),
        ("?standard=unknown&level=B&result=unknown&format=unknown", 55, "1.1.1"),
    ],
)
def test_standard_and_level_can_be_chosen(client: Client, scan: Scan, query: str, rows: int, clause: str) -> None:
    texts = row_texts(get(client, scan, query))
    assert (len(texts), clause in texts[0]) == (rows, True)


def test_criteria_can_be_filtered_by_result(client: Client, scan: Scan) -> None:
    response = get(client, scan, "?result=no-automatic-failure&level=A")
    (row,) = row_texts(response)
    assert row.startswith("3.1.1 Language of Page A No automatic failure")
    counts = {
        link.text_content().strip(): link.get("href")
        for link in page_of(response).xpath("//ul[contains(@class, 'result-counts')]//a")
    }
    assert list(counts) == [
        "31 All criteria",
        "1 Fails",
        "0 Needs review",
        "1 No automatic failure",
        "29 Not tested automatically",
    ]
    assert counts["1 Fails"] == "?standard=wcag22&level=A&result=fails"


def test_result_without_criteria_has_a_way_back(client: Client, scan: Scan) -> None:
    page = page_of(get(client, scan, "?result=needs-review"))
    assert page.xpath(ROWS) == []
    assert page.xpath("//div[contains(@class, 'empty')]//a")[0].get("href") == "?standard=wcag22&level=AA"


def test_downloads_have_the_chosen_standard(client: Client, scan: Scan) -> None:
    page = page_of(get(client, scan, "?standard=en301549&level=A&result=fails"))
    links = [link.get("href") for link in page.xpath("//a[@download]")]
    assert links == [f"?standard=en301549&level=A&format={name}" for name in ("json", "csv", "earl")]
    as_json, as_csv, as_earl = (client.get(address(scan, link)) for link in links)
    assert as_json["Content-Disposition"] == f'attachment; filename="{scan.id}-en301549.json"'
    assert json.loads(as_json.content)["criteria"][0]["clause"] == "9.1.1.1"
    assert len(list(csv.DictReader(io.StringIO(as_csv.content.decode())))) == 30
    assert as_earl["Content-Type"] == "application/ld+json"
    assert len(json.loads(as_earl.content)["@graph"]) == 32


def test_files_equal_those_of_the_api(home: Member, client: Client, scan: Scan) -> None:
    for file_format in ("csv", "earl"):
        query = f"?format={file_format}"
        by_api = home.api.get(f"/v1/report/{scan.id}/conformance{query}")
        by_page = client.get(address(scan, query))
        assert by_page.content == by_api.content
        assert by_page["Content-Disposition"] == by_api["Content-Disposition"]


def test_report_links_to_its_results_by_criterion(client: Client, home: Member, scan: Scan) -> None:
    report = page_of(client.get(f"/report/{scan.id}"))
    (link,) = report.xpath(f"//section[contains(@class, 'verdict')]//a[@href='{address(scan)}']")
    assert link.text_content() == "Results by success criterion"
    other = client.get(f"/report/{finished_scan(home).id}")
    assert b"/conformance" not in other.content


def test_texts_of_the_site_are_escaped(client: Client, scan: Scan) -> None:
    report = Report.objects.get(scan=scan)
    report.export = report.export.replace("=1+1 images", ATTACK)
    report.save(update_fields=["export"])
    content = get(client, scan).content.decode()
    assert ATTACK not in content
    assert "&lt;script&gt;alert(1)" in content


def test_only_members_and_readers_of_a_shared_report_see_the_page(client: Client, scan: Scan) -> None:
    outsider = browser_of(member_of("Other"))
    anonymous = Client()
    for query in ("", "?format=csv"):
        assert outsider.get(address(scan, query)).status_code == 404
        response = anonymous.get(address(scan, query))
        assert (response.status_code, response["Location"].startswith("/login/")) == (302, True)
    Report.objects.filter(scan=scan).update(shared_at=timezone.now())
    for reader in (outsider, anonymous):
        for query in ("", "?format=json"):
            response = reader.get(address(scan, query))
            assert response.status_code == 200
            assert response["X-Robots-Tag"] == "noindex, nofollow"
    assert client.get(address(scan))["Cache-Control"] == "max-age=0, no-cache, no-store, must-revalidate, private"
    assert anonymous.get(address(scan))["Cache-Control"] == "private, no-cache"


def test_reports_of_other_types_have_no_page(home: Member, client: Client) -> None:
    assert client.get(address(finished_scan(home))).status_code == 404


def test_expired_report_has_no_page(client: Client, scan: Scan) -> None:
    Report.objects.filter(scan=scan).update(expires_at=timezone.now())
    assert client.get(address(scan)).status_code == 404
