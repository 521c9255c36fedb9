"""The maintenance switch, in the environment and in the database, and its number of queries."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.db import OperationalError
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from infrastructure import maintenance
from infrastructure.models import MaintenanceSwitch, switch_maintenance
from infrastructure.postgresql.statements import fetch
from tests.factories import Api, Member


@pytest.fixture
def new_process(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Return a function that resets the cached switch, as in a new process."""

    def forget() -> None:
        monkeypatch.setattr(maintenance, "_switch", maintenance._Switch(maintenance._stored))

    forget()
    return forget


def test_it_is_off_at_first(home: Member, new_process: Callable[[], None]) -> None:
    assert home.api.get("/v1/usage").status_code == 200
    assert Client().get("/readyz").status_code == 200


def test_switched_on_it_refuses_valid_keys_with_the_message(home: Member, new_process: Callable[[], None]) -> None:
    switch_maintenance(is_on=True, message="Back at 14:00 UTC.", actor_email="operator@people.test")
    response = home.api.get("/v1/usage")
    assert response.status_code == 503
    assert response.json() == {"code": "SERVICE_UNAVAILABLE", "error": "Back at 14:00 UTC."}
    assert int(response["Retry-After"]) >= 1
    assert "X-RateLimit-Limit" in response
    assert home.api.get("/api/webhooks").status_code == 503
    assert Api("wss_wrong").get("/v1/usage").status_code == 401
    assert Client().get("/readyz").json()["problems"] == {"maintenance": "Maintenance mode is on."}
    assert Client().get("/healthz").status_code == 200
    assert Client().get("/").status_code == 200
    switch_maintenance(is_on=False)
    new_process()
    assert home.api.get("/v1/usage").status_code == 200


def test_without_a_message_it_says_so_in_general(home: Member, new_process: Callable[[], None]) -> None:
    switch_maintenance(is_on=True)
    assert home.api.get("/v1/usage").json()["error"] == maintenance.MESSAGE


def test_the_environment_wins(home: Member, new_process: Callable[[], None], settings: Settings) -> None:
    settings.MAINTENANCE_MODE = True
    switch_maintenance(is_on=False)
    assert home.api.get("/v1/usage").json()["error"] == maintenance.MESSAGE


def test_a_process_asks_once_in_some_seconds(
    db: None, new_process: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 1000.0
    asked = []

    def noting(*query: Any) -> Any:
        asked.append(1)
        return fetch(*query)

    monkeypatch.setattr(time, "monotonic", lambda: now)
    monkeypatch.setattr(maintenance, "fetch", noting)
    assert [maintenance.maintenance_notice() for _ in range(100)] == [None] * 100
    switch_maintenance(is_on=True, message="Soon.")
    assert maintenance.maintenance_notice() is None
    assert len(asked) == 1
    now += maintenance.REFRESH_S
    assert [maintenance.maintenance_notice() for _ in range(100)] == [maintenance.Notice("Soon.")] * 100
    assert len(asked) == 2


def test_a_database_that_fails_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1000.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    answers: list[str | Exception | None] = ["Soon.", OperationalError("gone"), None]

    def ask() -> str | None:
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    switch = maintenance._Switch(ask)
    assert switch.message() == "Soon."
    now += maintenance.REFRESH_S
    assert [switch.message(), switch.message()] == ["Soon.", "Soon."]
    now += maintenance.REFRESH_S
    assert switch.message() is None


def test_while_one_thread_asks_the_others_do_not_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str | None] = []

    def ask() -> str | None:
        asked.append(switch.message())  # like another thread during the query
        return "Soon."

    switch = maintenance._Switch(ask)
    assert switch.message() == "Soon."
    assert asked == [None]


def test_the_command_switches_and_tells(db: None) -> None:
    def run(*words: str) -> str:
        output = StringIO()
        call_command("maintenance", *words, stdout=output)
        return output.getvalue().strip()

    assert run() == "Maintenance is off."
    assert run("on", "--message", "Back soon.") == "Maintenance is on: Back soon."
    assert run() == "Maintenance is on: Back soon."
    assert run("off") == "Maintenance is off."
    assert list(MaintenanceSwitch.objects.values_list("is_on", "message", "actor_email")) == [
        (False, "", ""),
        (True, "Back soon.", ""),
    ]


@pytest.mark.parametrize(
    ("message", "ends"),
    [
        ("Back at 14:00 UTC.", "2026-11-26 14:00"),
        ("Until 9:05 UTC", "2026-11-27 09:05"),
        ("From 13:30 UTC on", "2026-11-27 13:30"),
        ("Back at 14:00GMT, or 15:00 UTC", "2026-11-26 14:00"),
        ("Back at 14:00 CET.", None),
        ("Back at 24:00 UTC.", None),
        ("At 1:14:00 UTC", None),
        ("", None),
    ],
)
def test_a_time_in_the_message_is_the_end(message: str, ends: str | None) -> None:
    found = maintenance.end_in(message, datetime(2026, 11, 26, 13, 30, 5, tzinfo=UTC))
    assert (found and f"{found:%Y-%m-%d %H:%M}") == ends


def test_clients_wait_until_the_time_that_they_are_told(home: Member, new_process: Callable[[], None]) -> None:
    end = (timezone.now() + timedelta(hours=2)).replace(second=0, microsecond=0)
    switch_maintenance(is_on=True, message=f"Back at {end:%H:%M} UTC.")
    for response in (home.api.get("/v1/usage"), Client().get("/readyz")):
        back = timezone.now() + timedelta(seconds=int(response["Retry-After"]))
        assert abs(back - end) < timedelta(seconds=30)
    late = maintenance.Notice("Back at 14:00 UTC.", timezone.now() - timedelta(minutes=1))
    assert maintenance.retry_after_s(late) == maintenance.retry_after_s(maintenance.Notice("Soon.")) == 60
