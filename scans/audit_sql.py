"""SQL fragments about audits for use in scan queries.

The package of audits registers them, so `scans` does not depend on tables of a package above it, and a claim still
needs only one statement.
"""

from __future__ import annotations

from msgspec import Struct


class AuditSql(Struct, frozen=True):
    """SQL fragments that add audit data to queries of `scans_scan AS scan`.

    The defaults ignore audits.
    """

    # SQL expression for the ID of the scan's audit. NULL if the scan belongs to no audit.
    audit_of_scan: str = "NULL::text"
    # SQL expression for the ID of the audit if its visits share responses, because it may have several pages, else
    # NULL.
    audit_with_shared_responses: str = "NULL::text"
    # SQL expression for the ID of the scan's audit if the audit is a run of a journey, else NULL.
    journey_run_of_scan: str = "NULL::text"
    # SQL expression for the own requirements of the scan, or of its audit if it belongs to one.
    requirements_of_scan: str = "scan.requirements"
    # SQL query that returns the IDs of all pages of the audit %(audit)s, for `audit_page_id IN`.
    pages_of_audit: str = "SELECT NULL::bigint WHERE FALSE"
    # SQL query for the number of slots in which the worker %(worker)s currently discovers pages of audits.
    discovery_slots: str = "SELECT 0"


_registered = AuditSql()


def register(sql: AuditSql) -> None:
    """Register the SQL fragments.

    The package of audits calls this in `apps.ready()`, before any query is built.
    """
    global _registered
    _registered = sql


def audit_sql() -> AuditSql:
    """Return the registered SQL fragments."""
    return _registered
