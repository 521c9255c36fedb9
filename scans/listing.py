"""An organization's scans for the API: one by its ID, the list, and the numbers from counters (ScanCount)."""

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

# Clients poll GET /v1/scan/:id, so it is a prepared statement with the columns that it shows.
COLUMNS = (
    *("id", "type", "url", "status", "score", "grade", "created_at", "started_at", "completed_at"),
    *("percent", "phase", "checks_done", "checks_total", "skipped_checks"),
    *("error_code", "error_message", "credential_names"),
)
JSON_COLUMNS = ("skipped_checks", "credential_names")
SCAN_QUERY = f"""
    SELECT {", ".join(COLUMNS)} FROM scans_scan WHERE organization_id = %(organization)s AND id = %(id)s
"""  # noqa: S608  # of constants

# GET /v1/scans is the most frequent request of dashboards and pollers: one prepared statement, whose JSON is sent
# unchanged. The conditions are fixed texts; their values are parameters.
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
TOTAL_OF_AUDIT = "SELECT count(*) FROM scans_scan WHERE organization_id = %(organization)s{conditions}"
FIRST_PAGE = "scans_scan AS scan WHERE organization_id = %(organization)s{conditions}"
# An index-only scan reads the rows that the offset skips.
LATER_PAGE = """
    scans_scan AS scan JOIN (
        SELECT id FROM scans_scan WHERE organization_id = %(organization)s{conditions}
        ORDER BY created_at DESC, id DESC LIMIT %(limit)s OFFSET %(offset)s
    ) AS page USING (id)
"""


def find_scan(organization_id: int, scan_id: str) -> Scan | None:
    """Return the scan with the columns that the API shows; None if the organization has no such scan."""
    found = access.fetch_rows(SCAN_QUERY, organization_id, id=scan_id) if is_id("scan", scan_id) else ()
    for row in found:
        values = dict(zip(COLUMNS, row, strict=True))
        parsed = {name: json.loads(values[name]) for name in JSON_COLUMNS if values[name] is not None}
        return Scan(**values | parsed)
    return None


def scan_list(
    *,
    organization_id: int,
    limits: TierLimits,
    filters: Mapping[str, str],
    part: Slice,
    now: datetime,
) -> str:
    """Return the response of GET /v1/scans as JSON text: newest first; the ID breaks ties, so pages never overlap."""
    given = "".join(f" AND {condition}" for name, condition in FILTERS.items() if name in filters)
    conditions = given.format(pages_of_audit=audit_sql().pages_of_audit)
    query = LIST_QUERY.format(
        summary=_summary_columns(),
        source=(LATER_PAGE if part.offset else FIRST_PAGE).format(conditions=conditions),
        total=(TOTAL_OF_AUDIT if "audit" in filters else TOTAL).format(conditions=conditions),
        # The first page's query has a literal limit: with a parameter PostgreSQL would plan it anew every time.
        page="" if part.offset else f"LIMIT {part.limit:d}",
        used=USED,
        used_elsewhere=USED_ELSEWHERE,
    )
    ((scans, total, used, elsewhere),) = access.fetch_rows(
        query, organization_id, limit=part.limit, offset=part.offset, **quota_parameters(limits, now), **filters
    )
    quota = quota_of(Quota(used, elsewhere, limits.scans_per_month, limits.tier))
    rest = json.dumps({"total": total, "limit": part.limit, "offset": part.offset, "quota": quota})
    return f'{{"scans": {scans}, {rest[1:]}'


@functools.cache
def _summary_columns() -> str:
    """Return the SQL columns for the keys of a listed scan, with timestamps in the format of the API."""
    return ", ".join(
        f"{audit_sql().audit_of_scan} AS audit"
        if name == "audit"
        else f"{sql_timestamp(f'scan.{name}')} AS {name}"
        if name.endswith("_at")
        else name
        for name in get_type_hints(ListedScan)
    )


def scan_counts(organization_id: int, column: str, period: date) -> dict[str, int]:
    """Count the scans of a month by `type` or `status`; values without scans are listed with 0."""
    known = Scan.Type.values if column == "type" else Scan.Status.values
    counted = (
        access.rows(ScanCount, organization_id).filter(period=period).values_list(column).annotate(total=Sum("count"))
    )
    return dict.fromkeys(known, 0) | dict(counted)
