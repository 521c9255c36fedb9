"""Tests for comparing two reports of a page."""

from __future__ import annotations

from django.test import Client
from django.utils import timezone

from reports.models import Report
from scans.models import Scan
from tests.factories import Member, finished_scan, make_scan
from tests.reports.people import page_of, person, text_of
from tests.reports.test_diff_api import finding, scan_with_report
from website_scan.report.storage import stored_text


def share(*scans: Scan) -> None:
    Report.objects.filter(scan__in=scans).update(shared_at=timezone.now())


def test_any_two_reports_of_a_page_can_be_compared(home: Member) -> None:
    oldest = scan_with_report(home, finding("a", places=["#a", "#b"]), finding("b"), days=3, score=40)
    scan_with_report(home, finding("a"), days=2)
    newest = scan_with_report(home, finding("a", places=["#b", "#c"]), finding("b", "pass"), days=1, score=52)
    response = person(home.organization, "viewer").get(f"/report/{newest.id}/diff?with={oldest.id}")
    assert response.status_code == 200
    text, page = text_of(response), page_of(response)
    assert "+12 points since the report of" in text
    groups = page.xpath("//details[contains(@class, 'changed')]/summary/h3/text()")
    assert [title.strip() for title in groups] == ["Worse", "Fixed"]
    assert page.xpath("//ul[@aria-label='New places']/li/code/text()") == ["#c"]
    assert page.xpath("//ul[@aria-label='Places that are fixed']/li/code/text()") == ["#a"]
    # Findings link to the report that contains them.
    assert page.xpath(f"//details//a[@href='/report/{newest.id}#check-a']")
    assert page.xpath(f"//a[@href='/report/{oldest.id}/diff?with={newest.id}']")
    assert page.xpath("//select[@name='with']/option[@selected]/@value") == [oldest.id]
    assert len(page.xpath("//select[@name='with']/option")) == 2
    assert newest.id not in page.xpath("//select[@name='with']/option/@value")


def test_report_is_compared_with_the_previous_one(home: Member) -> None:
    first, second, third = (scan_with_report(home, finding("a"), days=days) for days in (3, 2, 1))
    client = person(home.organization)
    page = page_of(client.get(f"/report/{second.id}/diff"))
    assert page.xpath("//select[@name='with']/option[@selected]/@value") == [first.id]
    assert page.xpath("//select[@name='with']/option/@value") == [third.id, first.id]
    oldest = text_of(client.get(f"/report/{first.id}/diff"))
    assert "This is the oldest available report of the page." in oldest


def test_report_links_to_the_comparison(home: Member) -> None:
    scan = scan_with_report(home, finding("a"), days=3)
    client = person(home.organization)
    path = f"/report/{scan.id}"
    assert not page_of(client.get(path)).xpath(f"//a[@href='{path}/diff']")
    assert client.get(f"{path}/diff").status_code == 404
    scan_with_report(home, finding("a"), days=2)
    assert page_of(client.get(path)).xpath(f"//a[@href='{path}/diff']")


def test_comparison_needs_reports_of_one_type(home: Member) -> None:
    scan, other = finished_scan(home), finished_scan(home, type="seo")
    response = person(home.organization).get(f"/report/{scan.id}/diff?with={other.id}")
    assert response.status_code == 400
    assert "The reports are not of the same type: seo and security." in text_of(response)


def test_scan_without_report_cannot_be_compared(home: Member) -> None:
    scan, running = finished_scan(home), make_scan(home, status="scanning")
    client = person(home.organization)
    for path in (f"{scan.id}/diff?with={running.id}", f"{running.id}/diff?with={scan.id}", f"{scan.id}/diff?with=x"):
        assert client.get(f"/report/{path}").status_code == 404


def test_strangers_compare_only_shared_reports(home: Member) -> None:
    before, hidden, after = (scan_with_report(home, finding("a"), days=days) for days in (3, 2, 1))
    share(before, after)
    for stranger in (Client(), person(None)):
        response = stranger.get(f"/report/{after.id}/diff?with={before.id}")
        assert response.status_code == 200
        for path in (f"{after.id}/diff?with={before.id}", f"{before.id}/diff?with={after.id}"):
            response = stranger.get(f"/report/{path}")
            assert hidden.id not in response.content.decode()
            assert not page_of(response).xpath("//select")
        # Unshared reports are unavailable, both by ID and as the previous report.
        for path in (f"{after.id}/diff?with={hidden.id}", f"{after.id}/diff", f"{after.id}/diff?with="):
            assert stranger.get(f"/report/{path}").status_code == 404
    assert Client().get(f"/report/{hidden.id}/diff?with={after.id}").status_code == 302


def test_foreign_report_cannot_be_compared(home: Member, stranger: Member) -> None:
    ours, theirs = finished_scan(home), finished_scan(stranger)
    share(theirs)
    assert person(home.organization).get(f"/report/{ours.id}/diff?with={theirs.id}").status_code == 404
    share(ours)
    assert Client().get(f"/report/{ours.id}/diff?with={theirs.id}").status_code == 404


def test_comparison_escapes_text_from_the_site(home: Member) -> None:
    before = scan_with_report(home, finding("a", "pass"), days=2)
    after = scan_with_report(home, finding("a", places=["<script>alert(1)</script>"]), days=1)
    content = person(home.organization).get(f"/report/{after.id}/diff?with={before.id}").content.decode()
    assert "<script>alert" not in content
    assert "&lt;script&gt;" in content


def test_comparison_warns_if_the_rules_changed(home: Member) -> None:
    before, after = scan_with_report(home, finding("a"), days=2), scan_with_report(home, finding("a", "pass"), days=1)
    export = Report.objects.get(scan=before).export_json | {"catalogue_version": "older"}
    Report.objects.filter(scan=before).update(export=stored_text(export))
    text = text_of(person(home.organization).get(f"/report/{after.id}/diff?with={before.id}"))
    assert "The rules changed since the report of" in text
    assert "No longer found" in text
    assert "points since" not in text
