"""Export the activity log as CSV or JSON, newest entries first."""

from __future__ import annotations

import json
from collections.abc import Iterator

from accounts.activity import EventFilter, document
from accounts.models import ActivityEvent, Organization
from accounts.pages.activity_sentences import log_line
from website_scan.report.spreadsheets import MEDIA_TYPE as CSV
from website_scan.report.spreadsheets import cell, lines

MEDIA_TYPES = {"csv": CSV, "json": "application/json"}
BATCH = 500
COLUMNS = ("at", "actor", "api_key", "event", "action", "target", "details")


def export(organization: Organization, event_filter: EventFilter, export_format: str) -> Iterator[bytes]:
    """Yield the exported file in pieces.

    `export_format` is a key in MEDIA_TYPES. No database cursor stays open.
    """
    batches = _batches(organization, event_filter)
    return map(str.encode, _csv_lines(batches) if export_format == "csv" else _json_pieces(batches))


def _csv_lines(batches: Iterator[list[ActivityEvent]]) -> Iterator[str]:
    yield lines([COLUMNS])
    for batch in batches:
        yield lines(map(_csv_row, batch))


def _csv_row(event: ActivityEvent) -> list[object]:
    columns = document(event)
    sentence = "".join(part.text for part in log_line(event).parts)
    details = json.dumps(columns["details"], ensure_ascii=False) if columns["details"] else ""
    values = [columns[name] for name in ("at", "actor", "api_key")]
    return [cell(value) for value in (*values, sentence, columns["action"], columns["target"], details)]


def _json_pieces(batches: Iterator[list[ActivityEvent]]) -> Iterator[str]:
    yield '{"events": ['
    separator = "\n"
    for batch in batches:
        for event in batch:
            yield f"{separator}{json.dumps(document(event), ensure_ascii=False)}"
            separator = ",\n"
    yield "\n]}\n"


def _batches(organization: Organization, event_filter: EventFilter) -> Iterator[list[ActivityEvent]]:
    rows = event_filter.events_of_organization(organization)
    last: int | None = None
    while batch := list((rows if last is None else rows.filter(id__lt=last))[:BATCH]):
        yield batch
        last = batch[-1].id
