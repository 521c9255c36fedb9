"""Scans in the admin: search, timeline, requeueing; and the admin's entries in organizations' activity logs."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Permission
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from accounts import tenant_admin
from accounts.models import ActivityEvent, ApiKey, Invitation, Membership, Organization, User
from infrastructure import encryption
from reports.models import Report
from scans.models import Scan
from tests.factories import Member, browser_of, finished_scan, make_scan, person_of
from tests.page_reading import page_of, parsed
from webhooks.models import Attempt, Delivery, Event, Webhook

SCANS = "/admin/scans/scan/"


@pytest.fixture
def operator(db: None) -> Client:
    return browser_of(User.objects.create_superuser("operator@people.test"))


@pytest.fixture
def told(home: Member) -> Scan:
    """Scan with a report, an event and an attempted delivery."""
    webhook = Webhook.objects.create(
        organization=home.organization,
        url="https://receiver.test/<b>",
        receiver="receiver.test:443",
        events=["scan.completed"],
        encrypted_secret=encryption.encrypt("x"),
    )
    scan = finished_scan(home)
    delivery = Delivery.objects.get(webhook=webhook)
    Attempt.objects.create(
        delivery=delivery, at=timezone.now(), latency_ms=12, response_status=500, response_body="<script>alert(1)"
    )
    return scan


def listed(client: Client, path: str, query: str) -> list[str]:
    """Return the first cell of each row of an admin list."""
    response = client.get(path, {"q": query})
    assert response.status_code == 200
    page = page_of(response)
    return [cell.text_content() for cell in page.xpath("//table[@id='result_list']/tbody/tr/th")]


def test_scans_are_found_by_the_beginning_of_an_id_or_their_organization(
    operator: Client, told: Scan, stranger: Member
) -> None:
    mine, theirs = told, make_scan(stranger)
    report, event = Report.objects.get(), Event.objects.get()
    for query in (mine.id, mine.id[:12], f" {mine.id} ", report.id, event.id, "home", "HOME"):
        assert listed(operator, SCANS, query) == [mine.id], query
    assert listed(operator, SCANS, "stranger") == [theirs.id]
    for query in ("hom", "example.com", "scan_nothing", "rpt_nothing", "%", "\\", "' OR 1=1", "_", "x" * 3000):
        assert listed(operator, SCANS, query) == [], query
    assert len(listed(operator, SCANS, "")) == len(listed(operator, SCANS, "scan_")) == 2


def test_what_belongs_to_a_scan_is_found_by_its_id(operator: Client, told: Scan) -> None:
    event, delivery = Event.objects.get(), Delivery.objects.get()
    assert listed(operator, "/admin/reports/report/", told.id) == [told.report.id]
    assert listed(operator, "/admin/webhooks/event/", told.id) == [event.id]
    for query in (told.id, event.id, delivery.id, delivery.webhook_id, "home"):
        assert listed(operator, "/admin/webhooks/delivery/", query) == [delivery.id], query
    assert listed(operator, "/admin/webhooks/webhook/", "home") == [delivery.webhook_id]


def test_invitations_and_audit_events_are_found_by_address(operator: Client, home: Member, stranger: Member) -> None:
    person = person_of(home, "owner", "ada@people.test")
    for member, actor in ((home, person), (stranger, None)):
        ActivityEvent.objects.create(organization=member.organization, actor=actor, action="key.created")
    expires_at = timezone.now() + timedelta(days=1)
    Invitation.objects.create(organization=home.organization, email="Eve@people.test", expires_at=expires_at)
    assert listed(operator, "/admin/accounts/invitation/", "eve@people.test") == ["Eve@people.test"]
    assert listed(operator, "/admin/accounts/invitation/", "bob@people.test") == []
    assert len(listed(operator, "/admin/accounts/activityevent/", "ADA@people.test")) == 1
    assert len(listed(operator, "/admin/accounts/activityevent/", "home")) > 1


def test_a_scans_timeline_ends_with_its_deliveries(operator: Client, told: Scan) -> None:
    text = operator.get(tenant_admin.page_of(told)).content.decode()
    lines = [" ".join(each.text_content().split()) for each in parsed(text).xpath("//ol[@class='timeline']/li")]
    words = [line.split("UTC ", 1)[1] for line in lines]
    assert words[0].startswith("created by tests (wss_")
    assert "started attempt 1 of 3" in words
    assert "ended: completed 71 (C)" in words
    assert "event scan.completed" in words
    assert "delivery due to receiver.test:443, attempts: 0" in words
    event, delivery = Event.objects.get(), Delivery.objects.get()
    links = parsed(text).xpath("//ol[@class='timeline']//a/@href")
    assert sorted(links) == sorted([tenant_admin.page_of(event), tenant_admin.page_of(delivery)])
    assert f"/report/{told.id}" in text


def test_the_timeline_leads_to_an_id_that_reads_as_an_escape(operator: Client, told: Scan) -> None:
    """The admin's URLs encode a slash as `_2F`, and one in 51 IDs looks like such an escape."""
    event = Event.objects.create(
        id="evt_2F" + "x" * 20, organization=told.organization, scan=told, kind="scan.completed", body=b"{}"
    )
    text = operator.get(tenant_admin.page_of(told)).content.decode()
    assert f'href="{tenant_admin.page_of(event)}"' in text
    assert event.id in operator.get(tenant_admin.page_of(event)).content.decode()


