"""Tabs of a report page.

They link to the visit's reports by type, and to types that can still be scanned.
"""

from __future__ import annotations

from urllib.parse import urlencode

from django.db.models import F
from msgspec import Struct

from accounts import access
from accounts.roles import page_of
from reports.visibility import VisibleScan
from scans.models import Scan, report_path


class Tab(Struct, frozen=True):
    """Tab of a report page for one scan type.

    It links to the type's report, or to the form that starts a scan. `note` replaces a missing grade.
    """

    type: str
    url: str
    grade: str | None = None
    note: str = ""
    is_current: bool = False
    # The ID is empty unless the reader may view that scan's report.
    scan_id: str = ""

    @property
    def label(self) -> str:
        return str(Scan.Type(self.type).label)


def report_tabs(visible: VisibleScan) -> list[Tab]:
    """Return the tabs of a report page in the order of the scan types, with one query.

    Strangers get the types whose reports they may see. Members also get scans of the visit without a report, and
    members who may start scans get the other types.
    """
    scan, membership = visible.scan, visible.membership
    tabs = {scan.type: Tab(scan.type, report_path(scan.id), scan.grade, is_current=True, scan_id=scan.id)}
    if membership is None:
        shared = visible.reports_of_other_types().values_list("scan_id", "scan__type", "scan__grade")
        tabs |= {type: Tab(type, report_path(id), grade, scan_id=id) for id, type, grade in shared}
    elif scan.audit_page_id is not None:
        others = access.rows(Scan, scan.organization_id).filter(audit_page=scan.audit_page_id).exclude(id=scan.id)
        for other in others.annotate(report_until=F("report__expires_at")).only("id", "type", "grade", "status"):
            has_report = other.report_until is not None and other.report_until > visible.now
            note = "" if has_report else "expired" if other.grade else "failed" if other.is_final else "in progress"
            grade = other.grade if has_report else None
            tabs[other.type] = Tab(
                other.type, report_path(other.id), grade, note, scan_id=other.id if has_report else ""
            )
    if membership is not None and membership.is_member:
        for type in Scan.Type.values:
            form = f"{page_of(membership, 'scan-new')}?{urlencode({'url': scan.url, 'type': type})}"
            tabs.setdefault(type, Tab(type, form, note="scan"))
    return [tabs[type] for type in Scan.Type.values if type in tabs]
