"""SQL about audits for the statements of scans. Audits belong to a package above, which registers the texts.

So `scans` names no table of a package above it, and a claim still reads everything in one statement.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class AuditSql:
    """Texts for statements that read `scans_scan AS scan`. The defaults are for a service without audits."""

    # Expression: the ID of the scan's audit; NULL if it has none.
    audit_of_scan: str = "NULL::text"
    # Query of the IDs of the pages of the audit %(audit)s, for `audit_page_id IN`.
    pages_of_audit: str = "SELECT NULL::bigint WHERE FALSE"
    # Query of one number: the slots of the worker %(worker)s in which the pages of audits are discovered.
    discovery_slots: str = "SELECT 0"


_registered = AuditSql()


def register(sql: AuditSql) -> None:
    """Set the texts; the package of audits calls this in `apps.ready()`, before any statement is built."""
    global _registered
    _registered = sql


def audit_sql() -> AuditSql:
    """Return the registered texts."""
    return _registered
