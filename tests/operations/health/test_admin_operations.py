"""Tests for the admin's operations page."""

from __future__ import annotations

import socket
import time
from datetime import timedelta

import pytest
from django.contrib.auth.models import Permission
from django.core.cache import cache
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries, Settings

from accounts.models import User
from infrastructure import encryption, periodic
from infrastructure.models import MaintenanceSwitch
from operations.health import state
from scans import tasks
from tests.factories import Member, browser_of, make_scan
from tests.page_reading import page_of
from tests.responses import ClientResponse
from webhooks.models import Delivery, Event, Webhook
from website_scan import __version__

PAGE = "/admin/operations/"


@pytest.fixture(autouse=True)
def workers(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[str]]:
    """Fake the workers' replies to a ping.

    Returns the queues by worker.
    """
    answers = {"celery@one": ["scans", "maintenance"], "browser@one": ["browser"]}
    monkeypatch.setattr(state, "_ping_workers", lambda: answers)
    return answers


@pytest.fixture
def operator(db: None) -> Client:
    return browser_of(User.objects.create_superuser("operator@people.test"))


def staff_with_permissions(*permissions: str) -> Client:
    user = User.objects.create_user("staff@people.test", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename__in=permissions))
    return browser_of(user)


def page_text(response: ClientResponse) -> str:
    return " ".join(" ".join(page_of(response).itertext()).split())


def test_operations_page_requires_staff(home: Member) -> None:
    for client in (Client(), browser_of(User.objects.create_user("member@people.test"))):
        response = client.get(PAGE)
        assert (response.status_code, response["Location"].partition("?")[0]) == (302, "/admin/login/")
        assert client.post(PAGE, {"is_on": "on"}).status_code == 302
    assert MaintenanceSwitch.objects.count() == 0


def test_operations_page_counts_scans(operator: Client, home: Member, stranger: Member) -> None:
    now = timezone.now()
    make_scan(home, created_at=now - timedelta(minutes=7))
    make_scan(stranger)
    make_scan(home, status="scanning", lease_expires_at=now + timedelta(minutes=1))
    make_scan(home, status="scanning", lease_expires_at=now - timedelta(minutes=1))
    for code in ("TIMEOUT", "TIMEOUT", "INTERNAL_ERROR"):
        make_scan(home, status="failed", error_code=code, completed_at=now)
    make_scan(home, status="failed", error_code="OLD", created_at=now - timedelta(hours=25))
    current = state.operations()
    assert (current.queued, current.running, current.interrupted) == (2, 2, 1)
    assert current.oldest == now - timedelta(minutes=7)
    assert current.failures == (("TIMEOUT", 2), ("INTERNAL_ERROR", 1))
    assert current.failed == 3
    text = page_text(operator.get(PAGE))
    for words in (
        "Queued scans 2",
        "the oldest for 7",
        "Running scans 2",
        "1 without a worker",
        "Failed in 24 hours 3",
    ):
        assert words in text
    assert __version__ in text
    assert "SCAN_BROWSER is off" in text


def test_operations_page_counts_due_deliveries(operator: Client, home: Member) -> None:
    now = timezone.now()

    def webhook(**columns: object) -> Webhook:
        return Webhook.objects.create(
            organization=home.organization, url="https://x.test/", events=[], encrypted_secret=encryption.encrypt("x"),
            **columns,
        )  # fmt: skip

    working = webhook()
    webhook(failing_since=now)
    webhook(enabled=False, disabled_reason="gone")
    off = webhook(enabled=False, disabled_reason="requested")
    event = Event.objects.create(organization=home.organization, kind="scan.completed", body=b"{}")
    Delivery.objects.create(webhook=working, event=event, next_attempt_at=now - timedelta(minutes=3))
    Delivery.objects.create(webhook=working, event=event, next_attempt_at=now + timedelta(minutes=3))
    Delivery.objects.create(webhook=working, event=event, status="delivered", finished_at=now)
    Delivery.objects.create(webhook=off, event=event)
    current = state.operations()
    assert (current.pending, current.due, current.failing, current.disabled) == (2, 1, 1, 1)
    assert current.longest_due == now - timedelta(minutes=3)
    assert "1 due, the longest for 3" in page_text(operator.get(PAGE))


def test_operations_page_lists_queues(operator: Client) -> None:
    client = cache._cache.get_client(write=True)  # type: ignore[attr-defined]
    client.rpush("scans", "a", "b", "c")
    queues = {queue.name: (queue.depth, queue.workers) for queue in state.operations().queues}
    assert queues == {
        "scans": (3, ("celery@one",)),
        "browser": (0, ("browser@one",)),
        "webhooks": (0, ()),
        "maintenance": (0, ("celery@one",)),
    }
    assert "no worker serves it" in page_text(operator.get(PAGE))


