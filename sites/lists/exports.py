"""Exports of a list's snapshot as CSV, XLSX and JSON Lines.

CSV and XLSX have one row per site. JSON Lines has one line per site, with findings. Exports are streamed in batches of
rows, so that 10,000 sites need little more memory than a hundred. No database cursor stays open between two batches,
because a slow client would keep the transaction open.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from msgspec import Struct

from infrastructure.api.errors import InvalidParams
from scans.models import Scan
from sites.lists import workbooks
from sites.lists.workbooks import workbook
from sites.models import ListResult, ListRun
from sites.models.site_list import Fact
from website_scan.findings import Severity
from website_scan.report.spreadsheets import MEDIA_TYPE, cell, lines

BATCH = 100
# A sheet has at most 1,048,576 rows, of which one is the header (ECMA-376, part 1, 18.3.1.73).
MAX_WORKBOOK_SITES = 1_048_575
SEVERITIES = tuple(str(severity) for severity in Severity)
FACTS = tuple(Fact.__annotations__)
CSV_COLUMNS = (
    *("url", "tags", "status", "error", "moved_to", "pages"),
    *(f"{type}_{value}" for type in Scan.Type.values for value in ("score", "grade")),
    *(f"findings_{severity}" for severity in SEVERITIES),
    *("http_status" if fact == "status" else fact for fact in FACTS),
)
# IANA has registered no media type for JSON Lines. Generators of API clients treat only text/* as text.
JSON_LINES = "text/jsonl; charset=utf-8"


class ExportWriter(Struct, frozen=True):
    """Export format of a snapshot.

    `about` is its description in openapi.yaml, `purpose` its label in menus.
    """

    write: Callable[[ListRun], Iterator[bytes]]
    media_type: str
    purpose: str
    about: str


def export(run: ListRun, export_format: str) -> Iterator[bytes]:
    """Yield a snapshot's export in UTF-8 chunks.

    `export_format` is a key of WRITERS. Raises ConnectionResetError between two chunks if the client reads too slowly.
    """
    return WRITERS[export_format].write(run)


def csv_rows(run: ListRun) -> Iterator[str]:
    """Yield the CSV export (RFC 4180).

    A header line is followed by one line for each site in the order of the run. Boolean facts are written as yes or no.
    The cells of unknown facts are empty.
    """
    yield lines([CSV_COLUMNS])
    for batch in _batches(run, with_findings=False):
        yield lines([cell(value) for value in _row(result)] for result in batch)


def json_lines(run: ListRun) -> Iterator[str]:
    """Yield the JSON Lines export, with one object for each site.

    The JSON is ASCII, because some parsers treat Unicode characters such as U+2028 as line ends.
    """
    for batch in _batches(run, with_findings=True):
        yield "".join(f"{json.dumps(result_json(result))}\n" for result in batch)


def workbook_rows(run: ListRun) -> Iterator[bytes]:
    """Yield the XLSX export, which has the rows of the CSV export.

    Its texts are never formulas. Raises InvalidParams before the first chunk if a sheet cannot have so many rows.
    """
    if not has_workbook(run):
        raise InvalidParams(
            f"A sheet can have {MAX_WORKBOOK_SITES:,} sites, and this snapshot has {run.entries:,}. "
            "Download it as CSV or JSON Lines."
        )
    sites = ([_row(result) for result in batch] for batch in _batches(run, with_findings=False))
    return workbook(itertools.chain([[CSV_COLUMNS]], sites))


def has_workbook(run: ListRun) -> bool:
    """Return False if a snapshot has more sites than a sheet can have."""
    return run.entries <= MAX_WORKBOOK_SITES


def result_json(result: ListResult) -> dict[str, Any]:
    """Return a site's result as the JSON object of an export."""
    error = {"code": result.error_code, "message": result.error_message} if result.error_code else None
    return {
        "url": result.url,
        "entry_id": result.permanent_entry_id,
        "tags": result.tags,
        "status": status_of(result),
        "error": error,
        "moved_to": result.moved_to or None,
        "pages": result.pages,
        "results": {
            type: {"score": result.score_of(type), "grade": result.grade_of(type)}
            for type in Scan.Type.values
            if result.score_of(type) is not None
        },
        "severities": {severity: result.severities.get(severity, 0) for severity in SEVERITIES},
        "facts": result.facts,
        "findings": result.findings,
    }


def status_of(result: ListResult) -> str:
    """Return the status of a site for exports.

    It is completed, partial, failed or left_out.
    """
    if result.status == ListResult.Status.DONE:
        return "partial" if result.is_partial else "completed"
    return "failed" if result.status == ListResult.Status.FAILED else "left_out"


def _row(result: ListResult) -> Iterator[object]:
    yield from (result.url, ";".join(result.tags), status_of(result), result.error_code, result.moved_to, result.pages)
    for type in Scan.Type.values:
        yield from (result.score_of(type), result.grade_of(type))
    is_judged = result.status == ListResult.Status.DONE
    yield from (result.severities.get(severity, 0) if is_judged else None for severity in SEVERITIES)
    facts: Mapping[str, object] = result.facts
    yield from (_cell_value(facts.get(fact)) for fact in FACTS)


def _cell_value(fact: object) -> object:
    if isinstance(fact, bool):
        return "yes" if fact else "no"
    return ", ".join(map(str, fact)) if isinstance(fact, list) else fact


def _batches(run: ListRun, *, with_findings: bool) -> Iterator[list[ListResult]]:
    rows = ListResult.objects.filter(run=run).defer("seen", "statuses").order_by("position")
    if not with_findings:
        rows = rows.defer("findings")
    last = -1
    while batch := list(rows.filter(position__gt=last)[:BATCH]):
        yield batch
        last = batch[-1].position


WRITERS: Mapping[str, ExportWriter] = {
    "csv": ExportWriter(
        lambda run: map(str.encode, csv_rows(run)),
        MEDIA_TYPE,
        "a row for each site, for spreadsheets",
        "One line for each site.",
    ),
    "xlsx": ExportWriter(
        workbook_rows, workbooks.MEDIA_TYPE, "a row for each site, as a workbook", "One row for each site."
    ),
    "jsonl": ExportWriter(
        lambda run: map(str.encode, json_lines(run)),
        JSON_LINES,
        "a line for each site with its findings",
        "One JSON object for each site, on a line.",
    ),
}
