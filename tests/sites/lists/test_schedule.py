"""Tests for list schedules.

Runs are due at midnight on a day that depends on the list's ID.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from sites.lists.schedule import next_run
from sites.models import SiteList
from sites.models.site_list import new_list_id

NOW = datetime(2026, 11, 26, 18, 30, tzinfo=UTC)


def make_site_list(every: str, zone: str = "UTC", id: str = "lst_4SMzWfMbiDMlIGFpoFoopA") -> SiteList:
    return SiteList(id=id, every=every, timezone=zone)


def due_times(site_list: SiteList, number: int) -> list[datetime]:
    times, now = [], NOW
    for _ in range(number):
        due = next_run(site_list, now)
        assert due is not None
        assert due > now
        times.append(due)
        now = due
    return times


def test_list_without_schedule_is_not_due() -> None:
    assert next_run(make_site_list(""), NOW) is None


@pytest.mark.parametrize("every", ["week", "month", "quarter"])
def test_list_runs_begin_at_midnight(every: str) -> None:
    zone = ZoneInfo("Europe/Vienna")
    for due in due_times(make_site_list(every, "Europe/Vienna"), 8):
        local = due.astimezone(zone)
        assert (local.hour, local.minute, local.second) == (0, 0, 0)


def test_weekly_schedule_runs_once_a_week() -> None:
    first, *others = due_times(make_site_list("week"), 60)
    assert others == [first + timedelta(weeks=n) for n in range(1, 60)]


def test_monthly_schedule_runs_once_a_month() -> None:
    times = due_times(make_site_list("month"), 24)
    assert len({(due_at.year, due_at.month) for due_at in times}) == 24
    assert len({due_at.day for due_at in times}) == 1


def test_quarterly_schedule_runs_once_a_quarter() -> None:
    times = due_times(make_site_list("quarter"), 12)
    assert len({(due_at.year, (due_at.month - 1) // 3) for due_at in times}) == 12
    for due in times:
        begin = datetime(due.year, (due.month - 1) // 3 * 3 + 1, 1, tzinfo=UTC)
        assert due - begin == times[0] - datetime(times[0].year, (times[0].month - 1) // 3 * 3 + 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(("every", "days"), [("week", 7), ("month", 28), ("quarter", 80)])
def test_schedules_are_spread_over_days(every: str, days: int) -> None:
    times = [next_run(make_site_list(every, id=new_list_id()), NOW) for _ in range(1_000)]
    assert len({due_at.date() for due_at in times if due_at}) >= days
