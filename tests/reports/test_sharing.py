"""Sharing of reports: private, open to anybody with the link, and private again."""

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
from website_scan.result import Pictures

PARTS = ("", "/screenshot.webp", "/page.webp", "/film/0.jpg", "/export/json", "/export/sarif", "/export/csv")
PICTURES = Pictures(b"RIFF", b"JPEG", {"of": "page", "size": None, "crops": {}, "frames": [(0, [], 4)]})


def seen_scan(member: Member) -> Scan:
    """Return a finished scan whose report has pictures."""
    scan = make_scan(member)
    claim = claim_scan(scan.id)
    assert claim is not None
    assert finish_scan(claim, make_result(scan, screenshot=b"RIFF....WEBP", pictures=PICTURES))
    return scan


def switch(client: Client, scan: Scan, to: str = "on") -> int:
    return client.post(f"/report/{scan.id}/share", {"shared": to}).status_code


def switched() -> list[tuple[str, str, dict[str, str]]]:
    """Return the activity log's entries on sharing, oldest first."""
    events = ActivityEvent.objects.filter(action__startswith="report.").order_by("id")
    return list(events.values_list("action", "object_name", "details"))


def is_shared(scan: Scan) -> bool:
    return Report.objects.get(scan=scan).shared_at is not None


def test_a_shared_report_is_for_anybody_until_it_is_private_again(home: Member, stranger: Member) -> None:
    scan, member = seen_scan(home), person(home.organization)
    others = (Client(), person(stranger.organization, "owner"), person(None))
    for part in PARTS:
        statuses = [each.get(f"/report/{scan.id}{part}").status_code for each in others]
        assert statuses == [302, 404, 404], part
    assert switch(member, scan) == 302
    for part in PARTS:
        for each in others:
            response = each.get(f"/report/{scan.id}{part}")
            assert response.status_code == 200, part
            assert response["X-Robots-Tag"] == "noindex, nofollow"
            assert response["Cache-Control"].startswith("private") or "private" in response["Cache-Control"]
    # Only pages of logged-in readers are `no-store`; a stranger's page shows nothing that others may not see.
    assert [each.get(f"/report/{scan.id}")["Cache-Control"] for each in others[:2]] == [
        "private, no-cache",
        "max-age=0, no-cache, no-store, must-revalidate, private",
    ]
    assert switch(member, scan, "off") == 302
    for part in PARTS:
        statuses = [each.get(f"/report/{scan.id}{part}").status_code for each in others]
        assert statuses == [302, 404, 404], part


def test_strangers_learn_nothing_of_the_organization(home: Member) -> None:
    for age in (3, 2, 1):
        finished_scan(home, age=timedelta(hours=age))
    scan, member = seen_scan(home), person(home.organization, "owner")
    switch(member, scan)
    finished_scan(home)
    seen = Client().get(f"/report/{scan.id}")
    page, text = page_of(seen), text_of(seen)
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
    whole = text_of(member.get(f"/report/{scan.id}"))
    assert "newer report" in whole
    assert "Since the last scan" in whole


def test_an_outsider_does_not_enter_the_organization(home: Member, stranger: Member) -> None:
    scan = finished_scan(home)
    switch(person(home.organization), scan)
    outsider = person(stranger.organization, "owner")
    text = text_of(outsider.get(f"/report/{scan.id}"))
    assert "Scan again" not in text
    assert outsider.session.get("organization") is None


@pytest.mark.parametrize("role", Membership.Role.values)
def test_members_switch_and_viewers_only_see_it(home: Member, role: str) -> None:
    scan, client = finished_scan(home), person(home.organization, role)
    may = role != "viewer"
    for to in ("on", "off"):
        button = page_of(client.get(f"/report/{scan.id}")).xpath("//button[@name='shared']/@value")
        assert button == ([to] if may else [])
        assert switch(client, scan, to) == (302 if may else 403)
        assert is_shared(scan) is (may and to == "on")
    details = {"scan": scan.id, "type": "security"}
    told = [("report.shared", scan.url, details), ("report.unshared", scan.url, details)]
    assert switched() == (told if may else [])


def test_a_stranger_who_switches_gets_to_the_login_and_then_to_the_page(home: Member) -> None:
    scan = finished_scan(home)
    response = Client().post(f"/report/{scan.id}/share", {"shared": "on"})
    assert (response.status_code, response["Location"]) == (302, f"/login/?next=/report/{scan.id}")