def test_a_lease_that_ran_out_is_told(operator: Client, home: Member) -> None:
    past = timezone.now() - timedelta(minutes=1)
    scan = make_scan(home, status="scanning", started_at=past, attempts=2, lease_expires_at=past)
    text = operator.get(tenant_admin.page_of(scan)).content.decode()
    assert "lease ran out" in text
    assert "attempt 2 of 3" in text


def test_moments_have_their_seconds(operator: Client, home: Member) -> None:
    scan = make_scan(home)
    assert f"{scan.created_at:%Y-%m-%d %H:%M:%S}" in operator.get(SCANS).content.decode()


def test_a_deliverys_attempts_are_shown_and_escaped(operator: Client, told: Scan) -> None:
    text = operator.get(tenant_admin.page_of(Delivery.objects.get())).content.decode()
    assert "&lt;script&gt;alert(1)" in text
    assert "<script>alert(1)" not in text


def test_a_report_is_not_shown_but_linked(operator: Client, told: Scan) -> None:
    text = operator.get(tenant_admin.page_of(told.report)).content.decode()
    assert "Bad thing" not in text
    assert f'href="/report/{told.id}"' in text


def test_requeueing_tells_of_each_scan_what_came_of_it(operator: Client, home: Member) -> None:
    waiting = make_scan(home)
    failed = make_scan(home, status="failed", error_code="INTERNAL_ERROR")
    timeout = make_scan(home, status="failed", error_code="TIMEOUT")
    form = {"action": "requeue", "_selected_action": [waiting.id, failed.id, timeout.id]}
    response = operator.post(SCANS, form, follow=True)
    anew = Scan.objects.exclude(id__in=[waiting.id, failed.id, timeout.id]).get()
    messages = [str(each) for each in response.context["messages"]]
    assert sorted(messages) == sorted(
        [
            f"{waiting.id} is queued again.",
            f"{failed.id}: a new scan takes its place, {anew.id}.",
            f"{timeout.id}: It has ended, and not because of an error on our side.",
        ]
    )
    assert {entry.object_id for entry in LogEntry.objects.all()} == {waiting.id, failed.id}
    actors = ActivityEvent.objects.filter(action="scan.requeued").values_list("actor_email", flat=True)
    assert list(actors) == ["operator@people.test"] * 2


