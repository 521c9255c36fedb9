"""SARIF 2.1.0: one log, with a run for each type of scan.

GitHub's code scanning accepts 20 runs in a file, and closes alerts that a later upload of the same category lacks. So
all pages share a run, whose category contains neither page nor host. The log is ASCII, so that a site cannot control a
terminal.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from scanner.command.judged import Judged, Outcome
from scanner.report.exports import sarif_log, sarif_run


def sarif(outcome: Outcome) -> str:
    """Return the log, with accepted findings as suppressed results."""
    by_type: dict[str, list[Judged]] = {}
    for each in outcome.reports:
        by_type.setdefault(each.type, []).append(each)
    return (
        json.dumps(sarif_log([_run(name, reports, outcome.check_pages) for name, reports in by_type.items()]), indent=2)
        + "\n"
    )


def _run(scan_type: str, reports: Sequence[Judged], check_pages: str) -> Mapping[str, Any]:
    runs = [sarif_run(each.document, {id: [why] for id, why in each.accepted.items()}, check_pages) for each in reports]
    rules: dict[str, Mapping[str, Any]] = {}
    for run in runs:
        found = {each["ruleId"] for each in run["results"]}
        # The rule of a failed check contains its fix, so it replaces the rule of the same check where it passed.
        rules |= {
            each["id"]: each
            for each in run["tool"]["driver"]["rules"]
            if each["id"] in found or each["id"] not in rules
        }
    indexes = {id: index for index, id in enumerate(rules)}
    results = [each | {"ruleIndex": indexes[each["ruleId"]]} for run in runs for each in run["results"]]
    if any(each.accepted for each in reports):
        results = [{"suppressions": []} | each for each in results]  # all results of a run have it, or none
    first = runs[0]
    return first | {
        "tool": {"driver": first["tool"]["driver"] | {"rules": list(rules.values())}},
        "automationDetails": {"id": f"website-scan/{scan_type}/"},
        "invocations": [
            invocation | {"properties": run["properties"]} for run in runs for invocation in run["invocations"]
        ],
        "results": results,
        "properties": first["properties"] if len(runs) == 1 else {"pages": len(runs)},
    }
