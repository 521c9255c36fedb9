"""Tests for maintenance windows, their pages and their API."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from accounts.models import ActivityEvent
from sites.maintenance import services
from sites.maintenance.occurrences import is_active
from sites.models import MaintenanceWindow
from tests.factories import Member, browser_of, person_of
from tests.sites.monitors.cast import make_monitor

START, END = "2026-12-01T20:00:00Z", "2026-12-01T21:30:00Z"
BODY: dict[str, Any] = {"name": "Deployment", "starts_at": START, "ends_at": END}
FORM: dict[str, Any] = {
    "name": "Restart",
    "starts_at": "2026-07-01T23:00",
    "ends_at": "2026-07-02T01:00",
    "timezone": "Europe/Berlin",
    "sites": "WWW.example.com\nshop.example.com:8443",
}


def moment(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("is_weekly", "now", "expected"),
    [
        (False, "2026-03-21T20:59", False),
        (False, "2026-03-21T21:00", True),
        (False, "2026-03-22T00:59", True),
        (False, "2026-03-22T01:00", False),
        (False, "2026-03-28T22:00", False),
        (True, "2026-03-14T22:00", False),
        (True, "2026-03-22T00:59", True),
        (True, "2026-03-28T22:00", True),
        # The clocks in Berlin go forward at 1:00 UTC, so that 2:00 does not exist and the window ends at 3:00.
        (True, "2026-03-29T00:59", True),
        (True, "2026-03-29T01:00", False),
        # In summer, 22:00 is 20:00 UTC.
        (True, "2026-04-04T20:00", True),
        (True, "2026-04-04T19:59", False),
        (True, "2026-04-05T00:00", False),
        (True, "2026-10-31T21:00", True),
    ],
)
def test_weekly_window_follows_the_local_clock(is_weekly: bool, now: str, expected: bool) -> None:
    # Saturday, 22:00 to Sunday, 2:00 in Berlin.
    window = MaintenanceWindow(
        starts_at=moment("2026-03-21T21:00"),
        ends_at=moment("2026-03-22T01:00"),
        is_weekly=is_weekly,
        timezone="Europe/Berlin",
    )
    assert is_active(window, moment(now)) is expected


@pytest.mark.django_db
def test_api_manages_maintenance_windows(home: Member) -> None:
    monitor = make_monitor(home)
    body = BODY | {"monitors": [monitor.id], "sites": ["Example.com:443", "example.com", "xn--bcher-kva.example:8443"]}
    response = home.api.post("/v1/maintenance", body)
    created = response.json()
    assert response.status_code == 201
    assert response["Location"] == f"/v1/maintenance/{created['id']}"
    assert created["sites"] == ["example.com", "xn--bcher-kva.example:8443"]
    assert (created["monitors"], created["weekly"], created["timezone"]) == ([monitor.id], False, "UTC")
    assert home.api.get(response["Location"]).json() == created
    assert home.api.get("/v1/maintenance").json()["windows"] == [created]
    changed = home.api.patch(response["Location"], {"weekly": True}).json()
    assert changed == created | {"weekly": True}
    assert home.api.delete(response["Location"]).status_code == 204
    assert home.api.get("/v1/maintenance").json()["total"] == 0
    actions = ActivityEvent.objects.order_by("id").values_list("action", flat=True)
    assert list(actions)[-3:] == ["maintenance.created", "maintenance.changed", "maintenance.deleted"]


@pytest.mark.django_db
def test_number_of_windows_is_limited(home: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(services, "MAX_WINDOWS", 1)
    assert home.api.post("/v1/maintenance", BODY).status_code == 201
    refusal = home.api.post("/v1/maintenance", BODY)
    assert (refusal.status_code, refusal.json()["code"]) == (409, "MAINTENANCE_LIMIT")


@pytest.mark.django_db
def test_form_creates_a_window_in_local_time(home: Member) -> None:
    client = browser_of(person_of(home, "member", "ann@home.test"))
    assert "No maintenance windows" in client.get("/o/home/maintenance/").content.decode()
    assert client.post("/o/home/maintenance/new", FORM)["Location"] == "/o/home/maintenance/"
    window = MaintenanceWindow.objects.get()
    assert (window.starts_at, window.ends_at) == (moment("2026-07-01T21:00"), moment("2026-07-01T23:00"))
    assert window.sites == ["www.example.com", "shop.example.com:8443"]
    assert "2026-07-01 23:00" in client.get("/o/home/maintenance/").content.decode()
    page = f"/o/home/maintenance/{window.id}"
    assert 'value="2026-07-01T23:00"' in client.get(page).content.decode()
    client.post(page, FORM | {"weekly": "on"})
    assert MaintenanceWindow.objects.get().is_weekly
    client.post(f"{page}/delete")
    assert not MaintenanceWindow.objects.exists()


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"timezone": "Mars/Olympus"}, "Choose a time zone from the list."),
        ({"ends_at": "2026-07-01T23:00"}, "must be after"),
        ({"sites": "https://example.com/"}, "number 1 is not a host"),
        ({"starts_at": "soon"}, "Enter a valid date/time."),
    ],
)
def test_invalid_window_shows_its_problem(home: Member, changed: dict[str, Any], message: str) -> None:
    client = browser_of(person_of(home, "member", "ann@home.test"))
    response = client.post("/o/home/maintenance/new", FORM | changed)
    assert response.status_code == 400
    assert message in response.content.decode()


@pytest.mark.django_db
def test_windows_belong_to_their_organization(home: Member, stranger: Member) -> None:
    window = home.api.post("/v1/maintenance", BODY).json()
    foreign = make_monitor(stranger)
    assert stranger.api.get(f"/v1/maintenance/{window['id']}").status_code == 404
    assert stranger.api.get("/v1/maintenance").json()["windows"] == []
    assert home.api.post("/v1/maintenance", BODY | {"monitors": [foreign.id]}).status_code == 400
    assert MaintenanceWindow.objects.get().starts_at + timedelta(minutes=90) == MaintenanceWindow.objects.get().ends_at
