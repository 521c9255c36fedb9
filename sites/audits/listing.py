"""Query for an organization's audits, used by the API."""

from __future__ import annotations

import json

from accounts import access
from infrastructure.api.pagination import Slice
from sites.audits.schemas import AuditList, audit_summary_of
from sites.models import Audit

# Columns of the response, in the order of the model, as `from_db` expects them.
_NAMES = frozenset(
    {
        *("id", "kind", "url", "journey_id", "types", "status", "created_at", "completed_at", "run_of"),
        *("pages_found", "pages_planned", "pages_done", "pages_failed", "scans_done", "totals"),
        *("error_code", "error_message"),
    }
)
COLUMNS = tuple(field.attname for field in Audit._meta.concrete_fields if field.attname in _NAMES)
# Clients poll the list, so one prepared statement reads the rows and their number. The condition on time selects the
# same audits as `AuditQuerySet.expired`.
LISTED = """
    FROM sites_audit
    WHERE organization_id = %(organization)s AND run_of <> 'dry_run'
        AND NOT (
            status = ANY(%(final)s) AND created_at <= statement_timestamp() - kept_days * interval '1 day'
            AND coalesce(released_at, created_at) <= statement_timestamp() - kept_days * interval '1 day'
        )
"""
HAS_STATUS = " AND status = %(status)s"
# The limit is a literal, because PostgreSQL would plan the query anew for each value of a parameter.
QUERY = """
    SELECT total.number, {columns} FROM (SELECT count(*) AS number {listed}) AS total
    LEFT JOIN LATERAL (
        SELECT {columns} {listed} ORDER BY created_at DESC, id DESC LIMIT {limit:d} OFFSET %(offset)s
    ) AS page ON TRUE
    ORDER BY created_at DESC, id DESC
"""


def audit_list(*, organization_id: int, status: str | None, page_slice: Slice) -> AuditList:
    """Return the response of GET /v1/audits, newest audits first. `status` selects audits with this status."""
    query = QUERY.format(
        columns=", ".join(COLUMNS), listed=LISTED + HAS_STATUS if status else LISTED, limit=page_slice.limit
    )
    rows = access.fetch_rows(query, organization_id, final=sorted(Audit.FINAL), status=status, offset=page_slice.offset)
    # Without audits in the slice, the only row has the number alone.
    audits = [_audit_of(row[1:]) for row in rows if row[1] is not None]
    return {
        "audits": [audit_summary_of(audit) for audit in audits],
        "total": rows[0][0],
        "limit": page_slice.limit,
        "offset": page_slice.offset,
    }


def _audit_of(row: tuple[object, ...]) -> Audit:
    values = dict(zip(COLUMNS, row, strict=True))
    values["totals"] = json.loads(str(values["totals"]))
    return Audit.from_db("default", COLUMNS, tuple(values.values()))
