"""JSON and CSV, for programs. JSON is ASCII and CSV is escaped, so that a scanned site cannot control a terminal."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence

from website_scan.command.judged import Judged, Outcome
from website_scan.command.terminal import printable
from website_scan.report.exports import CSV_COLUMNS, csv_rows, exported
from website_scan.report.spreadsheets import cell

REPORT_KEYS = ("id", "type", "url", "score", "grade", "created_at", "completed_at", "categories", "summary")
CHECK_KEYS = ("name", "status", "severity", "message", "fix")
COLUMNS = ("url", "type", "score", "grade", *CSV_COLUMNS, "accepted")


def reports_as_json(outcome: Outcome) -> str:
    """Return the reports as in the API's response for a report, with the browser that judged them."""
    return _json([_report(report) for report in outcome.reports], outcome)


def exports_as_json(outcome: Outcome) -> str:
    """Return the reports as the API's JSON exports, with check IDs, evidence and skipped checks."""
    return _json([dict(exported(report.export)) | _accepted(report) for report in outcome.reports], outcome)


def csv_table(outcome: Outcome) -> str:
    """Return a CSV table with a header line and one line for each check and each failed scan."""
    output = io.StringIO()
    writer = csv.writer(output, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    for judged in outcome.reports:
        export = judged.export
        rows = list(csv_rows(export))
        if judged.error is not None:
            rows.append({"status": "scan failed", "id": judged.error["code"], "message": judged.error["message"]})
        for row in rows:
            report_columns = {name: export[name] for name in ("url", "type", "score", "grade")}
            full = {**row, **report_columns, "accepted": judged.accepted.get(str(row.get("id", "")), "")}
            writer.writerow([_cell(full.get(column)) for column in COLUMNS])
    return output.getvalue()


def _cell(value: object) -> object:
    return cell(printable(value) if isinstance(value, str) else value)


def _json(reports: Sequence[Mapping[str, object]], outcome: Outcome) -> str:
    """Return JSON with the gate's verdict: one requested report with the key `gate`, or several in `reports`."""
    gate = {
        "passed": outcome.is_good,
        "complaints": list(outcome.complaints),
        "interrupted": outcome.is_interrupted,
        "unfinished": list(outcome.unfinished),
    }
    whole = reports[0] if outcome.requested == 1 else {"reports": list(reports)}
    return json.dumps({**whole, "gate": gate}, indent=2) + "\n"


def _report(judged: Judged) -> dict[str, object]:
    export = judged.export
    report = _subset(export, REPORT_KEYS) | {
        "categories": [
            {**category, "checks": [_subset(check, CHECK_KEYS) for check in category["checks"]]}
            for category in export["categories"]
        ],
        "browser": export["browser"],
        "checks_left_out": len(export["omitted_checks"]),
    }
    return report | ({"status": "failed", "error": judged.error} if judged.error else {}) | _accepted(judged)


def _subset(whole: Mapping[str, object], names: Iterable[str]) -> dict[str, object]:
    return {name: whole[name] for name in names if name in whole}


def _accepted(judged: Judged) -> dict[str, object]:
    """Return the accepted checks with their reasons, and the score as if they had passed; empty without such checks."""
    return {"accepted": dict(judged.accepted), "accepted_score": judged.accepted_score} if judged.accepted else {}
