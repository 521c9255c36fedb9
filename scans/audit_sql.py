"""SQL fragments about audits for the statements of scans, registered by the package of audits.

So `scans` does not depend on tables of a package above it, and a claim still needs only one statement.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class AuditSql:
    """SQL fragments for statements that read `scans_scan AS scan`. The defaults are for a service without audits."""

    # Expression for the ID of the scan's audit. NULL if the scan belongs to no audit.
    audit_of_scan: str = "NULL::text"
    # Query of the IDs of all pages of the audit %(audit)s, for `audit_page_id IN`.
    pages_of_audit: str = "SELECT NULL::bigint WHERE FALSE"
    # Query of one number: slots of the worker %(worker)s that discover the pages of audits at present.
    discovery_slots: str = "SELECT 0"


_registered = AuditSql()


def register(sql: AuditSql) -> None:
    """Set the SQL fragments. The package of audits calls this function in `apps.ready()`, before any statement is
    built.
    """
    global _registered
    _registered = sql


def audit_sql() -> AuditSql:
    """Return the registered SQL fragments."""
    return _registered
