"""Access to an organization's stored reports."""

from __future__ import annotations

from typing import Literal

from django.utils import timezone

from accounts import access
from infrastructure.api.errors import NotFound
from reports.models import Report
from reports.page.history import previous_scan
from scans.models import Scan
from scans.services import SCAN
from website_scan.errors import Refusal
from website_scan.ids import is_id
from website_scan.messages import excerpt
from website_scan.report.storage import read_export
from website_scan.report_json import ExportJson
from website_scan.stored_data import StoredBasis


class ScanNotComplete(Refusal):
    code = "SCAN_NOT_COMPLETE"
    status = 409


class ReportsNotComparable(Refusal):
    code = "REPORTS_NOT_COMPARABLE"
    status = 400


class NoPreviousReport(Refusal):
    code = "NO_PREVIOUS_REPORT"
    status = 404


PREVIOUS = "previous"

# Both placeholders in braces are filled with column names from this module, never with user input.
REPORT_QUERY = """
    SELECT scan_id, {column} FROM reports_report
    WHERE {id_column} = %(id)s AND organization_id = %(organization)s AND expires_at > %(now)s
"""


def access_report(organization_id: int, public_id: str, column: Literal["body", "export"]) -> tuple[str, str]:
    """Return the scan's ID and one column of its report as JSON text.

    `public_id` is the ID of the scan or of the report. Raises NotFound (unknown, another organization's, or expired) or
    ScanNotComplete.
    """
    is_scan_id = is_id("scan", public_id)
    if not is_scan_id and not is_id("rpt", public_id):
        raise _not_found()
    query = REPORT_QUERY.format(column=column, id_column="scan_id" if is_scan_id else "id")
    rows = access.fetch_rows(query, organization_id, id=public_id, now=timezone.now())
    if rows:
        return rows[0][0], rows[0][1]
    if is_scan_id:
        _raise_reason(organization_id, public_id)
    raise _not_found()


def scoring_basis(organization_id: int, scan_id: str) -> StoredBasis | None:
    """Return the stored basis of a report's score, or None for old reports."""
    return access.rows(Report, organization_id).filter(scan_id=scan_id).values_list("scoring", flat=True).first()


def load_exports_to_compare(organization_id: int, public_id: str, other: str) -> tuple[ExportJson, ExportJson]:
    """Return the JSON exports of the report `other` and of the report `public_id`.

    `other` is an ID or PREVIOUS. Both reports must be of the same page and scan type. Raises NoPreviousReport,
    ReportsNotComparable, and the exceptions of `access_report`.
    """
    after_id, after = access_report(organization_id, public_id, "export")
    if other == PREVIOUS:
        before = _previous_export(access.rows(Scan, organization_id).get(id=after_id))
    else:
        _, before = access_report(organization_id, other, "export")
    exports = read_export(before), read_export(after)
    require_comparable(*exports)
    return exports


def _previous_export(scan: Scan) -> str:
    earlier = previous_scan(scan)
    try:
        if earlier is not None:
            return access_report(scan.organization_id, earlier.id, "export")[1]
    except NotFound:  # The previous report may have expired.
        pass
    raise NoPreviousReport("There is no earlier report of this page and type, or it is no longer available.")


def require_comparable(before: ExportJson, after: ExportJson) -> None:
    """Raise ReportsNotComparable unless both exports are of the same page and type."""
    types, pages = (before["type"], after["type"]), (before["url"], after["url"])
    for noun, (before_value, after_value) in (("type", types), ("page", pages)):
        if before_value != after_value:
            raise ReportsNotComparable(
                f"The reports are not of the same {noun}: {excerpt(before_value)} and {excerpt(after_value)}."
            )


def _raise_reason(organization_id: int, scan_id: str) -> None:
    scan = access.rows(Scan, organization_id).filter(id=scan_id).first()
    if scan is None or not scan.is_kept:
        return
    if scan.status == Scan.Status.FAILED:
        raise ScanNotComplete(f"The scan failed and has no report. {scan.error_message}")
    if not scan.is_final:
        raise ScanNotComplete("The scan is still running. Poll GET /v1/scan/:id until it has ended.")


def _not_found() -> NotFound:
    return SCAN.not_found("There is no scan with this ID, or its report has expired.")
