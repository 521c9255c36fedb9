"""Schedule of a list's runs.

Runs begin at midnight local time, on one day of each week, month or quarter. A digest of the list's ID determines the
day, so that not all lists run on the first of the month.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from accounts.models import Interval
from sites.models import SiteList
from sites.models.site_list import ListInterval
from sites.schedule import Schedule, seed_number, utc_moment_at

MIDNIGHT = time()
# A run is due on one of the first 84 days of a quarter, because every quarter has them.
DAYS_OF_QUARTER = 28 * 3


def next_run(site_list: SiteList, after: datetime) -> datetime | None:
    """Return the first due time of the list after `after`, in UTC.

    Returns None if the list has no schedule.
    """
    match site_list.every:
        case ListInterval.WEEK:
            return Schedule(Interval.WEEK, site_list.id, MIDNIGHT, None, site_list.timezone).after(after)
        case ListInterval.MONTH:
            return Schedule(Interval.MONTH, site_list.id, MIDNIGHT, None, site_list.timezone).after(after)
        case ListInterval.QUARTER:
            return next(due for due in _quarterly_times(site_list, after) if due > after)
    return None


def _quarterly_times(site_list: SiteList, after: datetime) -> Iterator[datetime]:
    """Yield the due times of a quarterly schedule in ascending order, beginning before `after`."""
    zone = ZoneInfo(site_list.timezone)
    today = after.astimezone(zone).date()
    day = timedelta(days=seed_number(site_list.id) % DAYS_OF_QUARTER)
    quarter = today.year * 4 + (today.month - 1) // 3 - 1
    while True:
        yield utc_moment_at(date(quarter // 4, quarter % 4 * 3 + 1, 1) + day, MIDNIGHT, zone)
        quarter += 1