@pytest.mark.parametrize("permissions", [["view_scan"], ["view_scan", "delete_scan"]])
def test_who_may_only_look_cannot_requeue(home: Member, permissions: list[str]) -> None:
    user = User.objects.create_user("staff@people.test", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename__in=permissions))
    scan = make_scan(home, status="failed", error_code="INTERNAL_ERROR")
    client = browser_of(user)
    assert "Put back into the queue" not in client.get(SCANS).content.decode()
    client.post(SCANS, {"action": "requeue", "_selected_action": [scan.id]})
    client.post(SCANS, {"action": "delete_selected", "_selected_action": [scan.id], "post": "yes"})
    assert list(Scan.objects.all()) == [scan]


def test_organizations_are_listed_with_their_people_keys_and_scans_in_few_queries(
    operator: Client, home: Member, stranger: Member, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for number in range(3):
        person_of(home, "member", f"{number}@people.test")
        make_scan(home)
        make_scan(stranger, status="failed")
    ApiKey.objects.filter(id=stranger.key.id).update(revoked_at=timezone.now())
    with django_assert_max_num_queries(7):
        response = operator.get("/admin/accounts/organization/")
    page = page_of(response)
    rows = {
        row.xpath("string(th)"): [
            row.xpath(f"string(td[contains(@class, 'field-{name}')])") for name in ("people", "active_keys", "running")
        ]
        for row in page.xpath("//table[@id='result_list']/tbody/tr")
    }
    assert rows == {"Home": ["3", "1", "3 of 2"], "Stranger": ["0", "0", "0 of 2"]}


def test_what_staff_changes_stands_in_the_organizations_log(operator: Client, home: Member) -> None:
    page = f"/admin/accounts/organization/{home.organization.id}/change/"
    assert operator.post(page, {"name": "Home", "slug": "home", "tier": "pro"}).status_code == 302
    assert Organization.objects.get(slug="home").tier_id == "pro"
    operator.post("/admin/accounts/apikey/", {"action": "revoke", "_selected_action": [home.key.id]})
    noted = ActivityEvent.objects.filter(actor_email="operator@people.test").order_by("id")
    assert [(each.action, each.object_name, each.details) for each in noted] == [
        ("organization.changed", "Home", {"tier": {"from": "free", "to": "pro"}}),
        ("key.revoked", f"tests ({home.key.prefix}…)", {}),
    ]


def test_organizations_and_people_lead_to_their_memberships(
    operator: Client, home: Member, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    people = [person_of(home, "owner", f"{number}@people.test") for number in range(3)]
    for page in (
        f"/admin/accounts/organization/{home.organization.id}/change/",
        f"/admin/accounts/user/{people[0].id}/change/",
    ):
        with django_assert_max_num_queries(15):
            links = page_of(operator.get(page)).xpath("//a/@href")
        membership = Membership.objects.get(user=people[0])
        assert f"/admin/accounts/membership/{membership.id}/change/" in links
    assert operator.get(f"/admin/accounts/membership/add/?user={people[0].id}").status_code == 200


def test_memberships_that_staff_changes_are_noted_too(operator: Client, home: Member) -> None:
    person = User.objects.create_user("ada@people.test")
    new = {"organization": home.organization.id, "user": person.id, "role": "member"}
    assert operator.post("/admin/accounts/membership/add/", new).status_code == 302
    membership = Membership.objects.get()
    page = f"/admin/accounts/membership/{membership.id}"
    assert operator.post(f"{page}/change/", {"role": "admin"}).status_code == 302
    assert operator.post(f"{page}/delete/", {"post": "yes"}).status_code == 302
    noted = ActivityEvent.objects.filter(actor_email="operator@people.test").order_by("id")
    assert [(each.action, each.details) for each in noted] == [
        ("member.added", {"role": "member"}),
        ("member.role_changed", {"from": "member", "to": "admin"}),
        ("member.removed", {}),
    ]
