"""SQL fragments with audit tables for the queries of `scans`.

`sites/apps.py` registers them.
"""

from __future__ import annotations

from scans.audit_sql import AuditSql

SCAN_SQL = AuditSql(
    audit_of_scan="(SELECT audit_id FROM sites_auditpage AS page WHERE page.id = scan.audit_page_id)",
    audit_with_shared_responses="""(
        SELECT audit.id FROM sites_auditpage AS page JOIN sites_audit AS audit ON audit.id = page.audit_id
        WHERE page.id = scan.audit_page_id AND audit.kind <> 'page'
    )""",
    journey_run_of_scan="""(
        SELECT audit.id FROM sites_auditpage AS page JOIN sites_audit AS audit ON audit.id = page.audit_id
        WHERE page.id = scan.audit_page_id AND audit.kind = 'journey'
    )""",
    # Audits of a list have no copy of the list's requirements.
    requirements_of_scan="""CASE WHEN scan.audit_page_id IS NULL THEN scan.requirements ELSE (
        SELECT CASE WHEN audit.run_of = 'list' THEN list.requirements ELSE audit.requirements END
        FROM sites_auditpage AS page
        JOIN sites_audit AS audit ON audit.id = page.audit_id
        LEFT JOIN sites_listresult AS result ON result.audit_id = audit.id
        LEFT JOIN sites_sitelist AS list ON list.id = result.site_list_id
        WHERE page.id = scan.audit_page_id
    ) END""",
    pages_of_audit="SELECT id FROM sites_auditpage WHERE audit_id = %(audit)s",
    discovery_slots="""
        SELECT count(*) FROM sites_audit
        WHERE status = 'discovering' AND worker = %(worker)s AND lease_expires_at > statement_timestamp()
    """,
)
