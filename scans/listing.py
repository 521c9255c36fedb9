"""An organization's scans: a page of them, and how many there are. Counts come from counters, not from rows."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import date, datetime

from django.db.models import Sum

from accounts import access
from accounts.usage import USED, Limits, Quota, month_of
from config.postgresql.statements import sql_timestamp
from scans.models import Scan, ScanCount

# GET /v1/scans is what dashboards and pollers ask most: one prepared statement, whose JSON goes out as it is.
# The conditions are made of these two column names only; their values are parameters.
FILTERS = ("status", "type")
LIST_QUERY = """
    SELECT (
        SELECT coalesce(json_agg(summary), '[]') FROM (
            SELECT id, type, url, status, score, grade, {created_at} AS created_at, {completed_at} AS completed_at
            FROM scans_scan AS scan WHERE organization_id = %(organization)s{conditions}
            ORDER BY scan.created_at DESC, id DESC {page}
        ) AS summary
    )::text, (
        SELECT coalesce(sum(count), 0)::bigint FROM scans_scancount WHERE organization_id = %(organization)s{conditions}
    ), {used}
"""


def scan_list(
    *,
    organization_id: int,
    limits: Limits,
    filters: Mapping[str, str],
    limit: int,
    offset: int,
    now: datetime,
) -> str:
    """The answer of GET /v1/scans as JSON text: newest first; the ID settles ties, so pages never overlap."""
    query = LIST_QUERY.format(
        created_at=sql_timestamp("scan.created_at"),
        completed_at=sql_timestamp("scan.completed_at"),
        conditions="".join(f" AND {column} = %({column})s" for column in FILTERS if column in filters),
        # The first page has a text of its own: without the numbers PostgreSQL would plan it anew every time.
        page="LIMIT %(limit)s OFFSET %(offset)s" if offset else f"LIMIT {limit:d}",
        used=USED,
    )
    ((scans, total, used),) = access.fetch_rows(
        query, organization_id, limit=limit, offset=offset, period=month_of(now), **filters
    )
    quota = Quota(used, limits.scans_per_month, limits.tier).as_dict()
    rest = json.dumps({"total": total, "limit": limit, "offset": offset, "quota": quota})
    return f'{{"scans": {scans}, {rest[1:]}'


def scan_counts(organization_id: int, column: str, period: date) -> dict[str, int]:
    """How many scans of a month there are, by `type` or `status`; every value is listed, also with 0."""
    known = Scan.Type.values if column == "type" else Scan.Status.values
    counted = (
        access.rows(ScanCount, organization_id).filter(period=period).values_list(column).annotate(total=Sum("count"))
    )
    return dict.fromkeys(known, 0) | dict(counted)
