"""Tests for the page and the downloads of an audit's results by success criterion."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from scans.models import Scan
from sites.models import Audit
from tests.factories import Member, member_of
from tests.page_reading import browser_of, page_of, text_of
from tests.populated_audits import make_audit
from tests.queries import counted
from tests.sites.audits.test_conformance import audit_of, check

ROW = "//tr[@id='criterion-1.1.1']"


@pytest.fixture
def client(home: Member) -> Client:
    return browser_of(home)


@pytest.fixture
def audit(home: Member) -> Audit:
    """Audit of seven pages, of which six fail criterion 1.1.1."""
    failing = [(check("image-alt", "fail", "#a"),) for _ in range(6)]
    return audit_of(home, (check("image-alt", "pass"), check("html-has-lang", "pass")), *failing, kind="site")


def address(audit: Audit, query: str = "") -> str:
    return f"/audit/{audit.id}/conformance{query}"


def links(element: Any) -> list[tuple[str, str]]:
    return [(link.text_content(), link.get("href")) for link in element.xpath(".//td//a")]


def test_finding_links_to_the_audit_and_to_reports_of_pages(client: Client, audit: Audit) -> None:
    (row,) = page_of(client.get(address(audit))).xpath(ROW)
    finding, *pages = links(row)
    assert finding == ("image-alt", f"/audit/{audit.id}?type=accessibility#check-accessibility-image-alt")
    scans = {scan.url: scan.id for scan in Scan.objects.filter(audit_page__audit=audit)}
    first_five = [f"https://example.com/{number}" for number in range(1, 6)]
    assert pages == [(url, f"/report/{scans[url]}#check-image-alt") for url in first_five]
    text = " ".join(row.text_content().split())
    assert "6 places, 6 pages" in text
    assert "and 1 more" in text


def test_anchor_of_the_finding_is_on_the_page_of_the_audit(client: Client, audit: Audit) -> None:
    page = page_of(client.get(f"/audit/{audit.id}?type=accessibility"))
    assert page.xpath("//*[@id='check-accessibility-image-alt']")


def test_findings_of_a_single_page_are_in_its_report(client: Client, home: Member) -> None:
    audit = audit_of(home, (check("image-alt", "fail", "#a"),), kind="page")
    (row,) = page_of(client.get(address(audit))).xpath(ROW)
    scan = Scan.objects.get(audit_page__audit=audit)
    assert links(row) == [("image-alt", f"/report/{scan.id}#check-image-alt")]


def test_page_of_the_audit_names_failed_criteria_and_links_to_all(client: Client, audit: Audit) -> None:
    page = page_of(client.get(f"/audit/{audit.id}"))
    (callout,) = page.xpath("//p[contains(@class, 'is-failure')]")
    assert callout.text_content() == "Fails WCAG 2.2, level A: 1.1.1. Results by success criterion"
    menu = page.xpath(f"//ul[@class='drop-panel']//a[@href='{address(audit)}']")
    assert len(menu) == 1


def test_page_of_an_audit_without_a_failure_says_what_people_have_to_test(client: Client, home: Member) -> None:
    audit = audit_of(home, (check("image-alt", "pass"),), kind="site")
    (callout,) = page_of(client.get(f"/audit/{audit.id}")).xpath("//p[contains(@class, 'callout')]")
    assert callout.text_content() == (
        "No automatic check found a failure of WCAG 2.2, level AA. Checks cover parts of 22 of its 55 criteria; "
        "a person still has to test all 55. Results by success criterion"
    )


def test_audits_of_other_types_and_without_a_tested_page_say_nothing_about_criteria(
    client: Client, home: Member
) -> None:
    for types in (["security"], ["accessibility"]):
        audit = make_audit(home, kind="site", types=types, status="failed", completed_at=timezone.now())
        assert "No automatic check" not in text_of(client.get(f"/audit/{audit.id}"))


def test_report_without_a_failure_says_what_people_have_to_test(client: Client, home: Member) -> None:
    for result, expected in ((check("image-alt", "pass"), True), (check("image-alt", "fail"), False)):
        audit = audit_of(home, (result,), kind="page")
        text = text_of(client.get(f"/audit/{audit.id}"))
        assert ("a person still has to test all 55. Results by success criterion" in text) is expected


def test_downloads_are_of_the_whole_site(client: Client, audit: Audit) -> None:
    response = client.get(address(audit, "?format=json&level=A"))
    assert response["Content-Disposition"] == f'attachment; filename="{audit.id}-wcag22.json"'
    body = json.loads(response.content)
    assert (body["pages"], body["failed_criteria"]) == (7, {"A": ["1.1.1"]})


def test_audit_without_a_tested_page_claims_nothing(client: Client, home: Member) -> None:
    audit = make_audit(home, types=["accessibility"], status="failed", completed_at=timezone.now())
    (statement,) = page_of(client.get(address(audit))).xpath("//p[@class='meaning']")
    assert statement.text_content() == "No page was tested."


@pytest.mark.parametrize(
    "columns",
    [
        {"types": ["accessibility"]},
        {"types": ["seo"], "status": "completed", "completed_at": timezone.now()},
    ],
    ids=["running", "other type"],
)
def test_audits_without_results_have_no_page(client: Client, home: Member, columns: dict[str, Any]) -> None:
    audit = make_audit(home, **columns)
    assert client.get(address(audit)).status_code == 404
    assert address(audit) not in client.get(f"/audit/{audit.id}").content.decode()


def test_only_members_and_readers_of_a_shared_audit_see_the_page(audit: Audit) -> None:
    outsider, anonymous = browser_of(member_of("Other")), Client()
    assert outsider.get(address(audit)).status_code == 404
    assert anonymous.get(address(audit))["Location"].startswith("/login/")
    Audit.objects.filter(id=audit.id).update(shared_at=timezone.now())
    for reader in (outsider, anonymous):
        for query in ("", "?format=csv"):
            response = reader.get(address(audit, query))
            assert (response.status_code, response["X-Robots-Tag"]) == (200, "noindex, nofollow")


def test_number_of_queries_does_not_grow_with_pages(client: Client, home: Member, audit: Audit) -> None:
    small = audit_of(home, (check("image-alt", "fail", "#a"),), kind="site")
    numbers = []
    for each in (small, audit):
        client.get(address(each))
        with counted() as queries:
            client.get(address(each))
        numbers.append(len(queries))
    assert numbers[0] == numbers[1] <= 12
