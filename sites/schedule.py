"""Schedule of the runs of monitors and lists. Pure; local times follow the IANA time zone database.

An hourly schedule runs every sixty minutes, regardless of daylight saving time. Longer intervals run at a time of day:
a time that a day lacks, because clocks go forward, becomes the first moment after the gap; an ambiguous time is the
first of both.
"""

from __future__ import annotations

import calendar
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo, available_timezones

from accounts.models import Interval

# In ascending order. A month counts as its shortest, February.
PERIODS = {
    Interval.HOUR: timedelta(hours=1),
    Interval.SIX_HOURS: timedelta(hours=6),
    Interval.DAY: timedelta(days=1),
    Interval.WEEK: timedelta(weeks=1),
    Interval.MONTH: timedelta(days=28),
}
# An arbitrary Monday, from which intervals without a time of day are counted.
FIRST_MONDAY = datetime(2024, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Schedule:
    """Schedule of runs. `at` is a local time; without it, a digest of `seed` spreads the start over the interval.

    `day` is an ISO weekday for weeks, a day of the month for months (in shorter months the last one); without it, the
    digest chooses the day.
    """

    every: Interval
    seed: str
    at: time | None = None
    day: int | None = None
    timezone: str = "UTC"

    def after(self, moment: datetime) -> datetime:
        """Return the first due time later than `moment`, in UTC."""
        return next(each for each in self._times(moment) if each > moment)

    def _times(self, moment: datetime) -> Iterator[datetime]:
        """Yield due times in ascending order, starting before `moment`."""
        if self.every is Interval.HOUR:
            return self._hours(moment)
        if self.at is None:
            return self._spread(moment)
        return self._local(moment, self.at)

    def _hours(self, moment: datetime) -> Iterator[datetime]:
        offset_s = self._number % 3600
        if self.at is not None:
            # The offsets of some zones include half an hour or three quarters.
            zone_s = ZoneInfo(self.timezone).utcoffset(moment.replace(tzinfo=None))
            assert zone_s is not None
            offset_s = int(self.at.minute * 60 + self.at.second - zone_s.total_seconds()) % 3600
        hour = moment.astimezone(UTC).replace(minute=0, second=0, microsecond=0) - timedelta(hours=1)
        while True:
            yield hour + timedelta(seconds=offset_s)
            hour += timedelta(hours=1)

    def _spread(self, moment: datetime) -> Iterator[datetime]:
        period = PERIODS[self.every]
        offset = timedelta(seconds=self._number % int(period.total_seconds()))
        if self.every is not Interval.MONTH:
            begin = FIRST_MONDAY + ((moment - FIRST_MONDAY) // period - 1) * period
            while True:
                yield begin + offset
                begin += period
        for year, month in _months(moment.astimezone(UTC).date()):
            yield datetime(year, month, 1, tzinfo=UTC) + offset

    def _local(self, moment: datetime, at: time) -> Iterator[datetime]:
        zone = ZoneInfo(self.timezone)
        today = moment.astimezone(zone).date()
        if self.every is Interval.MONTH:
            for year, month in _months(today):
                yield moment_at(date(year, month, min(self._day(28), calendar.monthrange(year, month)[1])), at, zone)
        begin = today - timedelta(days=8)
        if self.every is Interval.WEEK:
            begin += timedelta(days=(self._day(7) - begin.isoweekday()) % 7)
        step = timedelta(weeks=1) if self.every is Interval.WEEK else timedelta(days=1)
        while True:
            if self.every is Interval.SIX_HOURS:
                for hour in range(at.hour % 6, 24, 6):
                    yield moment_at(begin, at.replace(hour=hour), zone)
            else:
                yield moment_at(begin, at, zone)
            begin += step

    def _day(self, days: int) -> int:
        return self.day if self.day is not None else self._number % days + 1

    @property
    def _number(self) -> int:
        return spread(self.seed)


def spread(seed: str) -> int:
    """Return a pseudo-random number from a seed, always the same."""
    return int.from_bytes(hashlib.sha256(seed.encode()).digest()[:8])


@lru_cache(maxsize=1)
def time_zones() -> tuple[str, ...]:
    """Return the sorted names of the IANA time zone database, without the machine's local zone."""
    return tuple(sorted(each for each in available_timezones() if each not in ("localtime", "Factory")))


def _months(day: date) -> Iterator[tuple[int, int]]:
    """Yield year and month, starting with the month before `day`."""
    month = day.year * 12 + day.month - 2
    while True:
        yield month // 12, month % 12 + 1
        month += 1


def moment_at(day: date, at: time, zone: ZoneInfo) -> datetime:
    """Return the first moment in UTC with that local time on that day or, in a gap, the first moment after the gap."""
    local = datetime.combine(day, at.replace(fold=0), zone)
    moment = local.astimezone(UTC)
    if moment.astimezone(zone).replace(tzinfo=None) == local.replace(tzinfo=None):
        return moment
    # Bisect for the end of the gap, where the offset changes: it lies between the readings with either offset.
    early, late = local.replace(fold=1).astimezone(UTC), moment
    before = early.astimezone(zone).utcoffset()
    while late - early > timedelta(seconds=1):
        middle = early + timedelta(seconds=(late - early) // timedelta(seconds=2))
        if middle.astimezone(zone).utcoffset() == before:
            early = middle
        else:
            late = middle
    return late
