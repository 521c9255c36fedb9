"""Tests for members who are limited to some sites."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from accounts import members
from accounts.access import active_members
from accounts.mailing.topics import subscribed
from accounts.models import ActivityEvent, Membership, User
from accounts.services import AccountRefused
from accounts.visible_sites import InvalidLimit, parse_limits, visible_sites_of
from reports.models import Mute
from sites.models import ListEntry, SiteList, SiteState
from tests.factories import Member, browser_of, finished_scan, member_of, person_of
from tests.populated_audits import look_at, make_audit, make_pages, release
from tests.responses import ClientResponse

OWN, OTHER = "shop.example.com", "bakery.example.org"


def limited(home: Member, *limits: str, role: str = "member") -> Client:
    user = person_of(home, role, "client@people.test")
    Membership.objects.filter(user=user).update(limited_to=list(limits))
    return browser_of(user)


def state_of(home: Member, host: str) -> None:
    SiteState.objects.update_or_create(
        organization=home.organization, host=host, defaults={"url": f"https://{host}/", "scanned_at": timezone.now()}
    )


@pytest.mark.parametrize(
    ("text", "limits"),
    [
        ("www.example.org\n\n  WWW.example.org", ["www.example.org"]),
        ("*.example.org\nexample.com:8443", ["*.example.org", "example.com:8443"]),
        ("bücher.example", ["xn--bcher-kva.example"]),
        ("tag: big   client ", ["tag:big client"]),
        ("", []),
    ],
)
def test_limits_are_parsed(text: str, limits: list[str]) -> None:
    assert parse_limits(text) == limits


@pytest.mark.parametrize(
    "text", ["https://www.example.org/", "*.org", "*", "a b", "tag:", "x@example.org", "a/b", "a\0"]
)
def test_other_texts_are_no_limits(text: str) -> None:
    with pytest.raises(InvalidLimit):
        parse_limits(text)


@pytest.mark.parametrize(
    ("host", "is_allowed"),
    [
        ("www.example.org", True),
        ("example.org", True),
        ("a.b.example.org", True),
        ("notexample.org", False),
        ("example.org.evil.test", False),
        ("shop.example.com", True),
        ("shop.example.com:8443", False),
        ("tagged.example.net", True),
    ],
)
def test_scope_covers_hosts_subdomains_and_tags(home: Member, host: str, is_allowed: bool) -> None:
    site_list = SiteList.objects.create(organization=home.organization, name="Clients", types=["seo"])
    ListEntry.objects.create(
        site_list=site_list, url="https://tagged.example.net/", host="tagged.example.net", tags=["client"]
    )
    limits = ["*.example.org", "shop.example.com", "tag:client"]
    membership = Membership(organization=home.organization, limited_to=limits)
    scope = visible_sites_of(membership)
    assert scope is not None
    assert scope.allows(host) is is_allowed
    assert scope.allows_url(f"https://{host}/page") is is_allowed
    state_of(home, host)
    finished_scan(home, url=f"https://{host}/page")
    audit = make_audit(home, url=f"https://{host}/page")
    assert SiteState.objects.filter(scope.condition).exists() is is_allowed
    assert type(audit).objects.filter(scope.url_condition).exists() is is_allowed


def test_tag_of_another_organization_gives_no_access(home: Member, stranger: Member) -> None:
    site_list = SiteList.objects.create(organization=stranger.organization, name="Clients", types=["seo"])
    ListEntry.objects.create(site_list=site_list, url=f"https://{OTHER}/", host=OTHER, tags=["client"])
    scope = visible_sites_of(Membership(organization=home.organization, limited_to=["tag:client"]))
    assert scope is not None
    assert not scope.allows(OTHER)


def test_members_who_edit_lists_widen_what_people_with_a_tag_see(home: Member) -> None:
    scan = finished_scan(home, url=f"https://{OTHER}/page")
    site_list = SiteList.objects.create(organization=home.organization, name="Clients", types=["seo"], entries_count=1)
    entry = ListEntry.objects.create(site_list=site_list, url=f"https://{OTHER}/", host=OTHER)
    client = limited(home, "tag:client")
    form = {"entry": entry.id, "action": "tag", "tags": "client"}
    path = f"/o/home/lists/{site_list.id}/entries"
    assert client.post(path, form).status_code == 403
    assert client.get(f"/report/{scan.id}").status_code == 404
    browser_of(person_of(home, "member", "ben@people.test")).post(path, form)
    assert client.get(f"/report/{scan.id}").status_code == 200


def test_limited_member_sees_own_sites_scans_and_reports(home: Member) -> None:
    scans = {host: finished_scan(home, url=f"https://{host}/") for host in (OWN, OTHER)}
    for host in scans:
        state_of(home, host)
    client = limited(home, OWN)
    start = client.get("/o/home/", follow=True)
    assert start.redirect_chain == [("/o/home/sites/", 302)]
    for path in ("/o/home/sites/", "/o/home/scans/"):
        page = client.get(path).content.decode()
        assert OWN in page
        assert OTHER not in page
        assert "/lists/" not in page
    assert client.get(f"/o/home/sites/{OWN}").status_code == 200
    assert client.get(f"/o/home/sites/{OTHER}").status_code == 404
    report = client.get(f"/report/{scans[OWN].id}").content.decode()
    assert "Bad thing found" in report
    assert "/mutes/" not in report
    assert client.get(f"/report/{scans[OTHER].id}").status_code == 404


def test_limited_member_scans_own_sites_only(home: Member) -> None:
    scans = {host: finished_scan(home, url=f"https://{host}/") for host in (OWN, OTHER)}
    client = limited(home, OWN)
    assert client.post(f"/o/home/scans/{scans[OTHER].id}/again").status_code == 404
    form = {"url": f"https://{OTHER}/", "scope": "page", "type": "seo"}
    response = client.post("/o/home/scans/new", form)
    assert response.status_code == 400
    assert f"You can scan only your own sites in Home: {OWN}." in response.content.decode()


def test_audit_of_listed_pages_is_visible_if_all_their_sites_are(home: Member) -> None:
    own, mixed = (make_audit(home, kind="pages", url=f"https://{OWN}/", max_pages=2) for _ in range(2))
    for audit, host in ((own, OWN), (mixed, OTHER)):
        make_pages(audit, [f"https://{OWN}/", f"https://{host}/page"])
    client = limited(home, OWN)
    scans = client.get("/o/home/scans/").text
    for audit, is_visible in ((own, True), (mixed, False)):
        assert (client.get(f"/audit/{audit.id}").status_code == 200) is is_visible
        assert (audit.id in scans) is is_visible
        form = client.get(f"/o/home/monitors/new?of={audit.id}")
        assert (form.status_code == 200) is is_visible
        page = audit.pages.earliest("position")
        (scan,) = release(page, timezone.now())[:1]
        assert (audit.id in client.get(f"/report/{scan.id}").text) is is_visible


def test_table_of_sites_does_not_reveal_the_rank_of_another_site(home: Member) -> None:
    for host in (f"aaa.{OWN}", OTHER, f"zzz.{OWN}"):
        state_of(home, host)
    client = limited(home, f"*.{OWN}")
    for sort in ("name", "state"):
        hosts = [
            re.findall(r'href="/o/home/sites/([^"?]+)"', client.get(f"/o/home/sites/?sort={sort}&after={host}").text)
            for host in (OTHER, "unknown.example")
        ]
        assert hosts[0] == hosts[1] != []


@pytest.mark.parametrize("is_limited", [False, True])
def test_limited_members_do_not_see_why_and_by_whom_findings_are_muted(home: Member, is_limited: bool) -> None:
    author = person_of(home, "owner", "author@people.test")
    scan = finished_scan(home, url=f"https://{OWN}/")
    audit = make_audit(home, kind="site", url=f"https://{OWN}/", max_pages=1)
    look_at(make_pages(audit, [f"https://{OWN}/"])[0], timezone.now())
    check = scan.report.export_json["categories"][0]["checks"][0]["id"]
    checks = {check, *audit.findings.values_list("check_id", flat=True)}
    for check in checks:
        Mute.objects.create(
            organization=home.organization,
            check_id=check,
            host=OWN,
            reason=f"As for {OTHER}.",
            created_by=author,
            created_at=timezone.now(),
            expires_at=timezone.now() + timedelta(days=9),
        )
    client = limited(home, *([OWN] if is_limited else []))
    paths = [f"/report/{scan.id}", f"/audit/{audit.id}"]
    paths += [f"{path}/export/{ending}" for path in paths for ending in ("json", "sarif", "csv")]
    texts = {path: content_of(client.get(path)) for path in paths}
    assert all("uted" in texts[path] for path in paths[:2])
    revealing = {path for path, text in texts.items() if f"As for {OTHER}." in text or "author@people.test" in text}
    assert bool(revealing) is not is_limited
    assert is_limited or set(paths[:2]) <= revealing


def content_of(response: ClientResponse) -> str:
    return (b"".join(response) if response.streaming else response.content).decode()


def test_runs_of_journeys_are_not_shown_to_limited_members(home: Member) -> None:
    run = make_audit(home, kind="journey", url=f"https://{OWN}/")
    client = limited(home, OWN)
    assert client.get(f"/audit/{run.id}").status_code == 404
    assert run.id not in client.get("/o/home/scans/").text


def test_change_of_limits_takes_effect_at_the_next_request(home: Member) -> None:
    scan = finished_scan(home, url=f"https://{OWN}/")
    client = limited(home, OWN)
    assert client.get(f"/report/{scan.id}").status_code == 200
    Membership.objects.filter(user__email="client@people.test").update(limited_to=[OTHER])
    assert client.get(f"/report/{scan.id}").status_code == 404


def test_limit_in_one_organization_does_not_restrict_another(home: Member) -> None:
    agency = member_of("Agency")
    client = limited(home, OWN)
    user = User.objects.get(email="client@people.test")
    Membership.objects.create(organization=agency.organization, user=user, role="owner")
    own = finished_scan(agency, url=f"https://{OTHER}/")
    foreign = finished_scan(home, url=f"https://{OTHER}/")
    assert client.get("/o/agency/lists/").status_code == 200
    assert client.get("/o/home/lists/").status_code == 403
    assert client.get(f"/report/{own.id}").status_code == 200
    assert client.get(f"/report/{foreign.id}").status_code == 404


def test_limited_member_gets_no_mail_about_the_organization(home: Member) -> None:
    limited(home, OWN)
    user = User.objects.get(email="client@people.test")
    assert not active_members(home.organization.id).exists()
    assert not subscribed([user], "alerts", home.organization).exists()


def test_admin_limits_a_member_and_lifts_the_limit(home: Member) -> None:
    admin = browser_of(person_of(home, "admin", "admin@people.test"))
    subject = Membership.objects.get(user=person_of(home, "viewer", "client@people.test"))
    path = f"/o/home/members/{subject.id}/sites"
    refused = admin.post(path, {"limits": "not a site"})
    assert refused.status_code == 400
    assert "Not a site" in refused.content.decode()
    admin.post(path, {"limits": f"{OWN}\n*.example.net"})
    subject.refresh_from_db()
    assert subject.limited_to == [OWN, "*.example.net"]
    assert f"Only {OWN}" in admin.get("/o/home/members/").content.decode().replace("<wbr>", "")
    event = ActivityEvent.objects.filter(action="member.limited").get()
    assert event.details["sites"] == {"from": "all sites", "to": f"{OWN}, *.example.net"}
    admin.post(path, {"limits": ""})
    subject.refresh_from_db()
    assert not subject.is_limited


def test_admins_cannot_be_limited_nor_limited_members_become_admins(home: Member) -> None:
    owner = Membership.objects.get(user=person_of(home, "owner", "owner@people.test"))
    admin = Membership.objects.get(user=person_of(home, "admin", "admin@people.test"))
    member = Membership.objects.get(user=person_of(home, "member", "client@people.test"))
    with pytest.raises(AccountRefused, match="Only viewers and members"):
        members.limit_member(actor=owner, subject=admin, limits=[OWN])
    with pytest.raises(AccountRefused, match="Only viewers and members"):
        members.invite(actor=owner, email="new@people.test", role="admin", limits=[OWN])
    members.limit_member(actor=owner, subject=member, limits=[OWN])
    with pytest.raises(AccountRefused, match="Lift the limit"):
        members.change_role(actor=owner, subject=member, role="admin")


def test_invited_person_is_limited_from_the_start(home: Member) -> None:
    owner = Membership.objects.get(user=person_of(home, "owner", "owner@people.test"))
    invitation = members.invite(actor=owner, email="client@people.test", role="viewer", limits=[OWN])
    user = User.objects.create_user("client@people.test")
    assert members.accept_invitation(invitation=invitation, user=user).limited_to == [OWN]
