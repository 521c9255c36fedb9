"""Reports of scans that failed or were interrupted."""

from __future__ import annotations

from datetime import UTC, datetime

from msgspec.structs import replace

from website_scan.command.gate import CommandReport
from website_scan.findings import ScanType
from website_scan.report.serialization import export_json
from website_scan.report_json import ExportedError
from website_scan.result import ScanError, StateOfJourney
from website_scan.run import failed_result


def failed_report(
    url: str,
    scan_type: str,
    error: ExportedError,
    *,
    scan_id: str = "",
    started_at: datetime | None = None,
    state: StateOfJourney | None = None,
) -> CommandReport:
    """Return the report of a failed scan.

    It started at `started_at`, by default now. `state` names the state or the step of a journey that failed.
    """
    started_at = started_at or datetime.now(UTC)
    failure = ScanError(error["code"], error["message"])
    result = replace(failed_result(ScanType(scan_type), url, started_at, failure), state=state)
    export = export_json(result, scan_id=scan_id, report_id="", created_at=started_at, completed_at=result.completed_at)
    export["error"] = {"code": error["code"], "message": error["message"]}
    return CommandReport(export)
