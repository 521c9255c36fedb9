"""Export of the activity log as CSV or JSON, newest first."""

from __future__ import annotations

import json
from collections.abc import Iterator

from accounts.activity import Wanted, document
from accounts.models import ActivityEvent, Organization
from accounts.pages.activity_sentences import line
from infrastructure.web.downloads import in_time
from website_scan.report.spreadsheets import MEDIA_TYPE as CSV
from website_scan.report.spreadsheets import cell, lines

MEDIA_TYPES = {"csv": CSV, "json": "application/json"}
BATCH = 500
COLUMNS = ("at", "actor", "api_key", "event", "action", "target", "details")


def export(organization: Organization, wanted: Wanted, export_format: str) -> Iterator[bytes]:
    """Return the pieces of a file in a format of MEDIA_TYPES. No database cursor is open while the client reads."""
    batches = _batches(organization, wanted)
    return in_time(map(str.encode, _csv(batches) if export_format == "csv" else _json(batches)))


def _csv(batches: Iterator[list[ActivityEvent]]) -> Iterator[str]:
    yield lines([COLUMNS])
    for batch in batches:
        yield lines(map(_row, batch))


def _row(event: ActivityEvent) -> list[object]:
    shown = document(event)
    said = "".join(part.text for part in line(event).parts)
    details = json.dumps(shown["details"], ensure_ascii=False) if shown["details"] else ""
    row = [shown["at"], shown["actor"], shown["api_key"], said, shown["action"], shown["target"], details]
    return [cell(each) for each in row]


def _json(batches: Iterator[list[ActivityEvent]]) -> Iterator[str]:
    yield '{"events": ['
    separator = "\n"
    for batch in batches:
        for event in batch:
            yield f"{separator}{json.dumps(document(event), ensure_ascii=False)}"
            separator = ",\n"
    yield "\n]}\n"


def _batches(organization: Organization, wanted: Wanted) -> Iterator[list[ActivityEvent]]:
    rows = wanted.of(organization)
    last: int | None = None
    while batch := list((rows if last is None else rows.filter(id__lt=last))[:BATCH]):
        yield batch
        last = batch[-1].id
