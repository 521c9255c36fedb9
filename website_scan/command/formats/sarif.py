"""SARIF 2.1.0: one log, with a run for each scan type.

GitHub's code scanning accepts 20 runs in a file, refuses two runs of the same category, and closes alerts that a later
upload of the category lacks. So all pages share a run, whose category contains neither page nor host. The log is ASCII,
so that a scanned site cannot control a terminal.
"""

from __future__ import annotations

import json

from website_scan.command.judged import Judged, Outcome
from website_scan.report.places import places_of
from website_scan.report.sarif import Reasons, log, run


def sarif(outcome: Outcome) -> str:
    """Return the log, with accepted findings as suppressed results."""
    by_type: dict[str, list[Judged]] = {}
    for judged in outcome.reports:
        by_type.setdefault(judged.type, []).append(judged)
    runs = [
        run([(judged.export, _reasons(judged)) for judged in reports], scan_type, outcome.check_pages, len(by_type))
        for scan_type, reports in by_type.items()
    ]
    return json.dumps(log(runs), indent=2) + "\n"


def _reasons(judged: Judged) -> Reasons:
    return {
        check["id"]: {place: [judged.accepted[check["id"]]] for place in places_of(check)}
        for _, check in judged.findings(accepted=True)
    }
