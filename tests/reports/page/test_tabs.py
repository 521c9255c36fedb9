"""Tabs of a report, which lead to the other reports of the same visit, and its time, which is the same everywhere."""

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
    """Return the links of the tabs by their text."""
    links = page_of(response).xpath("//nav[@class='report-tabs']//a")
    return {" ".join(each.text_content().split()): each.get("href") for each in links}


@pytest.fixture
def scans(home: Member) -> dict[str, Scan]:
    """Scans of a visit: security and SEO with reports, accessibility failed."""
    audit = make_audit(home, kind="page", url=URL, types=["security", "accessibility", "seo"])
    (page,) = make_pages(audit, [URL])
    look_at(page, timezone.now())
    Scan.objects.filter(type="accessibility").update(status="failed", score=None, grade=None, error_code="TIMEOUT")
    Report.objects.filter(scan__type="accessibility").delete()
    return {each.type: each for each in Scan.objects.all()}


def test_members_get_to_the_other_reports_of_the_visit(home: Member, scans: dict[str, Scan]) -> None:
    page = person(home.organization, "member").get(f"/report/{scans['security'].id}")
    grades = {each.type: each.grade for each in scans.values()}
    assert tabs(page) == {
        f"Security Grade {grades['security']}": f"/report/{scans['security'].id}",
        "Performance scan": f"{FORM}performance",
        "Accessibility failed": f"/report/{scans['accessibility'].id}",
        f"SEO Grade {grades['seo']}": f"/report/{scans['seo'].id}",
    }
    (current,) = page_of(page).xpath("//nav[@class='report-tabs']//a[@aria-current]/@href")
    assert current == f"/report/{scans['security'].id}"


def test_viewers_are_offered_no_scan(home: Member, scans: dict[str, Scan]) -> None:
    page = person(home.organization, "viewer").get(f"/report/{scans['security'].id}")
    assert [each.split()[0] for each in tabs(page)] == ["Security", "Accessibility", "SEO"]


def test_strangers_get_to_shared_reports_only(home: Member, scans: dict[str, Scan]) -> None:
    path = f"/report/{scans['security'].id}"
    Report.objects.filter(scan=scans["security"]).update(shared_at=timezone.now())
    assert tabs(Client().get(path)) == {}
    Audit.objects.update(shared_at=timezone.now())
    shown = tabs(Client().get(path))
    assert sorted(shown.values()) == sorted([path, f"/report/{scans['seo'].id}"])


def test_a_report_of_one_type_offers_the_other_three(home: Member) -> None:
    scan = finished_scan(home, type="seo", url=URL)
    shown = tabs(person(home.organization, "member").get(f"/report/{scan.id}"))
    assert [name for name, href in shown.items() if href.startswith(FORM)] == [
        *("Security scan", "Performance scan", "Accessibility scan"),
    ]
    assert tabs(person(home.organization, "viewer").get(f"/report/{scan.id}")) == {}


def test_an_expired_report_is_not_promised(home: Member, scans: dict[str, Scan]) -> None:
    Report.objects.filter(scan=scans["seo"]).update(expires_at=timezone.now() - timedelta(days=1))
    shown = tabs(person(home.organization, "viewer").get(f"/report/{scans['security'].id}"))
    assert shown["SEO expired"] == f"/report/{scans['seo'].id}"


def test_samples_have_tabs_with_grades(db: None) -> None:
    shown = tabs(Client().get("/report/sample/seo"))
    assert list(shown.values()) == [f"/report/sample/{each}" for each in Scan.Type.values]
    assert all("Grade" in each for each in shown)


def test_a_report_has_one_time(home: Member) -> None:
    """A scan that was created later may have ended earlier: their order is that of their creation."""
    first, second = (finished_scan(home, url=URL, age=timedelta(hours=age)) for age in (2, 1))
    for scan, created, ended in ((first, 0, 22), (second, 10, 12)):
        at = {"created_at": created, "completed_at": ended}
        Scan.objects.filter(id=scan.id).update(
            **{name: datetime(2026, 11, 26, 5, 45, s, tzinfo=UTC) for name, s in at.items()}
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
    choice = text_of(reader.get(f"/report/{second.id}/diff"))
    assert "Compare the report of 26 November 2026, 05:45:10 UTC with" in choice
    assert "26 November 2026, 05:45:00 UTC" in choice
