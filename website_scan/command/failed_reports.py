"""Reports of scans that failed or did not end."""

from __future__ import annotations

from datetime import UTC, datetime

from website_scan.command.judged import Judged
from website_scan.findings import ScanType
from website_scan.report.serialization import export_json
from website_scan.report_json import ExportedError
from website_scan.result import ScanError
from website_scan.run import failed_result


def failed_report(
    url: str, scan_type: str, error: ExportedError, *, scan_id: str = "", begun: datetime | None = None
) -> Judged:
    """Return the report of a failed scan. `begun` is the beginning of the scan, by default now."""
    begun = begun or datetime.now(UTC)
    result = failed_result(ScanType(scan_type), url, begun, ScanError(error["code"], error["message"]))
    export = export_json(result, scan_id=scan_id, report_id="", created_at=begun, completed_at=result.completed_at)
    export["error"] = {"code": error["code"], "message": error["message"]}
    return Judged(export)
