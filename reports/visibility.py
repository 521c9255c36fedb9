"""Access control for reports.

Members of the organization, and visitors with the link of a shared report or audit, may view them.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone
from msgspec import Struct

from accounts import access, activity, roles
from accounts.identity import requirements
from accounts.models import Membership
from accounts.visible_sites import visible_sites_of
from reports.models import Report
from scans.models import Scan
from website_scan.ids import is_id

# Django's lookup path from a report to its audit.
AUDIT = "scan__audit_page__audit"


LARGE = (  # Large columns, which only the report page and the exports need.
    *("body", "export", "facts", "scoring", "exhibits", "waterfall"),
    *("screenshot", "page_picture", "film", "pictures"),
)


class VisibleScan(Struct, frozen=True):
    """Scan that the visitor may view.

    `membership` is None for visitors who only have the link of a shared report.
    """

    scan: Scan
    membership: Membership | None
    now: datetime

    @property
    def audit(self) -> Any:
        """Audit of the scan, or None.

        Visitors without membership get the audit only if it is shared.
        """
        audit = self.scan.audit_page.audit if self.scan.audit_page else None
        if audit is not None and audit.kind == "pages" and self.membership:
            scope = visible_sites_of(self.membership)
            if scope is not None and not scope.allows_urls(audit.pages.values_list("url", flat=True)):
                return None
        return audit if audit is not None and (self.membership or audit.shared_at) else None

    @property
    def is_expired(self) -> bool:
        """Return True if the scan's report has expired."""
        return self.scan.kept_until <= self.now

    def reports(self) -> QuerySet[Report]:
        """Return the scan's unexpired report as a queryset.

        Visitors without membership need a shared report.
        """
        return self._readable_reports().filter(scan_id=self.scan.id)

    def reports_of_other_types(self) -> QuerySet[Report]:
        """Return the visit's reports of other scan types.

        Only visits of audits have several types.
        """
        if self.scan.audit_page_id is None:
            return Report.objects.none()
        return self._readable_reports().filter(scan__audit_page=self.scan.audit_page_id).exclude(scan_id=self.scan.id)

    def _readable_reports(self) -> QuerySet[Report]:
        unexpired = access.rows(Report, self.scan.organization_id).filter(expires_at__gt=self.now)
        return unexpired if self.membership else unexpired.filter(access.is_shared(part_of=AUDIT))


def find_visible_scan(request: HttpRequest, scan_id: str) -> VisibleScan | None:
    """Return the scan if the visitor may view it, else None.

    Members may view all scans, or those of the sites that they are limited to; others only shared reports.

    Raises `UnmetLoginRequirement` for members who have not logged in the way the organization requires.
    """
    if not is_id("scan", scan_id):
        return None
    now = timezone.now()
    unmet = None
    scans = access.rows_of_any_member(Scan, request.user).select_related("audit_page__audit")
    scan = scans.filter(id=scan_id).first()
    if scan is not None:
        membership = roles.membership_in(request, scan.organization_id)
        scope = visible_sites_of(membership) if membership else None
        if scope is not None and not scope.allows(scan.host):
            membership = None
        # If the membership has ended since the last query, the user needs a shared report.
        unmet = requirements.missing(request.user, membership.organization) if membership else None
        if membership is not None and unmet is None:
            return VisibleScan(scan, membership, now)
    shared = access.shared_rows(Report, part_of=AUDIT)
    shared = shared.filter(scan_id=scan_id, expires_at__gt=now, scan__status__in=Scan.REPORTED)
    report = shared.select_related(AUDIT).defer(*LARGE).first()
    if report is None and unmet is not None:
        raise unmet
    return VisibleScan(report.scan, None, now) if report else None


def set_sharing(visible: VisibleScan, *, is_shared: bool) -> bool:
    """Share a report with anybody who has its link, or stop sharing it.

    Returns False if nothing changed or there is no report. Raises PermissionDenied for strangers and for viewers.
    """
    if visible.membership is None or not visible.membership.is_member:
        raise PermissionDenied
    scan = visible.scan
    with transaction.atomic():
        changing = visible.reports().filter(shared_at__isnull=is_shared)
        is_changed = bool(changing.update(shared_at=visible.now if is_shared else None))
        if is_changed:
            action = "report.shared" if is_shared else "report.unshared"
            activity.record_by_member(visible.membership, action, scan.url, scan=scan.id, type=str(scan.type))
    return is_changed
