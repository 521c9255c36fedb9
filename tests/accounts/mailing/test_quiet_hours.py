"""Tests for quiet hours and their page."""

from __future__ import annotations

from datetime import UTC, datetime, time
from typing import Any

import pytest

from accounts.mailing.quiet_hours import is_quiet
from accounts.models import QuietHours, User
from tests.factories import Member, browser_of, person_of

ALL_DAYS = [1, 2, 3, 4, 5, 6, 7]


def make_hours(start: str, end: str, days: list[int] = ALL_DAYS, timezone: str = "UTC") -> QuietHours:
    return QuietHours(start=time.fromisoformat(start), end=time.fromisoformat(end), days=days, timezone=timezone)


@pytest.mark.parametrize(
    ("hours", "moment", "expected"),
    [
        (make_hours("22:00", "07:00"), "2026-11-27T21:59", False),
        (make_hours("22:00", "07:00"), "2026-11-27T22:00", True),
        (make_hours("22:00", "07:00"), "2026-11-28T00:00", True),
        (make_hours("22:00", "07:00"), "2026-11-28T07:00", False),
        (make_hours("12:00", "13:00"), "2026-11-28T12:30", True),
        # Friday's night lasts until Saturday morning; Saturday's does not begin.
        (make_hours("22:00", "07:00", [5]), "2026-11-28T06:00", True),
        (make_hours("22:00", "07:00", [5]), "2026-11-28T22:30", False),
        (make_hours("22:00", "07:00", timezone="Europe/Berlin"), "2026-11-28T06:30", False),
        # On March 29, the clocks in Berlin go from 2:00 to 3:00, so that 7:00 is 5:00 UTC instead of 6:00.
        (make_hours("22:00", "07:00", timezone="Europe/Berlin"), "2026-03-28T05:30", True),
        (make_hours("22:00", "07:00", timezone="Europe/Berlin"), "2026-03-29T04:59", True),
        (make_hours("22:00", "07:00", timezone="Europe/Berlin"), "2026-03-29T05:00", False),
        (make_hours("02:15", "02:45", timezone="Europe/Berlin"), "2026-03-29T01:15", False),
        # On October 25, the hour from 2:00 to 3:00 occurs twice.
        (make_hours("22:00", "02:30", timezone="Europe/Berlin"), "2026-10-25T01:15", True),
        (make_hours("22:00", "07:00", timezone="Europe/Berlin"), "2026-10-25T05:59", True),
        (make_hours("22:00", "07:00", timezone="Europe/Berlin"), "2026-10-25T06:00", False),
    ],
)
def test_quiet_hours_follow_the_local_clock(hours: QuietHours, moment: str, expected: bool) -> None:
    assert is_quiet(hours, datetime.fromisoformat(moment).replace(tzinfo=UTC)) is expected


@pytest.fixture
def ann(home: Member) -> User:
    return person_of(home, "viewer", "ann@home.test")


FORM: dict[str, Any] = {"start": "22:00", "end": "06:30", "timezone": "Europe/Berlin", "day": ["5", "1"]}


def test_person_sets_and_removes_quiet_hours(ann: User) -> None:
    client = browser_of(ann)
    assert "Quiet hours" in client.get("/account/quiet-hours/").content.decode()
    assert client.post("/account/quiet-hours/", FORM)["Location"] == "/account/"
    hours = QuietHours.objects.get(user=ann)
    assert (hours.start, hours.end, hours.days) == (time(22), time(6, 30), [1, 5])
    assert not hours.allows_critical
    assert "from 22:00 to 06:30 (Europe/Berlin)" in client.get("/account/").content.decode()
    assert client.post("/account/quiet-hours/", {**FORM, "allows_critical": "on"}).status_code == 302
    assert QuietHours.objects.get(user=ann).allows_critical
    client.post("/account/quiet-hours/", {"remove": "yes"})
    assert not QuietHours.objects.exists()


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"timezone": "Mars/Olympus"}, "Choose a time zone from the list."),
        ({"end": "22:00"}, "Choose a time other than the beginning."),
        ({"day": []}, "Choose at least one day."),
        ({"start": "noon"}, "Enter a valid time."),
        ({"day": ["1", "8"]}, "Choose at least one day."),
    ],
)
def test_invalid_quiet_hours_are_refused(ann: User, changed: dict[str, Any], message: str) -> None:
    response = browser_of(ann).post("/account/quiet-hours/", FORM | changed)
    assert response.status_code == 400
    assert message in response.content.decode()
    assert not QuietHours.objects.exists()