def test_switching_twice_is_told_once(home: Member) -> None:
    scan, member = finished_scan(home), person(home.organization)
    switch(member, scan)
    since = Report.objects.get(scan=scan).shared_at
    switch(member, scan)
    assert Report.objects.get(scan=scan).shared_at == since
    assert len(switched()) == 1


def test_the_switch_takes_a_form_of_ours(home: Member) -> None:
    scan, member = finished_scan(home), person(home.organization)
    assert switch(member, scan, "yes") == 400
    assert member.post(f"/report/{scan.id}/share").status_code == 400
    assert not is_shared(scan)


@pytest.mark.parametrize("status", ["queued", "scanning", "failed"])
def test_a_scan_without_a_report_is_never_shown_to_strangers(home: Member, status: str) -> None:
    home.organization.shares_reports = True
    home.organization.save()
    scan = make_scan(home, status=status)
    assert switch(person(home.organization), scan) == 302
    assert not switched()
    for part in (*PARTS, "/progress"):
        response = Client().get(f"/report/{scan.id}{part}")
        assert response["Location"] == f"/login/?next={quote(f'/report/{scan.id}{part}')}"


def test_reports_of_an_organization_that_shares_start_shared(home: Member) -> None:
    private = finished_scan(home)
    home.organization.shares_reports = True
    home.organization.save()
    shared = finished_scan(home)
    assert not is_shared(private)
    assert is_shared(shared)
    assert Client().get(f"/report/{shared.id}").status_code == 200
    assert Client().get(f"/report/{private.id}").status_code == 302


def test_an_expired_report_is_shared_no_more(home: Member) -> None:
    scan, member = seen_scan(home), person(home.organization)
    switch(member, scan)
    Report.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    for part in PARTS:
        assert Client().get(f"/report/{scan.id}{part}").status_code == 302
        assert member.get(f"/report/{scan.id}{part}").status_code == 404


def test_exports_are_those_of_the_api(home: Member) -> None:
    scan, member = finished_scan(home), person(home.organization, "viewer")
    for each in ("json", "sarif", "csv"):
        from_page = member.get(f"/report/{scan.id}/export/{each}")
        from_api = home.api.get(f"/v1/report/{scan.id}/export?format={each}")
        assert from_page.content == from_api.content
        assert from_page["Content-Type"] == from_api["Content-Type"]
        assert from_page["Content-Disposition"] == f'attachment; filename="{scan.id}.{each}"'
        assert "no-store" in from_page["Cache-Control"]
    assert json.loads(member.get(f"/report/{scan.id}/export/json").content)["report_id"] == scan.report.id
    assert member.get(f"/report/{scan.id}/export/pdf").status_code == 404


def test_a_picture_that_the_browser_has_is_asked_for_but_not_sent_again(home: Member) -> None:
    scan, member = seen_scan(home), person(home.organization)
    first = member.get(f"/report/{scan.id}/screenshot.webp")
    again = member.get(f"/report/{scan.id}/screenshot.webp", headers={"If-None-Match": first["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert "no-cache" in first["Cache-Control"]
    assert (
        Client().get(f"/report/{scan.id}/screenshot.webp", headers={"If-None-Match": first["ETag"]}).status_code == 302
    )


def test_what_surrounds_a_report_is_about_its_organization(home: Member, stranger: Member) -> None:
    client = person(home.organization)
    user_id = int(client.session["_auth_user_id"])
    Membership.objects.create(organization=stranger.organization, user_id=user_id, role="viewer")
    scan = finished_scan(stranger)
    page = page_of(client.get(f"/report/{scan.id}"))
    assert page.xpath("//*[@class='switch-name']/text()") == [stranger.organization.name]
    assert {each.split("/")[2] for each in page.xpath("//a/@href") if each.startswith("/o/")} == {"stranger"}
    assert client.get("/dashboard/")["Location"] == "/o/home/", "to look at a report chooses nothing"
    assert not page.xpath("//button[text()='Scan again']")


def test_strangers_ask_for_a_bounded_number_of_pages(home: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rendering a long report takes seconds, and no plan limits strangers who have the link."""
    monkeypatch.setattr(shared_pages, "STRANGERS_PER_MINUTE", 2)
    scan, member = seen_scan(home), person(home.organization)
    switch(member, scan)
    answers = [Client().get(f"/report/{scan.id}{part}") for part in ("", "/export/json", "")]
    assert [answer.status_code for answer in answers] == [200, 200, 429]
    assert int(answers[-1]["Retry-After"]) >= 1
    assert Client(REMOTE_ADDR="192.0.2.1").get(f"/report/{scan.id}").status_code == 200
    assert member.get(f"/report/{scan.id}").status_code == 200
