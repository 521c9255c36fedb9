"""Tests for finding, inspecting and requeueing scans in the admin."""

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
def scan_with_delivery(home: Member) -> Scan:
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


def ids_in_list(client: Client, path: str, query: str) -> list[str]:
    """Return the first cell of each row of an admin list."""
    response = client.get(path, {"q": query})
    assert response.status_code == 200
    page = page_of(response)
    return [cell.text_content() for cell in page.xpath("//table[@id='result_list']/tbody/tr/th")]


def test_scans_are_found_by_the_start_of_an_id(operator: Client, scan_with_delivery: Scan, stranger: Member) -> None:
    own_scan, other_scan = scan_with_delivery, make_scan(stranger)
    report, event = Report.objects.get(), Event.objects.get()
    for query in (own_scan.id, own_scan.id[:12], f" {own_scan.id} ", report.id, event.id, "home", "HOME"):
        assert ids_in_list(operator, SCANS, query) == [own_scan.id], query
    assert ids_in_list(operator, SCANS, "stranger") == [other_scan.id]
    for query in ("hom", "example.com", "scan_nothing", "rpt_nothing", "%", "\\", "' OR 1=1", "_", "x" * 3000):
        assert ids_in_list(operator, SCANS, query) == [], query
    assert len(ids_in_list(operator, SCANS, "")) == len(ids_in_list(operator, SCANS, "scan_")) == 2


def test_scan_id_finds_report_and_delivery(operator: Client, scan_with_delivery: Scan) -> None:
    event, delivery = Event.objects.get(), Delivery.objects.get()
    assert ids_in_list(operator, "/admin/reports/report/", scan_with_delivery.id) == [scan_with_delivery.report.id]
    assert ids_in_list(operator, "/admin/webhooks/event/", scan_with_delivery.id) == [event.id]
    for query in (scan_with_delivery.id, event.id, delivery.id, delivery.webhook_id, "home"):
        assert ids_in_list(operator, "/admin/webhooks/delivery/", query) == [delivery.id], query
    assert ids_in_list(operator, "/admin/webhooks/webhook/", "home") == [delivery.webhook_id]


def test_invitations_are_found_by_email_address(operator: Client, home: Member, stranger: Member) -> None:
    person = person_of(home, "owner", "ada@people.test")
    for member, actor in ((home, person), (stranger, None)):
        ActivityEvent.objects.create(organization=member.organization, actor=actor, action="key.created")
    expires_at = timezone.now() + timedelta(days=1)
    Invitation.objects.create(organization=home.organization, email="Eve@people.test", expires_at=expires_at)
    assert ids_in_list(operator, "/admin/accounts/invitation/", "eve@people.test") == ["Eve@people.test"]
    assert ids_in_list(operator, "/admin/accounts/invitation/", "bob@people.test") == []
    assert len(ids_in_list(operator, "/admin/accounts/activityevent/", "ADA@people.test")) == 1
    assert len(ids_in_list(operator, "/admin/accounts/activityevent/", "home")) > 1


def test_timeline_ends_with_deliveries(operator: Client, scan_with_delivery: Scan) -> None:
    text = operator.get(tenant_admin.page_of(scan_with_delivery)).content.decode()
    lines = [" ".join(item.text_content().split()) for item in parsed(text).xpath("//ol[@class='timeline']/li")]
    words = [line.split("UTC ", 1)[1] for line in lines]
    assert words[0].startswith("created by tests (wss_")
    assert "started attempt 1 of 3" in words
    assert "ended: completed 71 (C)" in words
    assert "event scan.completed" in words
    assert "delivery due to receiver.test:443, attempts: 0" in words
    event, delivery = Event.objects.get(), Delivery.objects.get()
    links = parsed(text).xpath("//ol[@class='timeline']//a/@href")
    assert sorted(links) == sorted([tenant_admin.page_of(event), tenant_admin.page_of(delivery)])
    assert f"/report/{scan_with_delivery.id}" in text


def test_timeline_links_to_an_unusual_id(operator: Client, scan_with_delivery: Scan) -> None:
    """An ID may look like an encoded slash.

    The admin encodes a slash in URLs as `_2F`, and one in 51 IDs looks like this encoding.
    """
    event = Event.objects.create(
        id="evt_2F" + "x" * 20,
        organization=scan_with_delivery.organization,
        scan=scan_with_delivery,
        kind="scan.completed",
        body=b"{}",
    )
    text = operator.get(tenant_admin.page_of(scan_with_delivery)).content.decode()
    assert f'href="{tenant_admin.page_of(event)}"' in text
    assert event.id in operator.get(tenant_admin.page_of(event)).content.decode()


