"""Signal receiver that ends an organization's audits, monitors and lists when the organization is closed."""

from __future__ import annotations

from accounts import access
from accounts.models import Organization
from sites.audits.services import cancel
from sites.lists import runs
from sites.models import Audit, Monitor, SiteList
from website_scan.result import ScanError


def stop_audits(*, organization: Organization, **_: object) -> None:
    """Cancel runs of lists and unfinished audits, and unschedule lists and monitors.

    Receivers for scans run before this one, because the end of a visit locks scans first.
    """
    runs.stop_lists(organization.id, ScanError("SCAN_CANCELLED", "The organization was deleted."))
    audits = access.rows(Audit, organization.id)
    for audit in audits.unfinished().select_for_update(no_key=True).order_by("id"):  # type: ignore[attr-defined]  # AuditQuerySet
        cancel(audit)
    monitors = access.rows(Monitor, organization.id)
    monitors.update(next_run_at=None)
    for rows in (audits, monitors, access.rows(SiteList, organization.id)):
        rows.filter(encrypted_credentials__isnull=False).update(encrypted_credentials=None)
