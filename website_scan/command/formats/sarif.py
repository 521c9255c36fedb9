"""SARIF 2.1.0: one log, with a run for each type of scan.

GitHub's code scanning accepts 20 runs in a file, refuses two of the same category, and closes alerts that a later
upload of the category lacks. So all pages share a run, whose category contains neither page nor host. The log is ASCII,
so that a site cannot control a terminal.
"""

from __future__ import annotations

import json

from website_scan.command.judged import Judged, Outcome
from website_scan.report.places import places_of
from website_scan.report.sarif import Reasons, log, run


def sarif(outcome: Outcome) -> str:
    """Return the log, with accepted findings as suppressed results."""
    by_type: dict[str, list[Judged]] = {}
    for each in outcome.reports:
        by_type.setdefault(each.type, []).append(each)
    runs = [
        run([(each.document, _reasons(each)) for each in reports], scan_type, outcome.check_pages, len(by_type))
        for scan_type, reports in by_type.items()
    ]
    return json.dumps(log(runs), indent=2) + "\n"


def _reasons(judged: Judged) -> Reasons:
    return {
        check["id"]: {place: [judged.accepted[check["id"]]] for place in places_of(check)}
        for _, check in judged.findings(accepted=True)
    }
