"""Schedule of monitors in local time, including changes of the clocks."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from accounts.models import Interval
from sites.models.monitor import new_monitor_id
from sites.schedule import PERIODS, Schedule, time_zones


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def due(schedule: Schedule, after: str, count: int) -> list[str]:
    """Return the next due times, in UTC, to the minute."""
    moment, found = utc(after), []
    for _ in range(count):
        moment = schedule.after(moment)
        found.append(f"{moment:%Y-%m-%d %H:%M}")
    return found


@pytest.mark.parametrize(
    ("schedule", "after", "expected"),
    [
        pytest.param(
            Schedule(Interval.DAY, "x", time(6), None, "Europe/Berlin"),
            "2026-03-28 12:00",
            ["2026-03-29 04:00", "2026-03-30 04:00"],
            id="a day is as long as clocks say",
        ),
        pytest.param(
            Schedule(Interval.DAY, "x", time(2, 30), None, "Europe/Berlin"),
            "2026-03-27 12:00",
            ["2026-03-28 01:30", "2026-03-29 01:00", "2026-03-30 00:30"],
            id="02:30 does not exist: 03:00 is the next that does",
        ),
        pytest.param(
            Schedule(Interval.DAY, "x", time(2, 30), None, "Europe/Berlin"),
            "2026-10-24 12:00",
            ["2026-10-25 00:30", "2026-10-26 01:30"],
            id="02:30 exists twice: once, the first",
        ),
        pytest.param(
            Schedule(Interval.DAY, "x", time(2, 15), None, "Australia/Lord_Howe"),
            "2026-10-02 12:00",
            ["2026-10-02 15:45", "2026-10-03 15:30", "2026-10-04 15:15"],
            id="a gap of half an hour",
        ),
        pytest.param(
            Schedule(Interval.DAY, "x", time(0), None, "America/Santiago"),
            "2026-09-05 12:00",
            ["2026-09-06 04:00", "2026-09-07 03:00"],
            id="midnight does not exist",
        ),
        pytest.param(
            Schedule(Interval.DAY, "x", time(5), None, "Pacific/Apia"),
            "2011-12-29 12:00",
            ["2011-12-29 15:00", "2011-12-30 10:00", "2011-12-30 15:00"],
            id="a whole day does not exist",
        ),
        pytest.param(
            Schedule(Interval.SIX_HOURS, "x", time(8), None, "Europe/Berlin"),
            "2026-03-28 20:00",
            ["2026-03-29 01:00", "2026-03-29 06:00", "2026-03-29 12:00", "2026-03-29 18:00", "2026-03-30 00:00"],
            id="every six hours, through a gap",
        ),
        pytest.param(
            Schedule(Interval.HOUR, "x", time(2, 30), None, "Europe/Berlin"),
            "2026-10-24 23:45",
            ["2026-10-25 00:30", "2026-10-25 01:30", "2026-10-25 02:30"],
            id="every hour is every sixty minutes",
        ),
        pytest.param(
            Schedule(Interval.HOUR, "x", time(2, 30), None, "Asia/Kathmandu"),
            "2026-10-24 23:00",
            ["2026-10-24 23:45", "2026-10-25 00:45"],
            id="a zone that is three quarters of an hour off",
        ),
        pytest.param(
            Schedule(Interval.WEEK, "x", time(6), 1, "America/New_York"),
            "2026-10-26 09:59",
            ["2026-10-26 10:00", "2026-11-02 11:00"],
            id="Mondays",
        ),
        pytest.param(
            Schedule(Interval.MONTH, "x", time(6), 31, "UTC"),
            "2026-01-31 06:00",
            ["2026-02-28 06:00", "2026-03-31 06:00", "2026-04-30 06:00"],
            id="the last day of shorter months",
        ),
    ],
)
def test_schedule_follows_local_time_across_dst(schedule: Schedule, after: str, expected: list[str]) -> None:
    assert due(schedule, after, len(expected)) == expected


ZONES = st.sampled_from([each for each in time_zones() if "/" in each])
TIMES = st.times(max_value=time(23, 59)).map(lambda each: each.replace(second=0, microsecond=0))
MOMENTS = st.datetimes(datetime(2010, 1, 1), datetime(2037, 1, 1), timezones=st.just(UTC))


@given(every=st.sampled_from(Interval), zone=ZONES, at=st.none() | TIMES, after=MOMENTS)
def test_run_times_increase_by_the_interval(every: Interval, zone: str, at: time | None, after: datetime) -> None:
    schedule = Schedule(every, "mon_x", at, None, zone)
    first = schedule.after(after)
    assert schedule.after(first - timedelta(microseconds=1)) == first
    second = schedule.after(first)
    longest = {Interval.MONTH: timedelta(days=32)}.get(every, PERIODS[every] + timedelta(hours=25))
    assert after < first <= after + longest
    assert first < second <= first + longest


@given(zone=ZONES, at=TIMES, after=MOMENTS)
@example("Atlantic/Jan_Mayen", time(2, 56, fold=1), utc("2017-03-26 00:24"))
def test_daily_schedule_has_one_run_per_local_day(zone: str, at: time, after: datetime) -> None:
    moment = Schedule(Interval.DAY, "x", at, None, zone).after(after)
    local = moment.astimezone(ZoneInfo(zone))
    if local.time() == at:
        assert local.fold == 0
    else:  # that local time does not exist; a second before, clocks showed an earlier time
        assert (moment - timedelta(seconds=1)).astimezone(ZoneInfo(zone)).replace(tzinfo=None) < local.replace(
            tzinfo=None
        ) - timedelta(minutes=1)


@pytest.mark.parametrize(("every", "minutes"), [(Interval.HOUR, 60), (Interval.DAY, 1440)])
def test_starts_of_monitors_are_spread_over_the_interval(every: Interval, minutes: int) -> None:
    count, begin = minutes * 60, utc("2026-01-01 00:00")
    starts = Counter[int]()
    for _ in range(count):
        first = Schedule(every, new_monitor_id()).after(begin)
        starts[int((first - begin).total_seconds()) // 60] += 1
    assert max(starts.values()) <= 2 * count / minutes
