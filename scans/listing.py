"""An organization's scans: pages of them, and how many there are. The counts come from counters, not from rows."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Any

from django.db.models import Sum

from accounts import access
from config.sql import sql_timestamp
from scans.models import Scan, ScanCount
from scans.serializers import SUMMARY_FIELDS

# Read with almost every request of a dashboard or poller, so written out and prepared. The conditions are made
# of these two column names only; the values are parameters.
FILTERS = ("status", "type")
PAGE_QUERY = """
    SELECT id, type, url, status, score, grade, {created_at}, {completed_at} FROM scans_scan WHERE organization_id = %(organization)s{conditions}
    ORDER BY created_at DESC, id DESC LIMIT %(limit)s OFFSET %(offset)s
"""
TOTAL_QUERY = """
    SELECT coalesce(sum(count), 0)::bigint FROM scans_scancount
    WHERE organization_id = %(organization)s{conditions}
"""


def scan_page(
    organization_id: int, filters: Mapping[str, str], limit: int, offset: int
) -> list[dict[str, Any]]:
    """The scan summaries of a page, newest first; the ID settles ties, so that pages never overlap."""
    query = PAGE_QUERY.format(
        created_at=sql_timestamp("created_at"),
        completed_at=sql_timestamp("completed_at"),
        conditions=_conditions(filters),
    )
    found = access.fetch_rows(query, organization_id, limit=limit, offset=offset, **filters)
    return [dict(zip(SUMMARY_FIELDS, row, strict=True)) for row in found]


def scan_total(organization_id: int, filters: Mapping[str, str]) -> int:
    """How many scans there are, whatever the page."""
    query = TOTAL_QUERY.format(conditions=_conditions(filters))
    ((total,),) = access.fetch_rows(query, organization_id, **filters)
    return int(total)


def scan_counts(organization_id: int, column: str, period: date) -> dict[str, int]:
    """How many scans of a month there are, by `type` or `status`; every value is listed, also with 0."""
    known = Scan.Type.values if column == "type" else Scan.Status.values
    counted = (
        access.rows(ScanCount, organization_id)
        .filter(period=period)
        .values_list(column)
        .annotate(total=Sum("count"))
    )
    return dict.fromkeys(known, 0) | dict(counted)


def _conditions(filters: Mapping[str, str]) -> str:
    return "".join(f" AND {column} = %({column})s" for column in FILTERS if column in filters)