def test_operations_page_warns_of_missing_worker(
    operator: Client, home: Member, workers: dict[str, list[str]], settings: Settings
) -> None:
    settings.SCAN_BROWSER = "auto"
    make_scan(home, type="seo")
    assert "and no worker" not in page_text(operator.get(PAGE))
    del workers["browser@one"]
    cache.clear()
    assert "Queue browser has 1 scan and no worker." in page_text(operator.get(PAGE))


def test_operations_page_warns_of_silent_scheduler(operator: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "Scheduler silent no task seen" in page_text(operator.get(PAGE))
    tasks.sweep()
    now = timezone.now()
    text = page_text(operator.get(PAGE))
    assert "Scheduler running last task at" in text
    assert "is silent" not in text
    monkeypatch.setattr(timezone, "now", lambda: now + timedelta(minutes=4))
    text = page_text(operator.get(PAGE))
    assert "The scheduler is silent. No periodic task has run for 4" in text
    assert "Scheduler silent last task at" in text


def test_heartbeat_survives_a_redis_outage(settings: Settings) -> None:
    settings.CACHES = {"default": settings.CACHES["default"] | {"LOCATION": "redis://127.0.0.1:1/0"}}
    periodic.beat()
    assert periodic.last_beat() is None


def test_workers_are_pinged_once_for_two_requests(
    operator: Client, monkeypatch: pytest.MonkeyPatch, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    pings = []

    def ping() -> dict[str, list[str]]:
        pings.append(1)
        return {}

    monkeypatch.setattr(state, "_ping_workers", ping)
    with django_assert_max_num_queries(15):
        assert "none responds" in page_text(operator.get(PAGE))
    operator.get(PAGE)
    assert len(pings) == 1


def test_operations_page_survives_hanging_redis(operator: Client, settings: Settings) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        settings.REDIS_URL = f"redis://127.0.0.1:{silent.getsockname()[1]}/0"
        began = time.monotonic()
        text = page_text(operator.get(PAGE))
        assert time.monotonic() - began < 1
    assert "Redis does not answer." in text
    assert "unknown" in text


def test_operations_page_reports_failed_ping(operator: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        raise ConnectionError("gone")

    monkeypatch.setattr(state, "_ping_workers", fail)
    assert "The workers could not be reached." in page_text(operator.get(PAGE))


@pytest.mark.filterwarnings("ignore::celery.exceptions.CeleryWarning")
def test_ping_without_workers_is_quick(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    began = time.monotonic()
    assert state._ping_workers() == {}
    assert time.monotonic() - began < 1


def test_operator_switches_maintenance(operator: Client) -> None:
    response = operator.post(PAGE, {"is_on": "on", "message": " Back at <b>14:00</b>. "}, follow=True)
    switch = MaintenanceSwitch.objects.get()
    assert (switch.is_on, switch.message, switch.actor_email) == (True, "Back at <b>14:00</b>.", "operator@people.test")
    page = page_of(response)
    assert "Maintenance is on." in page.text_content()
    assert page.xpath("//b") == []
    assert page.xpath("//form[@method='post']//button[@name='is_on']/@value") == ["off"]
    text = page_text(operator.post(PAGE, {"is_on": "off"}, follow=True))
    assert "Maintenance is on." not in text
    assert [switch.is_on for switch in MaintenanceSwitch.objects.all()] == [False, True]


@pytest.mark.parametrize(
    "form", [{}, {"is_on": "maybe"}, {"is_on": "on", "message": "x" * 201}, {"is_on": "on", "message": "\0"}]
)
def test_invalid_maintenance_form_changes_nothing(operator: Client, form: dict[str, str]) -> None:
    assert operator.post(PAGE, form).status_code == 400
    assert MaintenanceSwitch.objects.count() == 0


def test_maintenance_switch_needs_permission(db: None) -> None:
    client = staff_with_permissions("view_scan")
    assert "Switching requires the permission" in page_text(client.get(PAGE))
    assert client.post(PAGE, {"is_on": "on"}).status_code == 403
    assert MaintenanceSwitch.objects.count() == 0


def test_permission_allows_the_maintenance_switch(db: None) -> None:
    assert staff_with_permissions("add_maintenanceswitch").post(PAGE, {"is_on": "on"}).status_code == 302
    assert MaintenanceSwitch.objects.get().actor_email == "staff@people.test"


def test_maintenance_form_needs_a_CSRF_token(db: None) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(User.objects.create_superuser("operator@people.test"))
    assert client.post(PAGE, {"is_on": "on"}).status_code == 403


def test_operations_page_names_MAINTENANCE_MODE(operator: Client, settings: Settings) -> None:
    settings.MAINTENANCE_MODE = True
    assert "unset MAINTENANCE_MODE" in page_text(operator.get(PAGE))


def test_admin_links_to_operations_page(operator: Client) -> None:
    assert PAGE in page_of(operator.get("/admin/")).xpath("//a/@href")
