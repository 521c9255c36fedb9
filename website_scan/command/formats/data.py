"""Output formats JSON and CSV.

JSON is ASCII and CSV is escaped, so that a scanned site cannot control a terminal.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence

from website_scan.command.executed_journeys import ExecutedJourney, ExecutedJourneys
from website_scan.command.gate import CommandReport, CommandResult
from website_scan.command.site_findings import findings_json, group_findings
from website_scan.command.site_options import SitePages
from website_scan.command.terminal import printable
from website_scan.report.exports import CSV_COLUMNS, csv_rows, exported
from website_scan.report.serialization import report_json
from website_scan.report.spreadsheets import cell

REPORT_COLUMNS = ("url", "type", "score", "grade", "final_url", "needs_log_in")
COLUMNS = ("url", "type", "score", "grade", *CSV_COLUMNS, "accepted", "final_url", "needs_log_in", "journey", "state")


def reports_as_json(result: CommandResult) -> str:
    """Return the reports as JSON in the format of the API.

    The JSON includes the browser's version.
    """
    return _json([_report(report) for report in result.reports], result)


def exports_as_json(result: CommandResult) -> str:
    """Return the JSON exports of the reports.

    They have check IDs, evidence and skipped checks.
    """
    return _json([full_report(report) for report in result.reports], result)


def full_report(report: CommandReport) -> dict[str, object]:
    """Return a report as JSON with check IDs, evidence and skipped checks."""
    return dict(exported(report.export)) | _accepted_fields(report)


def csv_table(result: CommandResult) -> str:
    """Return a CSV table of the checks and failed scans.

    It begins with a header line.
    """
    output = io.StringIO()
    writer = csv.writer(output, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    for report in result.reports:
        export = report.export
        rows = list(csv_rows(export))
        if report.error is not None:
            rows.append({"status": "scan failed", "id": report.error["code"], "message": report.error["message"]})
        for row in rows:
            report_columns = {name: export.get(name) for name in REPORT_COLUMNS}
            report_columns |= {"journey": report.page.journey, "state": report.page.state}
            full = {**row, **report_columns, "accepted": report.accepted.get(str(row.get("id", "")), "")}
            writer.writerow([_cell(full.get(column)) for column in COLUMNS])
    return output.getvalue()


def _cell(value: object) -> object:
    return cell(printable(value) if isinstance(value, str) else value)


def _json(reports: Sequence[Mapping[str, object]], result: CommandResult) -> str:
    """Return JSON with the gate's result.

    It is in the key `gate`, and several reports are in the key `reports`. With a site, its pages and grouped findings
    come first.
    """
    gate = {
        "passed": result.is_good,
        "complaints": list(result.complaints),
        "interrupted": result.is_interrupted,
        "unfinished": list(result.unfinished),
    }
    whole: Mapping[str, object] = {"reports": list(reports)}
    if result.site is not None:
        whole = {**_site(result.site, result.reports), **whole}
    elif result.requested == 1:
        whole = reports[0]
    return json.dumps({**whole, "gate": gate}, indent=2) + "\n"


def _site(site: SitePages | ExecutedJourneys, reports: Sequence[CommandReport]) -> dict[str, object]:
    """Return the JSON fields of a site or of journeys: the pages or the steps, and each finding once."""
    findings = findings_json(group_findings([report for report in reports if report.error is None]))
    if isinstance(site, ExecutedJourneys):
        return {"journeys": [_journey(journey) for journey in site.journeys], "findings": findings}
    return {
        "site": {
            "url": site.start,
            "pages": {"found": site.found, "scanned": len(site.pages), "is_complete": site.is_complete},
            "notes": list(site.notes),
        },
        "findings": findings,
    }


def _journey(journey: ExecutedJourney) -> dict[str, object]:
    return {
        "name": journey.title,
        "states": journey.states,
        "steps": list(journey.steps),
        "notes": list(journey.notes),
    }


def _report(report: CommandReport) -> dict[str, object]:
    export = report.export
    content: dict[str, object] = {
        **report_json(export),
        "browser": export["browser"],
        "checks_left_out": len(export["omitted_checks"]),
    }
    if "state" in export:
        content["state"] = export["state"]
    return content | ({"status": "failed", "error": report.error} if report.error else {}) | _accepted_fields(report)


def _accepted_fields(report: CommandReport) -> dict[str, object]:
    """Return JSON fields about accepted checks.

    The accepted checks, and the score without them. Empty if no check is accepted.
    """
    return {"accepted": dict(report.accepted), "accepted_score": report.accepted_score} if report.accepted else {}
