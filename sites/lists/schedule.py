"""Schedule of a list's runs: at midnight local time, on one day of each week, month or quarter.

The day is derived from a digest of the list's ID, so that not all lists run on the first of the month.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from accounts.models import Interval
from sites.models import SiteList
from sites.models.site_list import ListInterval
from sites.schedule import Schedule, moment_at, seed_number

MIDNIGHT = time()
# Runs are due on one of the first 84 days of a quarter, which every quarter has.
DAYS_OF_QUARTER = 28 * 3


def next_run(site_list: SiteList, after: datetime) -> datetime | None:
    """Return the first due time of the list later than `after`, in UTC; None if it has no schedule."""
    match site_list.every:
        case ListInterval.WEEK:
            return Schedule(Interval.WEEK, site_list.id, MIDNIGHT, None, site_list.timezone).after(after)
        case ListInterval.MONTH:
            return Schedule(Interval.MONTH, site_list.id, MIDNIGHT, None, site_list.timezone).after(after)
        case ListInterval.QUARTER:
            return next(due for due in _quarters(site_list, after) if due > after)
    return None


def _quarters(site_list: SiteList, after: datetime) -> Iterator[datetime]:
    """Yield the due times of a quarterly schedule in ascending order, starting before `after`."""
    zone = ZoneInfo(site_list.timezone)
    today = after.astimezone(zone).date()
    day = timedelta(days=seed_number(site_list.id) % DAYS_OF_QUARTER)
    quarter = today.year * 4 + (today.month - 1) // 3 - 1
    while True:
        yield moment_at(date(quarter // 4, quarter % 4 * 3 + 1, 1) + day, MIDNIGHT, zone)
        quarter += 1
