from __future__ import annotations

from typing import TYPE_CHECKING

from django.apps import AppConfig

if TYPE_CHECKING:
    from scans.visits.journeys import Finish, JourneyVisit


def execute_journey(visit: JourneyVisit) -> Finish:
    """Execute the journey of a claimed visit. Only workers with a browser need the modules for it."""
    from sites.journeys import running

    return running.execute_journey(visit)


class SitesConfig(AppConfig):
    """Django app configuration, which connects the signal receivers of audits, monitors and lists."""

    name = "sites"

    def ready(self) -> None:
        # Modules with models can only be imported after all apps are loaded.
        from accounts.closing.services import organization_closed
        from accounts.models import Organization
        from accounts.visible_sites import register_hosts_of_tags
        from reports.signals import mute_changed
        from scans import audit_sql
        from scans.signals import page_loaded, scan_ended, slot_freed
        from scans.visits import journeys
        from sites import closing, site_states
        from sites.audits import arrivals, dispatch, events, scan_sql, settling
        from sites.lists import collecting
        from sites.lists.tagged_hosts import hosts_of_tags
        from sites.monitors import outcome, services
        from sites.signals import audit_ended, journey_changed

        audit_sql.register(scan_sql.SCAN_SQL)
        register_hosts_of_tags(hosts_of_tags)
        journeys.register(execute_journey)
        scan_ended.connect(settling.settle_page, dispatch_uid="sites.audits.settling")
        # `collect_visit` must be connected after `settle_page`, because it completes the result of an ended audit.
        scan_ended.connect(collecting.collect_visit, dispatch_uid="sites.lists.collecting.visits")
        # `record_visit` must be connected last, because visits of the same site wait for each other at its row.
        scan_ended.connect(site_states.record_visit, dispatch_uid="sites.site_states")
        mute_changed.connect(site_states.receive_mute_change, dispatch_uid="sites.site_states")
        page_loaded.connect(arrivals.receive_page, dispatch_uid="sites.audits.arrivals")
        slot_freed.connect(dispatch.fill_free_slot, dispatch_uid="sites.audits.dispatch")
        audit_ended.connect(events.record_audit_end, dispatch_uid="sites.audits.events")
        journey_changed.connect(services.follow_journey, dispatch_uid="sites.monitors.services")
        audit_ended.connect(outcome.enqueue_finish_run, dispatch_uid="sites.monitors.outcome")
        audit_ended.connect(collecting.end_result, dispatch_uid="sites.lists.collecting.audits")
        organization_closed.connect(closing.stop_audits, sender=Organization, dispatch_uid="sites.closing")
