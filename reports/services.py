"""Finding a report for who asks."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.conf import settings
from django.utils import timezone

from accounts import access
from config.errors import Refusal
from config.ids import is_id
from reports.models import Report
from scans.models import Scan
from scans.services import ScanNotFound


class ScanNotComplete(Refusal):
    code = "SCAN_NOT_COMPLETE"
    status = 409


def access_report(organization_id: int, public_id: str, column: str) -> tuple[str, Any]:
    """The scan's ID and one column of its retained report; `public_id` is a `scan_` or `rpt_` ID.

    Raises ScanNotFound (unknown, another organization's, expired) or ScanNotComplete.
    """
    lookup = {"scan_id": public_id} if is_id("scan", public_id) else {"id": public_id}
    if "scan_id" not in lookup and not is_id("rpt", public_id):
        raise _not_found()
    row = (
        access.rows(Report, organization_id)
        .filter(expires_at__gt=timezone.now(), **lookup)
        .values_list("scan_id", column)
        .first()
    )
    if row is not None:
        return row
    if "scan_id" in lookup:
        _explain(organization_id, public_id)
    raise _not_found()


def _explain(organization_id: int, scan_id: str) -> None:
    scan = access.rows(Scan, organization_id).filter(id=scan_id).first()
    retention = timedelta(days=settings.REPORT_RETENTION_DAYS)
    if scan is None or scan.created_at + retention <= timezone.now():
        return
    if scan.status == Scan.Status.FAILED:
        raise ScanNotComplete(f"The scan failed and has no report. {scan.error_message}")
    if not scan.is_final:
        raise ScanNotComplete("The scan is still running. Poll GET /v1/scan/:id until it has ended.")


def _not_found() -> ScanNotFound:
    return ScanNotFound("There is no scan with this ID, or its report has expired.")
