"""Tests for sharing reports and making them private again."""

from __future__ import annotations

import json
from datetime import timedelta
from urllib.parse import quote

import pytest
from django.test import Client
from django.utils import timezone

from accounts import shared_pages
from accounts.models import ActivityEvent, Membership
from reports.models import Report
from scans.models import Scan
from scans.visits.claims import claim_scan, finish_scan
from tests.factories import Member, finished_scan, make_result, make_scan
from tests.reports.people import page_of, person, text_of
from tests.results import check_of
from website_scan.findings import HIGH
from website_scan.result import CategoryResult, Pictures

PATHS = (
    "",
    "/screenshot",
    "/page.webp",
    "/film/0.jpg",
    "/export/json",
    "/export/sarif",
    "/export/csv",
    "/for-developer.txt",
)
PICTURES = Pictures(b"RIFF", b"JPEG", {"of": "page", "size": None, "crops": {}, "frames": [(0, [], 4)]})


def scan_with_pictures(member: Member) -> Scan:
    """Create a finished scan whose report has pictures."""
    scan = make_scan(member)
    claim = claim_scan(scan.id)
    assert claim is not None
    assert finish_scan(claim, make_result(scan, screenshot=b"RIFF....WEBP", pictures=PICTURES))
    return scan


def set_sharing(client: Client, scan: Scan, to: str = "on") -> int:
    return client.post(f"/report/{scan.id}/share", {"shared": to}).status_code


def sharing_events() -> list[tuple[str, str, dict[str, str]]]:
    """Return the activity log's entries about sharing, oldest first."""
    events = ActivityEvent.objects.filter(action__startswith="report.").order_by("id")
    return list(events.values_list("action", "object_name", "details"))


def is_shared(scan: Scan) -> bool:
    return Report.objects.get(scan=scan).shared_at is not None


def test_shared_report_is_public_until_revoked(home: Member, stranger: Member) -> None:
    scan, member = scan_with_pictures(home), person(home.organization)
    others = (Client(), person(stranger.organization, "owner"), person(None))
    for suffix in PATHS:
        statuses = [client.get(f"/report/{scan.id}{suffix}").status_code for client in others]
        assert statuses == [302, 404, 404], suffix
    assert set_sharing(member, scan) == 302
    for suffix in PATHS:
        for client in others:
            response = client.get(f"/report/{scan.id}{suffix}")
            assert response.status_code == 200, suffix
            assert response["X-Robots-Tag"] == "noindex, nofollow"
            assert response["Cache-Control"].startswith("private") or "private" in response["Cache-Control"]
    # Only pages of logged-in readers are `no-store`, because they have private data.
    assert [client.get(f"/report/{scan.id}")["Cache-Control"] for client in others[:2]] == [
        "private, no-cache",
        "max-age=0, no-cache, no-store, must-revalidate, private",
    ]
    assert set_sharing(member, scan, "off") == 302
    for suffix in PATHS:
        statuses = [client.get(f"/report/{scan.id}{suffix}").status_code for client in others]
        assert statuses == [302, 404, 404], suffix


def test_shared_report_begins_findings_with_their_consequence(home: Member) -> None:
    scan = make_scan(home)
    claim = claim_scan(scan.id)
    assert claim is not None
    sentence = "Visitors may leave."
    check = check_of("hsts", "HSTS", "No HSTS header", "fail", HIGH, HIGH, "There is none.", consequence=sentence)
    assert finish_scan(claim, make_result(scan, categories=(CategoryResult("things", "Things", 10, (check,), 71),)))
    set_sharing(person(home.organization), scan)
    (first, second) = page_of(Client().get(f"/report/{scan.id}")).xpath("//li[@id='check-hsts']//div/p")[:2]
    assert (first.get("class"), first.text) == ("consequence", sentence)
    assert second.get("class") == "message"


def test_shared_report_hides_the_organization(home: Member) -> None:
    for age in (3, 2, 1):
        finished_scan(home, age=timedelta(hours=age))
    scan, member = scan_with_pictures(home), person(home.organization, "owner")
    set_sharing(member, scan)
    finished_scan(home)
    shared_page = Client().get(f"/report/{scan.id}")
    page, text = page_of(shared_page), text_of(shared_page)
    assert home.organization.name not in text
    assert "Shared" not in text
    assert not page.xpath("//form[@method='post'] | //*[@id='history'] | //nav[@aria-label='Dashboard']")
    assert not [
        href
        for href in page.xpath("//@href")
        if href.startswith(("/dashboard", "/report/scan_")) and scan.id not in href
    ]
    assert "newer report" not in text
    assert page.xpath("//meta[@name='robots']/@content") == ["noindex, nofollow"]
    member_text = text_of(member.get(f"/report/{scan.id}"))
    assert "newer report" in member_text
    assert "Since the last scan" in member_text


def test_shared_report_gives_no_other_rights(home: Member, stranger: Member) -> None:
    scan = finished_scan(home)
    set_sharing(person(home.organization), scan)
    outsider = person(stranger.organization, "owner")
    text = text_of(outsider.get(f"/report/{scan.id}"))
    assert "Scan again" not in text
    assert outsider.session.get("organization") is None


