"""Export formats of a report.

JSON, SARIF 2.1.0 for code scanning, and CSV for spreadsheets.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, cast

from msgspec import Struct

from website_scan.priority import by_priority
from website_scan.report.mute_matching import MutedPlaces
from website_scan.report.places import rows_of
from website_scan.report.sarif import log, run
from website_scan.report.spreadsheets import cell
from website_scan.report.storage import compact_json, read_export
from website_scan.report_json import ExportedCheck, ExportJson

CSV_COLUMNS = ("category", "id", "name", "status", "severity", "points", "message", "fix", "references")


# Function that returns the muted places of all findings of a JSON export, by check ID.
Muted = Callable[[ExportJson], Mapping[str, MutedPlaces]]


class ExportFormat(Struct, frozen=True):
    """Export format of a report.

    `render` gets the stored text of the JSON export, a function for its muted findings, and the base URL of the checks'
    pages. `purpose` is for menus; `name` and `about` describe the endpoint in openapi.yaml. `has_mutes` is True if the
    format contains mutes, which change although the report does not.
    """

    name: str
    media_type: str
    purpose: str
    about: str
    render: Callable[[str, Muted, str], str]
    has_mutes: bool = False


def sarif(export: ExportJson, muted: Mapping[str, MutedPlaces] | None = None, check_pages: str = "") -> dict[str, Any]:
    """Convert a JSON export to a SARIF 2.1.0 log.

    `muted` are its muted findings by check ID.
    """
    reasons = {
        id: {place: [rule.reason] for place, rule in covered.rules.items()} for id, covered in (muted or {}).items()
    }
    return log([run([(export, reasons)], f"{export['type']}/{export['url']}", check_pages)])


def csv_table(export: ExportJson) -> str:
    """Convert a JSON export to CSV, with a header line and one line per check.

    Cells are safe from formula injection.

    Checks are in order of priority. Checks that could not run, or that were left out without a browser, come last.
    """
    output = io.StringIO()
    writer = csv.writer(output, lineterminator="\r\n")
    writer.writerow(CSV_COLUMNS)
    writer.writerows([cell(row.get(column)) for column in CSV_COLUMNS] for row in csv_rows(export))
    return output.getvalue()


def csv_rows(export: ExportJson) -> Iterator[Mapping[str, object]]:
    """Yield the rows of the CSV table as mappings with the keys CSV_COLUMNS.

    The caller must pass values to `cell`.
    """
    for category, check in by_priority(export):
        yield {**check, "category": category, "references": "; ".join(check["references"])}
    for skipped in export["skipped_checks"]:
        yield {**skipped, "status": "could not run", "message": skipped["reason"]}
    for omitted in export.get("omitted_checks", ()):
        yield {**omitted, "status": "left out", "message": "This check needs a browser, and none was available."}


def export_for_users(text: str) -> str:
    """Convert the stored text of a report to the JSON export for users."""
    return compact_json(exported(read_export(text)))


def exported(export: ExportJson) -> ExportJson:
    """Return the JSON export for users.

    It has the deprecated key `evidence` in each check.
    """
    return {
        **export,
        "categories": [
            {**category, "checks": [_add_evidence(check) for check in category["checks"]]}
            for category in export["categories"]
        ],
    }


def _add_evidence(check: ExportedCheck) -> ExportedCheck:
    """Return the check with all its rows as objects.

    They are in the key `evidence`, after the key `details`.
    """
    whole: dict[str, Any] = {}
    for name, value in check.items():
        whole[name] = value
        if name == "details":
            whole["evidence"] = list(map(dict, rows_of(check)))
    return cast("ExportedCheck", whole)


FORMATS: Mapping[str, ExportFormat] = {
    "json": ExportFormat(
        "JSON",
        "application/json",
        "everything, for programs",
        "The stored export.",
        lambda text, _muted, _check_pages: export_for_users(text),
    ),
    "sarif": ExportFormat(
        "SARIF 2.1.0",
        "application/sarif+json",
        "for code scanning",
        "Muted results have `suppressions` with the reason as justification.",
        lambda text, muted, check_pages: json.dumps(sarif(export := read_export(text), muted(export), check_pages)),
        has_mutes=True,
    ),
    "csv": ExportFormat(
        "CSV",
        "text/csv; charset=utf-8",
        "for spreadsheets",
        "A line for each check that ran.",
        lambda text, _muted, _check_pages: csv_table(read_export(text)),
    ),
}
