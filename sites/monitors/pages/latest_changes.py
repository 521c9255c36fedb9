"""Latest changes that monitors reported, for the overview."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime, timedelta

from msgspec import Struct

from accounts import access
from sites.monitors.pages.lists import Change, changes_of

MAX_OVERVIEW_ITEMS = 5
RECENTLY = timedelta(days=7)

# Selects the latest changes with one index lookup for each monitor.
LATEST_CHANGES = """
    SELECT monitor.id, monitor.name, run.due_at, run.news
    FROM sites_monitor AS monitor
    CROSS JOIN LATERAL (
        SELECT due_at, news FROM sites_monitorrun
        WHERE monitor_id = monitor.id AND news <> '{}'::jsonb ORDER BY due_at DESC LIMIT 1
    ) AS run
    WHERE monitor.organization_id = ANY(%(organizations)s) AND run.due_at > %(since)s
    ORDER BY run.due_at DESC, monitor.id LIMIT %(most)s
"""


class News(Struct, frozen=True):
    """Monitor in the overview with its latest changes."""

    id: str
    name: str
    at: datetime
    changes: tuple[Change, ...]


class LatestChanges(Struct, frozen=True):
    """Latest changes that monitors reported, for the worse and for the better, and whether there are more."""

    worse: list[News]
    better: list[News]
    has_more: bool


def latest_changes(organization_ids: Sequence[int], now: datetime) -> LatestChanges:
    """Return the latest changes for the overview. A run may have changed in both directions."""
    most = MAX_OVERVIEW_ITEMS + 1
    rows = access.fetch_rows_of_several(LATEST_CHANGES, organization_ids, since=now - RECENTLY, most=most)
    worse, better = list[News](), list[News]()
    for id, name, at, news in rows[:MAX_OVERVIEW_ITEMS]:
        changes = changes_of(json.loads(news))
        for group, is_better in ((worse, False), (better, True)):
            if found := tuple(change for change in changes if (change.tone == "good") is is_better):
                group.append(News(id, name, at, found))
    return LatestChanges(worse, better, has_more=len(rows) > MAX_OVERVIEW_ITEMS)
