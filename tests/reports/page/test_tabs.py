"""Tests for the tabs of a report page.

They link to other reports of the same visit.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from django.test import Client
from django.utils import timezone

from reports.models import Report
from scans.models import Scan
from sites.models import Audit
from tests.factories import Member, finished_scan
from tests.page_reading import page_of
from tests.populated_audits import look_at, make_audit, make_pages
from tests.reports.people import person, text_of
from tests.responses import ClientResponse

URL = "https://example.com/"
FORM = "/o/home/scans/new?url=https%3A%2F%2Fexample.com%2F&type="


def tabs(response: ClientResponse) -> dict[str, str]:
    """Return the links of the tabs, mapped by text."""
    links = page_of(response).xpath("//nav[@class='report-tabs']//a")
    return {" ".join(link.text_content().split()): link.get("href") for link in links}


@pytest.fixture
def scans(home: Member) -> dict[str, Scan]:
    """Return the security, accessibility and SEO scans of one visit.

    The accessibility scan failed.
    """
    audit = make_audit(home, kind="page", url=URL, types=["security", "accessibility", "seo"])
    (page,) = make_pages(audit, [URL])
    look_at(page, timezone.now())
    Scan.objects.filter(type="accessibility").update(status="failed", score=None, grade=None, error_code="TIMEOUT")
    Report.objects.filter(scan__type="accessibility").delete()
    return {scan.type: scan for scan in Scan.objects.all()}


def test_tabs_show_members_all_scans_of_a_visit(home: Member, scans: dict[str, Scan]) -> None:
    page = person(home.organization, "member").get(f"/report/{scans['security'].id}")
    grades = {scan.type: scan.grade for scan in scans.values()}
    assert tabs(page) == {
        f"Security Grade {grades['security']}": f"/report/{scans['security'].id}",
        "Performance scan": f"{FORM}performance",
        "Accessibility failed": f"/report/{scans['accessibility'].id}",
        f"SEO Grade {grades['seo']}": f"/report/{scans['seo'].id}",
    }
    (current,) = page_of(page).xpath("//nav[@class='report-tabs']//a[@aria-current]/@href")
    assert current == f"/report/{scans['security'].id}"


def test_tabs_do_not_offer_scans_to_viewers(home: Member, scans: dict[str, Scan]) -> None:
    page = person(home.organization, "viewer").get(f"/report/{scans['security'].id}")
    assert [label.split()[0] for label in tabs(page)] == ["Security", "Accessibility", "SEO"]


def test_strangers_see_tabs_of_shared_reports(home: Member, scans: dict[str, Scan]) -> None:
    path = f"/report/{scans['security'].id}"
    Report.objects.filter(scan=scans["security"]).update(shared_at=timezone.now())
    assert tabs(Client().get(path)) == {}
    Audit.objects.update(shared_at=timezone.now())
    links = tabs(Client().get(path))
    assert sorted(links.values()) == sorted([path, f"/report/{scans['seo'].id}"])


def test_tabs_offer_the_other_scan_types(home: Member) -> None:
    scan = finished_scan(home, type="seo", url=URL)
    links = tabs(person(home.organization, "member").get(f"/report/{scan.id}"))
    assert [name for name, href in links.items() if href.startswith(FORM)] == [
        *("Security scan", "Performance scan", "Accessibility scan"),
    ]
    assert tabs(person(home.organization, "viewer").get(f"/report/{scan.id}")) == {}


def test_tab_of_an_expired_report_says_expired(home: Member, scans: dict[str, Scan]) -> None:
    Report.objects.filter(scan=scans["seo"]).update(expires_at=timezone.now() - timedelta(days=1))
    links = tabs(person(home.organization, "viewer").get(f"/report/{scans['security'].id}"))
    assert links["SEO expired"] == f"/report/{scans['seo'].id}"


def test_tabs_of_samples_have_grades(db: None) -> None:
    links = tabs(Client().get("/report/sample/seo"))
    assert list(links.values()) == [f"/report/sample/{scan_type}" for scan_type in Scan.Type.values]
    assert all("Grade" in label for label in links)


def test_report_time_is_when_the_scan_was_created(home: Member) -> None:
    """Reports are ordered by the creation of their scans.

    A scan that was created later may end earlier.
    """
    first, second = (finished_scan(home, url=URL, age=timedelta(hours=age)) for age in (2, 1))
    for scan, created, ended in ((first, 0, 22), (second, 10, 12)):
        times = {"created_at": created, "completed_at": ended}
        Scan.objects.filter(id=scan.id).update(
            **{name: datetime(2026, 11, 26, 5, 45, s, tzinfo=UTC) for name, s in times.items()}
        )
        expires = timezone.now() + timedelta(days=30)
        Report.objects.filter(scan=scan).update(expires_at=expires)
    reader = person(home.organization, "viewer")
    page = page_of(reader.get(f"/report/{first.id}"))
    (head,) = page.xpath("//*[@class='report-title']//time/text()")
    assert head == "26 November 2026, 05:45:00 UTC"
    (newer,) = page.xpath("//p[@class='callout']//time/text()")
    assert newer == "26 November 2026, 05:45:10 UTC"
    text = text_of(reader.get(f"/report/{first.id}"))
    assert "There is no earlier report of this page." in text
    assert "first report of this page" not in text
    text_of_comparison = text_of(reader.get(f"/report/{second.id}/diff"))
    assert "Compare the report of 26 November 2026, 05:45:10 UTC with" in text_of_comparison
    assert "26 November 2026, 05:45:00 UTC" in text_of_comparison
