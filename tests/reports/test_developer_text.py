"""Tests for a report as text for a web developer."""

from __future__ import annotations

from django.test import Client
from django.utils import timezone

from reports.models import Report
from scans.models import Scan
from scans.visits.claims import claim_scan, finish_scan
from tests.factories import Member, finished_scan, make_result, make_scan
from tests.reports.people import page_of, person
from tests.results import check_of
from website_scan.findings import HIGH
from website_scan.result import CategoryResult


def developer_text(client: Client, scan: Scan) -> str:
    response = client.get(f"/report/{scan.id}/for-developer.txt")
    assert response.status_code == 200
    assert response["Content-Type"] == "text/plain; charset=utf-8"
    return response.content.decode()


def test_report_menu_links_to_the_developer_text(home: Member) -> None:
    scan = finished_scan(home)
    page = page_of(person(home.organization).get(f"/report/{scan.id}"))
    address = f"/report/{scan.id}/for-developer.txt"
    (link,) = page.xpath(f"//a[@href='{address}']")
    (button,) = page.xpath(f"//button[@data-copy-from='{address}']")
    assert link.xpath("string(strong)") == "For my web developer"
    assert button.xpath("string(strong)") == "Copy for my web developer"
    # Without scripts, the link is visible, and the button is not.
    assert link.getparent().get("hidden") is None
    assert button.getparent().get("hidden") is not None


def test_developer_text_has_severe_findings_only(home: Member) -> None:
    scan = finished_scan(home)
    text = developer_text(person(home.organization), scan)
    for part in (scan.url, "  Security: C", "1. Bad thing found (Security, high)", "- =1+1", "Fix: Mend it."):
        assert part in text, text
    assert "Meh thing" not in text


def test_developer_text_names_the_readers_of_its_link(home: Member) -> None:
    scan, member = finished_scan(home), person(home.organization)
    text = developer_text(member, scan)
    assert f"Report:  {scan.report_url}" in text
    assert f"Only members of {home.organization.name} can open this link" in text
    Report.objects.filter(scan=scan).update(shared_at=timezone.now())
    for client in (member, Client()):
        text = developer_text(client, scan)
        assert "Anyone with this link can open the report." in text
        assert home.organization.name not in text


def test_developer_text_omits_muted_findings(home: Member) -> None:
    scan, client = make_scan(home), person(home.organization)
    claim, hsts = claim_scan(scan.id), check_of("hsts", "HSTS", "No HSTS header", "fail", HIGH, HIGH, "There is none.")
    assert claim is not None
    assert finish_scan(claim, make_result(scan, categories=(CategoryResult("things", "Things", 10, (hsts,), 71),)))
    assert "1. No HSTS header" in developer_text(client, scan)
    body = {"check": "hsts", "host": "example.com", "reason": "Accepted."}
    assert home.api.post("/v1/mutes", body).status_code == 201
    assert "No critical or high problems were found." in developer_text(client, scan)
