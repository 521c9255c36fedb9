"""Exports of a report: SARIF 2.1.0 for code scanning, CSV for spreadsheets."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

from website_scan.priority import by_priority
from website_scan.report.mute_matching import Covered
from website_scan.report.places import rows_of
from website_scan.report.sarif import log, run
from website_scan.report.spreadsheets import cell
from website_scan.report.storage import read_export, written
from website_scan.report_json import ExportedCheck, ExportJson

CSV_COLUMNS = ("category", "id", "name", "status", "severity", "points", "message", "fix", "references")


# Returns the muted findings of a JSON export, by check ID.
Muted = Callable[[ExportJson], Mapping[str, Covered]]


@dataclass(frozen=True, slots=True)
class ExportFormat:
    """Format of an export, named by the ending of its files.

    `render` gets the stored JSON export, its muted findings, and the base URL of the checks' pages. `purpose` is for
    menus; `name` and `about` describe the endpoint in openapi.yaml. `has_mutes` is True if muted findings are in it,
    so that it changes although the report does not.
    """

    name: str
    media_type: str
    purpose: str
    about: str
    render: Callable[[str, Muted, str], str]
    has_mutes: bool = False


def sarif(document: ExportJson, muted: Mapping[str, Covered] | None = None, check_pages: str = "") -> dict[str, Any]:
    """Return the SARIF 2.1.0 log of one report. `document` is the JSON export, `muted` its muted findings."""
    reasons = {
        id: {place: [rule.reason] for place, rule in covered.rules.items()} for id, covered in (muted or {}).items()
    }
    return log([run([(document, reasons)], f"{document['type']}/{document['url']}", check_pages)])


def csv_table(document: ExportJson) -> str:
    """Return a CSV table with a header line and one line per check. Cells are safe from formula injection.

    The top-priority check comes first. Checks that could not run, and those left out without a browser, come last.
    """
    output = io.StringIO()
    writer = csv.writer(output, lineterminator="\r\n")
    writer.writerow(CSV_COLUMNS)
    writer.writerows([cell(row.get(column)) for column in CSV_COLUMNS] for row in csv_rows(document))
    return output.getvalue()


def csv_rows(document: ExportJson) -> Iterator[Mapping[str, object]]:
    """Yield the rows of a report by the names of CSV_COLUMNS, not yet safe for spreadsheets (`cell`)."""
    for category, check in by_priority(document):
        yield {**check, "category": category, "references": "; ".join(check["references"])}
    for skipped in document["skipped_checks"]:
        yield {**skipped, "status": "could not run", "message": skipped["reason"]}
    for omitted in document.get("omitted_checks", ()):
        yield {**omitted, "status": "left out", "message": "This check needs a browser, and none was available."}


def json_of(text: str) -> str:
    """Return the JSON export of a stored text."""
    return written(exported(read_export(text)))


def exported(document: ExportJson) -> ExportJson:
    """Return a stored document as it leaves the service: each check with its rows as objects, too, as `evidence`."""
    return {
        **document,
        "categories": [
            {**category, "checks": [_with_evidence(check) for check in category["checks"]]}
            for category in document["categories"]
        ],
    }


def _with_evidence(check: ExportedCheck) -> ExportedCheck:
    """Return the check with `evidence` behind its details, as openapi.yaml describes it."""
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
        lambda export, _muted, _check_pages: json_of(export),
    ),
    "sarif": ExportFormat(
        "SARIF 2.1.0",
        "application/sarif+json",
        "for code scanning",
        "Muted results have `suppressions` with the reason as justification.",
        lambda export, muted, check_pages: json.dumps(
            sarif(document := read_export(export), muted(document), check_pages)
        ),
        has_mutes=True,
    ),
    "csv": ExportFormat(
        "CSV",
        "text/csv; charset=utf-8",
        "for spreadsheets",
        "A line for each check that ran.",
        lambda export, _muted, _check_pages: csv_table(read_export(export)),
    ),
}
