"""Exports of a list's snapshot: CSV with a row for each site, JSON Lines with a line for each site and its findings.

They are streamed in batches of rows with no cursor open between them, so that a slow reader holds no transaction, and
10,000 sites take little more memory than a hundred.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from infrastructure.web.downloads import TIME_LIMIT_S, within_time_limit
from scans.models import Scan
from sites.models import ListResult, ListRun
from sites.models.site_list import Fact
from website_scan.findings import Severity
from website_scan.report.spreadsheets import MEDIA_TYPE, cell, lines

BATCH = 100
SEVERITIES = tuple(str(each) for each in Severity)
FACTS = tuple(Fact.__annotations__)
CSV_COLUMNS = (
    *("url", "tags", "status", "error", "moved_to", "pages"),
    *(f"{each}_{value}" for each in Scan.Type.values for value in ("score", "grade")),
    *(f"findings_{each}" for each in SEVERITIES),
    *("http_status" if each == "status" else each for each in FACTS),
)
JSON_LINES = "text/jsonl; charset=utf-8"  # not registered either; generators of clients read text/* only


@dataclass(frozen=True, slots=True)
class Writer:
    """Writer of snapshots in a format; `about` describes it for openapi.yaml, `purpose` is for menus."""

    write: Callable[[ListRun], Iterator[str]]
    media_type: str
    purpose: str
    about: str


def export(
    run: ListRun, export_format: str, clock: Callable[[], float] = time.monotonic, limit_s: float = TIME_LIMIT_S
) -> Iterator[bytes]:
    """Yield the chunks of a snapshot's export in one of WRITERS, in UTF-8.

    Raises ConnectionResetError between two chunks if the client has not read them in time.
    """
    return within_time_limit(map(str.encode, WRITERS[export_format].write(run)), clock, limit_s)


def csv_rows(run: ListRun) -> Iterator[str]:
    """Yield CSV (RFC 4180): a header line, then a line for each site in the order of the run.

    Yes and no stand for facts that are true or false, an empty cell for what no scan has told.
    """
    yield lines([CSV_COLUMNS])
    for batch in _batches(run, with_findings=False):
        yield lines([cell(each) for each in _row(result)] for result in batch)


def json_lines(run: ListRun) -> Iterator[str]:
    """Yield JSON Lines: an object for each site, with its scores, facts and findings.

    In ASCII, because some readers take other characters of a site's texts, such as U+2028, for line ends.
    """
    for batch in _batches(run, with_findings=True):
        yield "".join(f"{json.dumps(shown(result))}\n" for result in batch)


def shown(result: ListResult) -> dict[str, Any]:
    """Return a result as the JSON object of an export."""
    failed = {"code": result.error_code, "message": result.error_message} if result.error_code else None
    return {
        "url": result.url,
        "entry_id": result.entry_id,
        "tags": result.tags,
        "status": status_of(result),
        "error": failed,
        "moved_to": result.moved_to or None,
        "pages": result.pages,
        "results": {
            each: {"score": result.score_of(each), "grade": result.grade_of(each)}
            for each in Scan.Type.values
            if result.score_of(each) is not None
        },
        "severities": {each: result.severities.get(each, 0) for each in SEVERITIES},
        "facts": result.facts,
        "findings": result.findings,
    }


def status_of(result: ListResult) -> str:
    """Return how a site was judged: completed, partial, failed or left_out."""
    if result.status == ListResult.Status.DONE:
        return "partial" if result.is_partial else "completed"
    return "failed" if result.status == ListResult.Status.FAILED else "left_out"


def _row(result: ListResult) -> Iterator[object]:
    yield from (result.url, ";".join(result.tags), status_of(result), result.error_code, result.moved_to, result.pages)
    for each in Scan.Type.values:
        yield from (result.score_of(each), result.grade_of(each))
    is_judged = result.status == ListResult.Status.DONE
    yield from (result.severities.get(each, 0) if is_judged else None for each in SEVERITIES)
    facts: Mapping[str, object] = result.facts
    yield from (_told(facts.get(each)) for each in FACTS)


def _told(fact: object) -> object:
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


WRITERS: Mapping[str, Writer] = {
    "csv": Writer(csv_rows, MEDIA_TYPE, "a row for each site, for spreadsheets", "One line for each site."),
    "jsonl": Writer(
        json_lines, JSON_LINES, "a line for each site with its findings", "One JSON object for each site, on a line."
    ),
}
