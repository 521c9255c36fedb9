"""Queries for an organization's scans, used by the API."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from datetime import date, datetime
from typing import get_type_hints

from django.db.models import Sum

from accounts import access
from accounts.usage import USED, USED_ELSEWHERE, Quota, TierLimits, quota_parameters
from infrastructure.api.pagination import Slice
from infrastructure.postgresql.statements import sql_timestamp
from scans.audit_sql import audit_sql
from scans.models import Scan, ScanCount
from scans.schemas import ListedScan, quota_of
from website_scan.ids import is_id

# The query is a prepared statement and reads only the columns of the response, because clients poll GET /v1/scan/:id.
COLUMNS = (
    *("id", "type", "url", "status", "score", "grade", "created_at", "started_at", "completed_at"),
    *("percent", "phase", "checks_done", "checks_total", "skipped_checks"),
    *("error_code", "error_message", "credential_names", "viewing", "requirements", "categories"),
)
JSON_COLUMNS = ("skipped_checks", "credential_names", "viewing", "requirements")
SCAN_QUERY = f"""
    SELECT {", ".join(COLUMNS)} FROM scans_scan WHERE organization_id = %(organization)s AND id = %(id)s
"""  # noqa: S608  # built from constants only

# GET /v1/scans is the most frequent request, so one prepared statement returns the JSON of the response. The conditions
# are constant texts, and their values are parameters.
FILTERS = {
    "status": "status = %(status)s",
    "type": "type = %(type)s",
    "audit": "audit_page_id IN ({pages_of_audit})",
}
LIST_QUERY = """
    SELECT (
        SELECT coalesce(json_agg(summary), '[]') FROM (
            SELECT {summary} FROM {source} ORDER BY scan.created_at DESC, id DESC {page}
        ) AS summary
    )::text, ({total}), {used}, {used_elsewhere}
"""
TOTAL = """
    SELECT coalesce(sum(count), 0)::bigint FROM scans_scancount WHERE organization_id = %(organization)s{conditions}
"""
TOTAL_OF_AUDIT_QUERY = "SELECT count(*) FROM scans_scan WHERE organization_id = %(organization)s{conditions}"
FIRST_PAGE_SOURCE = "scans_scan AS scan WHERE organization_id = %(organization)s{conditions}"
# The subquery reads the skipped rows from the index alone (index-only scan).
LATER_PAGE_SOURCE = """
    scans_scan AS scan JOIN (
        SELECT id FROM scans_scan WHERE organization_id = %(organization)s{conditions}
        ORDER BY created_at DESC, id DESC LIMIT %(limit)s OFFSET %(offset)s
    ) AS page USING (id)
"""


def find_scan(organization_id: int, scan_id: str) -> Scan | None:
    """Return the scan with the columns of the API's response, or None if the organization has no such scan."""
    rows = access.fetch_rows(SCAN_QUERY, organization_id, id=scan_id) if is_id("scan", scan_id) else ()
    for row in rows:
        values = dict(zip(COLUMNS, row, strict=True))
        json_values = {name: json.loads(values[name]) for name in JSON_COLUMNS if values[name] is not None}
        return Scan(**values | json_values)
    return None


def scan_list(
    *,
    organization_id: int,
    limits: TierLimits,
    filters: Mapping[str, str],
    page_slice: Slice,
    now: datetime,
) -> str:
    """Return the response of GET /v1/scans as JSON text, newest scans first.

    The order includes the ID, so that pages never overlap.
    """
    condition_sql = "".join(f" AND {condition}" for name, condition in FILTERS.items() if name in filters)
    conditions = condition_sql.format(pages_of_audit=audit_sql().pages_of_audit)
    query = LIST_QUERY.format(
        summary=_summary_columns(),
        source=(LATER_PAGE_SOURCE if page_slice.offset else FIRST_PAGE_SOURCE).format(conditions=conditions),
        total=(TOTAL_OF_AUDIT_QUERY if "audit" in filters else TOTAL).format(conditions=conditions),
        # The limit is a literal, because PostgreSQL would plan the query anew for each value of a parameter.
        page="" if page_slice.offset else f"LIMIT {page_slice.limit:d}",
        used=USED,
        used_elsewhere=USED_ELSEWHERE,
    )
    ((scans, total, used, used_elsewhere),) = access.fetch_rows(
        query,
        organization_id,
        limit=page_slice.limit,
        offset=page_slice.offset,
        **quota_parameters(limits, now),
        **filters,
    )
    quota = quota_of(Quota(used, used_elsewhere, limits.scans_per_month, limits.tier))
    other_fields = json.dumps({"total": total, "limit": page_slice.limit, "offset": page_slice.offset, "quota": quota})
    return f'{{"scans": {scans}, {other_fields[1:]}'


@functools.cache
def _summary_columns() -> str:
    """Return the SQL columns for the keys of a listed scan, with timestamps in the API's format."""
    return ", ".join(
        f"{audit_sql().audit_of_scan} AS audit"
        if name == "audit"
        else f"{sql_timestamp(f'scan.{name}')} AS {name}"
        if name.endswith("_at")
        else name
        for name in get_type_hints(ListedScan)
    )


def scan_counts(organization_id: int, column: str, period: date) -> dict[str, int]:
    """Return the counts of the month's scans by `type` or `status`, including zeros."""
    column_values = Scan.Type.values if column == "type" else Scan.Status.values
    totals = (
        access.rows(ScanCount, organization_id).filter(period=period).values_list(column).annotate(total=Sum("count"))
    )
    return dict.fromkeys(column_values, 0) | dict(totals)
