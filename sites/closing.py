"""Signal receiver that stops audits, monitors and lists of a closed organization."""

from __future__ import annotations

from accounts import access
from accounts.models import Organization
from sites.audits.services import cancel
from sites.lists import runs
from sites.models import Audit, Monitor, SiteList
from website_scan.result import ScanError


def stop_audits(*, organization: Organization, **_: object) -> None:
    """Cancel an organization's list runs and unfinished audits, and unschedule its lists and monitors.

    The receivers of the app `scans` run before this one, because scans must be locked before audits.
    """
    runs.stop_lists(organization.id, ScanError("SCAN_CANCELLED", "The organization was deleted."))
    audits = access.rows(Audit, organization.id)
    for audit in audits.unfinished().select_for_update(no_key=True).order_by("id"):  # type: ignore[attr-defined]  # AuditQuerySet
        cancel(audit)
    monitors = access.rows(Monitor, organization.id)
    monitors.update(next_run_at=None)
    for rows in (audits, monitors, access.rows(SiteList, organization.id)):
        rows.filter(encrypted_credentials__isnull=False).update(encrypted_credentials=None)
