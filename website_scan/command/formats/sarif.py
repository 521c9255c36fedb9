"""Write reports as a SARIF 2.1.0 log with one run for each scan type.

GitHub's code scanning accepts 20 runs in a file, refuses two runs of the same category, and closes alerts that a later
upload of the category lacks. So all pages share a run, whose category contains neither page nor host. The log is ASCII,
so that a scanned site cannot control a terminal.
"""

from __future__ import annotations

import json

from website_scan.command.gate import CommandReport, CommandResult
from website_scan.report.places import describe_places
from website_scan.report.sarif import Reasons, log, run


def sarif(result: CommandResult) -> str:
    """Return a SARIF log of all reports.

    Accepted findings are suppressed results.
    """
    reports_by_type: dict[str, list[CommandReport]] = {}
    for report in result.reports:
        reports_by_type.setdefault(report.type, []).append(report)
    runs = [
        run(
            [(report.export, _reasons(report)) for report in reports],
            scan_type,
            result.check_pages,
            len(reports_by_type),
        )
        for scan_type, reports in reports_by_type.items()
    ]
    return json.dumps(log(runs), indent=2) + "\n"


def _reasons(report: CommandReport) -> Reasons:
    return {
        check["id"]: {place: [report.accepted[check["id"]]] for place in describe_places(check)}
        for _, check in report.findings(accepted=True)
    }
