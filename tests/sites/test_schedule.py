"""Tests for monitor schedules in local time.

They include daylight saving time changes.
"""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from accounts.models import Interval
from infrastructure.web.time_zones import time_zones
from sites.models.monitor import new_monitor_id
from sites.schedule import PERIODS, Schedule


def utc_datetime(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def due_times(schedule: Schedule, after: str, count: int) -> list[str]:
    """Return the next due times after this moment in UTC, to the minute."""
    moment, times = utc_datetime(after), []
    for _ in range(count):
        moment = schedule.after(moment)
        times.append(f"{moment:%Y-%m-%d %H:%M}")
    return times


@pytest.mark.parametrize(
    ("schedule", "after", "expected"),
    [
        pytest.param(
            Schedule(Interval.DAY, "x", time(6), None, "Europe/Berlin"),
            "2026-03-28 12:00",
            ["2026-03-29 04:00", "2026-03-30 04:00"],
            id="daily through the start of DST",
        ),
        pytest.param(
            Schedule(Interval.DAY, "x", time(2, 30), None, "Europe/Berlin"),
            "2026-03-27 12:00",
            ["2026-03-28 01:30", "2026-03-29 01:00", "2026-03-30 00:30"],
            id="skipped local time 02:30 becomes 03:00",
        ),
        pytest.param(
            Schedule(Interval.DAY, "x", time(2, 30), None, "Europe/Berlin"),
            "2026-10-24 12:00",
            ["2026-10-25 00:30", "2026-10-26 01:30"],
            id="repeated local time 02:30 is used once",
        ),
        pytest.param(
            Schedule(Interval.DAY, "x", time(2, 15), None, "Australia/Lord_Howe"),
            "2026-10-02 12:00",
            ["2026-10-02 15:45", "2026-10-03 15:30", "2026-10-04 15:15"],
            id="DST shift of half an hour",
        ),
        pytest.param(
            Schedule(Interval.DAY, "x", time(0), None, "America/Santiago"),
            "2026-09-05 12:00",
            ["2026-09-06 04:00", "2026-09-07 03:00"],
            id="skipped midnight",
        ),
        pytest.param(
            Schedule(Interval.DAY, "x", time(5), None, "Pacific/Apia"),
            "2011-12-29 12:00",
            ["2011-12-29 15:00", "2011-12-30 10:00", "2011-12-30 15:00"],
            id="skipped day at the date line",
        ),
        pytest.param(
            Schedule(Interval.SIX_HOURS, "x", time(8), None, "Europe/Berlin"),
            "2026-03-28 20:00",
            ["2026-03-29 01:00", "2026-03-29 06:00", "2026-03-29 12:00", "2026-03-29 18:00", "2026-03-30 00:00"],
            id="every six hours through the start of DST",
        ),
        pytest.param(
            Schedule(Interval.HOUR, "x", time(2, 30), None, "Europe/Berlin"),
            "2026-10-24 23:45",
            ["2026-10-25 00:30", "2026-10-25 01:30", "2026-10-25 02:30"],
            id="every hour through the end of DST",
        ),
        pytest.param(
            Schedule(Interval.HOUR, "x", time(2, 30), None, "Asia/Kathmandu"),
            "2026-10-24 23:00",
            ["2026-10-24 23:45", "2026-10-25 00:45"],
            id="offset of 5:45 hours",
        ),
        pytest.param(
            Schedule(Interval.WEEK, "x", time(6), 1, "America/New_York"),
            "2026-10-26 09:59",
            ["2026-10-26 10:00", "2026-11-02 11:00"],
            id="every Monday",
        ),
        pytest.param(
            Schedule(Interval.MONTH, "x", time(6), 31, "UTC"),
            "2026-01-31 06:00",
            ["2026-02-28 06:00", "2026-03-31 06:00", "2026-04-30 06:00"],
            id="day 31 in shorter months",
        ),
    ],
)
def test_schedule_follows_local_time(schedule: Schedule, after: str, expected: list[str]) -> None:
    assert due_times(schedule, after, len(expected)) == expected


ZONES = st.sampled_from([zone for zone in time_zones() if "/" in zone])
TIMES = st.times(max_value=time(23, 59)).map(lambda moment: moment.replace(second=0, microsecond=0))
MOMENTS = st.datetimes(datetime(2010, 1, 1), datetime(2037, 1, 1), timezones=st.just(UTC))


@given(every=st.sampled_from(Interval), zone=ZONES, at=st.none() | TIMES, after=MOMENTS)
def test_next_run_is_within_one_interval(every: Interval, zone: str, at: time | None, after: datetime) -> None:
    schedule = Schedule(every, "mon_x", at, None, zone)
    first = schedule.after(after)
    assert schedule.after(first - timedelta(microseconds=1)) == first
    second = schedule.after(first)
    longest = {Interval.MONTH: timedelta(days=32)}.get(every, PERIODS[every] + timedelta(hours=25))
    assert after < first <= after + longest
    assert first < second <= first + longest


@given(zone=ZONES, at=TIMES, after=MOMENTS)
@example("Atlantic/Jan_Mayen", time(2, 56, fold=1), utc_datetime("2017-03-26 00:24"))
def test_daily_run_keeps_its_local_time(zone: str, at: time, after: datetime) -> None:
    moment = Schedule(Interval.DAY, "x", at, None, zone).after(after)
    local = moment.astimezone(ZoneInfo(zone))
    if local.time() == at:
        assert local.fold == 0
    # The clocks skip this local time, so a second earlier they show a time before the gap.
    else:
        assert (moment - timedelta(seconds=1)).astimezone(ZoneInfo(zone)).replace(tzinfo=None) < local.replace(
            tzinfo=None
        ) - timedelta(minutes=1)


@pytest.mark.parametrize(("every", "minutes"), [(Interval.HOUR, 60), (Interval.DAY, 1440)])
def test_monitor_starts_are_spread(every: Interval, minutes: int) -> None:
    count, begin = minutes * 60, utc_datetime("2026-01-01 00:00")
    starts = Counter[int]()
    for _ in range(count):
        first = Schedule(every, new_monitor_id()).after(begin)
        starts[int((first - begin).total_seconds()) // 60] += 1
    assert max(starts.values()) <= 2 * count / minutes