def test_timeline_shows_an_expired_lease(operator: Client, home: Member) -> None:
    past = timezone.now() - timedelta(minutes=1)
    scan = make_scan(home, status="scanning", started_at=past, attempts=2, lease_expires_at=past)
    text = operator.get(tenant_admin.page_of(scan)).content.decode()
    assert "lease ran out" in text
    assert "attempt 2 of 3" in text


def test_times_in_the_admin_include_seconds(operator: Client, home: Member) -> None:
    scan = make_scan(home)
    assert f"{scan.created_at:%Y-%m-%d %H:%M:%S}" in operator.get(SCANS).content.decode()


def test_delivery_attempts_are_escaped(operator: Client, scan_with_delivery: Scan) -> None:
    text = operator.get(tenant_admin.page_of(Delivery.objects.get())).content.decode()
    assert "&lt;script&gt;alert(1)" in text
    assert "<script>alert(1)" not in text


def test_admin_only_links_to_the_report(operator: Client, scan_with_delivery: Scan) -> None:
    text = operator.get(tenant_admin.page_of(scan_with_delivery.report)).content.decode()
    assert "Bad thing" not in text
    assert f'href="/report/{scan_with_delivery.id}"' in text


def test_requeue_reports_a_result_per_scan(operator: Client, home: Member) -> None:
    queued = make_scan(home)
    failed = make_scan(home, status="failed", error_code="INTERNAL_ERROR")
    timeout = make_scan(home, status="failed", error_code="TIMEOUT")
    form = {"action": "requeue", "_selected_action": [queued.id, failed.id, timeout.id]}
    response = operator.post(SCANS, form, follow=True)
    replacement = Scan.objects.exclude(id__in=[queued.id, failed.id, timeout.id]).get()
    messages = [str(message) for message in response.context["messages"]]
    assert sorted(messages) == sorted(
        [
            f"{queued.id} is queued again.",
            f"{failed.id} is replaced by a new scan, {replacement.id}.",
            f"{timeout.id}: It has ended, and not because of an error on our side.",
        ]
    )
    assert {entry.object_id for entry in LogEntry.objects.all()} == {queued.id, failed.id}
    actors = ActivityEvent.objects.filter(action="scan.requeued").values_list("actor_email", flat=True)
    assert list(actors) == ["operator@people.test"] * 2


@pytest.mark.parametrize("permissions", [["view_scan"], ["view_scan", "delete_scan"]])
def test_staff_need_a_permission_to_requeue(home: Member, permissions: list[str]) -> None:
    user = User.objects.create_user("staff@people.test", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename__in=permissions))
    scan = make_scan(home, status="failed", error_code="INTERNAL_ERROR")
    client = browser_of(user)
    assert "Put back into the queue" not in client.get(SCANS).content.decode()
    client.post(SCANS, {"action": "requeue", "_selected_action": [scan.id]})
    client.post(SCANS, {"action": "delete_selected", "_selected_action": [scan.id], "post": "yes"})
    assert list(Scan.objects.all()) == [scan]


def test_organization_list_needs_few_queries(
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


def test_staff_changes_are_logged(operator: Client, home: Member) -> None:
    page = f"/admin/accounts/organization/{home.organization.id}/change/"
    assert operator.post(page, {"name": "Home", "slug": "home", "tier": "pro"}).status_code == 302
    assert Organization.objects.get(slug="home").tier_id == "pro"
    operator.post("/admin/accounts/apikey/", {"action": "revoke", "_selected_action": [home.key.id]})
    events = ActivityEvent.objects.filter(actor_email="operator@people.test").order_by("id")
    assert [(event.action, event.object_name, event.details) for event in events] == [
        ("organization.changed", "Home", {"tier": {"from": "free", "to": "pro"}}),
        ("key.revoked", f"tests ({home.key.prefix}…)", {}),
    ]


def test_admin_pages_link_to_memberships(
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


def test_membership_changes_are_logged(operator: Client, home: Member) -> None:
    person = User.objects.create_user("ada@people.test")
    new = {"organization": home.organization.id, "user": person.id, "role": "member"}
    assert operator.post("/admin/accounts/membership/add/", new).status_code == 302
    membership = Membership.objects.get()
    page = f"/admin/accounts/membership/{membership.id}"
    assert operator.post(f"{page}/change/", {"role": "admin"}).status_code == 302
    assert operator.post(f"{page}/delete/", {"post": "yes"}).status_code == 302
    events = ActivityEvent.objects.filter(actor_email="operator@people.test").order_by("id")
    assert [(event.action, event.details) for event in events] == [
        ("member.added", {"role": "member"}),
        ("member.role_changed", {"from": "member", "to": "admin"}),
        ("member.removed", {}),
    ]
