"""Reports of scans in this process."""

from __future__ import annotations

from website_scan.command.gate import CommandReport
from website_scan.command.preview_findings import accept_preview_findings
from website_scan.local_scans import export_of
from website_scan.report.serialization import stored_waterfall
from website_scan.result import ScanResult


def scanned_report(result: ScanResult, preview_origin: str = "") -> CommandReport:
    """Return the report of a result, with the findings about the server of a preview accepted.

    `preview_origin` is the origin of the server of `--serve`, or empty.
    """
    report = CommandReport(
        export_of(result),
        facts=result.facts,
        scoring=result.scoring,
        waterfall=stored_waterfall(result.waterfall) if result.waterfall else None,
        exhibits=result.exhibits,
        screenshot=result.screenshot,
        pictures=result.pictures,
    )
    is_served = bool(preview_origin) and result.url.startswith(f"{preview_origin}/")
    return accept_preview_findings(report, is_served=is_served)