@pytest.mark.parametrize("role", Membership.Role.values)
def test_viewers_cannot_share_a_report(home: Member, role: str) -> None:
    scan, client = finished_scan(home), person(home.organization, role)
    may_share = role != "viewer"
    for state in ("on", "off"):
        button = page_of(client.get(f"/report/{scan.id}")).xpath("//button[@name='shared']/@value")
        assert button == ([state] if may_share else [])
        assert set_sharing(client, scan, state) == (302 if may_share else 403)
        assert is_shared(scan) is (may_share and state == "on")
    details = {"scan": scan.id, "type": "security"}
    events = [("report.shared", scan.url, details), ("report.unshared", scan.url, details)]
    assert sharing_events() == (events if may_share else [])


def test_stranger_must_log_in_to_share(home: Member) -> None:
    scan = finished_scan(home)
    response = Client().post(f"/report/{scan.id}/share", {"shared": "on"})
    assert (response.status_code, response["Location"]) == (302, f"/login/?next=/report/{scan.id}")


def test_sharing_twice_is_logged_once(home: Member) -> None:
    scan, member = finished_scan(home), person(home.organization)
    set_sharing(member, scan)
    since = Report.objects.get(scan=scan).shared_at
    set_sharing(member, scan)
    assert Report.objects.get(scan=scan).shared_at == since
    assert len(sharing_events()) == 1


def test_sharing_refuses_unknown_values(home: Member) -> None:
    scan, member = finished_scan(home), person(home.organization)
    assert set_sharing(member, scan, "yes") == 400
    assert member.post(f"/report/{scan.id}/share").status_code == 400
    assert not is_shared(scan)


@pytest.mark.parametrize("status", ["queued", "scanning", "failed"])
def test_strangers_do_not_see_unfinished_scans(home: Member, status: str) -> None:
    home.organization.shares_reports = True
    home.organization.save()
    scan = make_scan(home, status=status)
    assert set_sharing(person(home.organization), scan) == 302
    assert not sharing_events()
    for suffix in (*PATHS, "/progress"):
        response = Client().get(f"/report/{scan.id}{suffix}")
        assert response["Location"] == f"/login/?next={quote(f'/report/{scan.id}{suffix}')}"


def test_new_reports_are_shared_by_default(home: Member) -> None:
    private = finished_scan(home)
    home.organization.shares_reports = True
    home.organization.save()
    shared = finished_scan(home)
    assert not is_shared(private)
    assert is_shared(shared)
    assert Client().get(f"/report/{shared.id}").status_code == 200
    assert Client().get(f"/report/{private.id}").status_code == 302


def test_expired_report_is_no_longer_shared(home: Member) -> None:
    scan, member = scan_with_pictures(home), person(home.organization)
    set_sharing(member, scan)
    Report.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    for suffix in PATHS:
        assert Client().get(f"/report/{scan.id}{suffix}").status_code == 302
        assert member.get(f"/report/{scan.id}{suffix}").status_code == 404


def test_dashboard_exports_equal_the_api_exports(home: Member) -> None:
    scan, member = finished_scan(home), person(home.organization, "viewer")
    for export_format in ("json", "sarif", "csv"):
        export_from_page = member.get(f"/report/{scan.id}/export/{export_format}")
        export_from_api = home.api.get(f"/v1/report/{scan.id}/export?format={export_format}")
        assert export_from_page.content == export_from_api.content
        assert export_from_page["Content-Type"] == export_from_api["Content-Type"]
        assert export_from_page["Content-Disposition"] == f'attachment; filename="{scan.id}.{export_format}"'
        assert "no-store" in export_from_page["Cache-Control"]
    assert json.loads(member.get(f"/report/{scan.id}/export/json").content)["report_id"] == scan.report.id
    assert member.get(f"/report/{scan.id}/export/pdf").status_code == 404


def test_screenshot_is_revalidated_with_its_etag(home: Member) -> None:
    scan, member = scan_with_pictures(home), person(home.organization)
    first = member.get(f"/report/{scan.id}/screenshot")
    again = member.get(f"/report/{scan.id}/screenshot", headers={"If-None-Match": first["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert "no-cache" in first["Cache-Control"]
    assert Client().get(f"/report/{scan.id}/screenshot", headers={"If-None-Match": first["ETag"]}).status_code == 302


def test_report_page_has_its_own_navigation(home: Member, stranger: Member) -> None:
    client = person(home.organization)
    user_id = int(client.session["_auth_user_id"])
    Membership.objects.create(organization=stranger.organization, user_id=user_id, role="viewer")
    scan = finished_scan(stranger)
    page = page_of(client.get(f"/report/{scan.id}"))
    assert page.xpath("//*[@class='switch-name']/text()") == [stranger.organization.name]
    assert {href.split("/")[2] for href in page.xpath("//a/@href") if href.startswith("/o/")} == {"stranger"}
    assert client.get("/dashboard/")["Location"] == "/o/home/", "to look at a report chooses nothing"
    assert not page.xpath("//button[text()='Scan again']")


def test_strangers_have_a_request_limit(home: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    """Strangers have a rate limit for reports.

    Rendering a long report takes seconds, and no plan limits strangers.
    """
    monkeypatch.setattr(shared_pages, "MAX_STRANGER_REQUESTS_PER_MINUTE", 2)
    scan, member = scan_with_pictures(home), person(home.organization)
    set_sharing(member, scan)
    responses = [Client().get(f"/report/{scan.id}{suffix}") for suffix in ("", "/export/json", "")]
    assert [response.status_code for response in responses] == [200, 200, 429]
    assert int(responses[-1]["Retry-After"]) >= 1
    assert Client(REMOTE_ADDR="192.0.2.1").get(f"/report/{scan.id}").status_code == 200
    assert member.get(f"/report/{scan.id}").status_code == 200
