from __future__ import annotations

from django.apps import AppConfig


class SitesConfig(AppConfig):
    """Configuration of the app; connects audits to scans and organizations, and monitors and lists to audits."""

    name = "sites"

    def ready(self) -> None:
        from accounts.closing.services import (
            organization_closed,  # models need all apps to be loaded
        )
        from accounts.models import Organization
        from scans import audit_sql
        from scans.signals import page_loaded, scan_ended, slot_freed
        from sites import closing
        from sites.audits import arrivals, dispatch, events, scan_sql, settling
        from sites.lists import collecting
        from sites.monitors import outcome
        from sites.signals import audit_ended

        audit_sql.register(scan_sql.SCAN_SQL)
        scan_ended.connect(settling.settle_page, dispatch_uid="sites.audits.settling")
        # After `settle_page`, because the end of the audit ends the result, which `collect_visit` completes.
        scan_ended.connect(collecting.collect_visit, dispatch_uid="sites.lists.collecting.visits")
        page_loaded.connect(arrivals.receive_page, dispatch_uid="sites.audits.arrivals")
        slot_freed.connect(dispatch.fill_free_slot, dispatch_uid="sites.audits.dispatch")
        audit_ended.connect(events.record_audit_end, dispatch_uid="sites.audits.events")
        audit_ended.connect(outcome.enqueue_finish_run, dispatch_uid="sites.monitors.outcome")
        audit_ended.connect(collecting.end_result, dispatch_uid="sites.lists.collecting.audits")
        organization_closed.connect(closing.stop_audits, sender=Organization, dispatch_uid="sites.closing")
