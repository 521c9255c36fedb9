"""Tests for maintenance mode."""

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
    """Return a function that resets the cached switch."""

    def reset() -> None:
        monkeypatch.setattr(maintenance, "_switch", maintenance._Switch(maintenance._stored))

    reset()
    return reset


def test_maintenance_is_off_by_default(home: Member, new_process: Callable[[], None]) -> None:
    assert home.api.get("/v1/usage").status_code == 200
    assert Client().get("/readyz").status_code == 200


def test_maintenance_refuses_api_requests(home: Member, new_process: Callable[[], None]) -> None:
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


def test_maintenance_has_a_default_message(home: Member, new_process: Callable[[], None]) -> None:
    switch_maintenance(is_on=True)
    assert home.api.get("/v1/usage").json()["error"] == maintenance.MESSAGE


def test_MAINTENANCE_MODE_overrides_switch(home: Member, new_process: Callable[[], None], settings: Settings) -> None:
    settings.MAINTENANCE_MODE = True
    switch_maintenance(is_on=False)
    assert home.api.get("/v1/usage").json()["error"] == maintenance.MESSAGE


def test_maintenance_switch_is_rarely_queried(
    db: None, new_process: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 1000.0
    queries = []

    def counting_fetch(*query: Any) -> Any:
        queries.append(1)
        return fetch(*query)

    monkeypatch.setattr(time, "monotonic", lambda: now)
    monkeypatch.setattr(maintenance, "fetch", counting_fetch)
    assert [maintenance.maintenance_notice() for _ in range(100)] == [None] * 100
    switch_maintenance(is_on=True, message="Soon.")
    assert maintenance.maintenance_notice() is None
    assert len(queries) == 1
    now += maintenance.REFRESH_S
    assert [maintenance.maintenance_notice() for _ in range(100)] == [maintenance.Notice("Soon.")] * 100
    assert len(queries) == 2


def test_database_error_keeps_the_cached_switch(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1000.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    answers: list[str | Exception | None] = ["Soon.", OperationalError("gone"), None]

    def query() -> str | None:
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    switch = maintenance._Switch(query)
    assert switch.message() == "Soon."
    now += maintenance.REFRESH_S
    assert [switch.message(), switch.message()] == ["Soon.", "Soon."]
    now += maintenance.REFRESH_S
    assert switch.message() is None


def test_threads_do_not_wait_for_the_switch(monkeypatch: pytest.MonkeyPatch) -> None:
    messages: list[str | None] = []

    def query() -> str | None:
        messages.append(switch.message())  # Another thread makes this call during the query.
        return "Soon."

    switch = maintenance._Switch(query)
    assert switch.message() == "Soon."
    assert messages == [None]


def test_maintenance_command_prints_its_state(db: None) -> None:
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
    ("message", "expected"),
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
def test_maintenance_end_is_read_from_the_message(message: str, expected: str | None) -> None:
    end = maintenance.end_in(message, datetime(2026, 11, 26, 13, 30, 5, tzinfo=UTC))
    assert (end and f"{end:%Y-%m-%d %H:%M}") == expected


def test_Retry_After_lasts_until_maintenance_ends(home: Member, new_process: Callable[[], None]) -> None:
    end = (timezone.now() + timedelta(hours=2)).replace(second=0, microsecond=0)
    switch_maintenance(is_on=True, message=f"Back at {end:%H:%M} UTC.")
    for response in (home.api.get("/v1/usage"), Client().get("/readyz")):
        retry_time = timezone.now() + timedelta(seconds=int(response["Retry-After"]))
        assert abs(retry_time - end) < timedelta(seconds=30)
    late = maintenance.Notice("Back at 14:00 UTC.", timezone.now() - timedelta(minutes=1))
    assert maintenance.retry_after_s(late) == maintenance.retry_after_s(maintenance.Notice("Soon.")) == 60
