"""Schedules of monitors and lists in local time. Pure functions.

Time zones come from the IANA database. An hourly schedule runs every sixty minutes, regardless of daylight saving time.
Longer intervals run at a time of day. A local time that a day lacks because clocks go forward is replaced by the first
moment after the gap. An ambiguous local time is the first of its two moments.
"""

from __future__ import annotations

import calendar
import hashlib
from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from msgspec import Struct

from accounts.models import Interval

# Periods in ascending order. The period of a month is that of February, the shortest month.
PERIODS = {
    Interval.HOUR: timedelta(hours=1),
    Interval.SIX_HOURS: timedelta(hours=6),
    Interval.DAY: timedelta(days=1),
    Interval.WEEK: timedelta(weeks=1),
    Interval.MONTH: timedelta(days=28),
}
# Arbitrary Monday. The periods of schedules without a time of day are counted from this day.
FIRST_MONDAY = datetime(2024, 1, 1, tzinfo=UTC)


class Schedule(Struct, frozen=True):
    """Schedule of runs at local time `at`.

    Without `at`, a digest of `seed` determines the start within the interval.

    `day` is an ISO weekday for weeks, or a day of the month for months (the last day of shorter months). Without `day`,
    the digest chooses the day.
    """

    every: Interval
    seed: str
    at: time | None = None
    day: int | None = None
    timezone: str = "UTC"

    def after(self, moment: datetime) -> datetime:
        """Return the first due time after `moment`, in UTC."""
        return next(due_at for due_at in self._times(moment) if due_at > moment)

    def _times(self, moment: datetime) -> Iterator[datetime]:
        """Yield due times in ascending order, beginning before `moment`."""
        if self.every is Interval.HOUR:
            return self._hourly_times(moment)
        if self.at is None:
            return self._spread_times(moment)
        return self._local_times(moment, self.at)

    def _hourly_times(self, moment: datetime) -> Iterator[datetime]:
        offset_s = self._seed_number % 3600
        if self.at is not None:
            # UTC offsets of some time zones include 30 or 45 minutes.
            zone_s = ZoneInfo(self.timezone).utcoffset(moment.replace(tzinfo=None))
            assert zone_s is not None
            offset_s = int(self.at.minute * 60 + self.at.second - zone_s.total_seconds()) % 3600
        hour = moment.astimezone(UTC).replace(minute=0, second=0, microsecond=0) - timedelta(hours=1)
        while True:
            yield hour + timedelta(seconds=offset_s)
            hour += timedelta(hours=1)

    def _spread_times(self, moment: datetime) -> Iterator[datetime]:
        period = PERIODS[self.every]
        offset = timedelta(seconds=self._seed_number % int(period.total_seconds()))
        if self.every is not Interval.MONTH:
            period_start = FIRST_MONDAY + ((moment - FIRST_MONDAY) // period - 1) * period
            while True:
                yield period_start + offset
                period_start += period
        for year, month in _months(moment.astimezone(UTC).date()):
            yield datetime(year, month, 1, tzinfo=UTC) + offset

    def _local_times(self, moment: datetime, at: time) -> Iterator[datetime]:
        zone = ZoneInfo(self.timezone)
        today = moment.astimezone(zone).date()
        if self.every is Interval.MONTH:
            for year, month in _months(today):
                yield utc_moment_at(
                    date(year, month, min(self._day(28), calendar.monthrange(year, month)[1])), at, zone
                )
        day = today - timedelta(days=8)
        if self.every is Interval.WEEK:
            day += timedelta(days=(self._day(7) - day.isoweekday()) % 7)
        step = timedelta(weeks=1) if self.every is Interval.WEEK else timedelta(days=1)
        while True:
            if self.every is Interval.SIX_HOURS:
                for hour in range(at.hour % 6, 24, 6):
                    yield utc_moment_at(day, at.replace(hour=hour), zone)
            else:
                yield utc_moment_at(day, at, zone)
            day += step

    def _day(self, days: int) -> int:
        return self.day if self.day is not None else self._seed_number % days + 1

    @property
    def _seed_number(self) -> int:
        return seed_number(self.seed)


def seed_number(seed: str) -> int:
    """Return a pseudo-random number that depends only on the seed."""
    return int.from_bytes(hashlib.sha256(seed.encode()).digest()[:8])


def _months(day: date) -> Iterator[tuple[int, int]]:
    """Yield (year, month) pairs, beginning with the month before `day`."""
    month = day.year * 12 + day.month - 2
    while True:
        yield month // 12, month % 12 + 1
        month += 1


def utc_moment_at(day: date, at: time, zone: ZoneInfo) -> datetime:
    """Return the UTC moment of a local time on a day.

    If the clocks skip that time, this is the first moment after the gap.
    """
    local = datetime.combine(day, at.replace(fold=0), zone)
    moment = local.astimezone(UTC)
    if moment.astimezone(zone).replace(tzinfo=None) == local.replace(tzinfo=None):
        return moment
    # The UTC offset changes at the end of the gap. Binary search finds this end between the two moments that result
    # from the old and the new offset.
    early, late = local.replace(fold=1).astimezone(UTC), moment
    before = early.astimezone(zone).utcoffset()
    while late - early > timedelta(seconds=1):
        middle = early + timedelta(seconds=(late - early) // timedelta(seconds=2))
        if middle.astimezone(zone).utcoffset() == before:
            early = middle
        else:
            late = middle
    return late
