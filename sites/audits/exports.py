"""Exports of an audit as JSON, CSV and SARIF.

JSON has all pages and findings, CSV is for spreadsheets and SARIF for code scanning. They are streamed in batches of
rows, so that an audit of 10,000 pages takes little more memory than one of ten.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from typing import Any

from django.db.models import QuerySet
from msgspec import Struct

from scans.check_catalogue import check_pages
from sites.audits.findings import in_order, list_findings_in_batches
from sites.audits.muting import ALL, AuditMutes, MutedOn
from sites.audits.schemas import AuditFindingJson, audit_finding_of, audit_json_of, audit_page_of
from sites.models import Audit, AuditFinding, AuditPage, AuditPlace
from sites.models.audit import name_of_page
from website_scan.report import sarif, sarif_messages
from website_scan.report.levels import LEVELS
from website_scan.report.spreadsheets import cell, lines
from website_scan.timestamps import timestamp

BATCH = 100

CSV_COLUMNS = (
    *("type", "check", "status", "severity", "title", "pages_affected", "critical_pages", "holds", "points", "later"),
    *("message", "fix", "places_total", "places", "sample_pages", "fingerprints", "outcome"),
)


class ExportWriter(Struct, frozen=True):
    """Export format of an audit.

    `write` yields the text, and `about` describes the endpoint in openapi.yaml.
    """

    write: Callable[[Audit, AuditMutes], Iterator[str]]
    about: str


def export(audit: Audit, export_format: str, mutes: AuditMutes) -> Iterator[bytes]:
    """Yield a finished audit's export in UTF-8 chunks.

    `export_format` is a key of WRITERS.
    """
    return map(str.encode, WRITERS[export_format].write(audit, mutes))


def _json_chunks(audit: Audit, mutes: AuditMutes) -> Iterator[str]:
    """Yield the JSON export.

    It is the object of GET /v1/audits/:id with all findings and pages.
    """
    yield f'{{"audit": {json_text(audit_json_of(audit))}, "findings": ['
    yield from json_items(_findings(audit, mutes))
    yield '], "pages": ['
    yield from json_items([audit_page_of(page) for page in batch] for batch in _pages(audit))
    yield "]}"


def _csv_chunks(audit: Audit, mutes: AuditMutes) -> Iterator[str]:
    """Yield the CSV export.

    A header line is followed by one line for each finding, whose places share one cell.
    """
    yield lines([CSV_COLUMNS])
    # Names of states contain spaces.
    separator = "\n" if audit.kind == Audit.Kind.JOURNEY else " "
    for batch in _findings(audit, mutes):
        rows = []
        for finding in batch:
            row: Mapping[str, object] = {
                **finding,
                "holds": "yes" if finding["holds"] else "no",
                "places": "\n".join(filter(None, (place["place"] for place in finding["places"]))),
                "sample_pages": separator.join(map(name_of_page, finding["sample_pages"])),
                "fingerprints": " ".join(place["fingerprint"] for place in finding["places"]),
            }
            rows.append([cell(row[column]) for column in CSV_COLUMNS])
        yield lines(rows)


def _sarif_chunks(audit: Audit, mutes: AuditMutes) -> Iterator[str]:
    """Yield the SARIF 2.1.0 (OASIS) export.

    It has one run for each scan type and one result for each place of a finding.
    """
    yield f'{{"$schema": {json_text(sarif.SCHEMA)}, "version": "2.1.0", "runs": ['
    for number, scan_type in enumerate(audit.types):
        yield ", " * (number > 0)
        yield from _sarif_run(audit, scan_type, mutes)
    yield "]}"


def _sarif_run(audit: Audit, scan_type: str, mutes: AuditMutes) -> Iterator[str]:
    findings = [finding for finding in in_order(audit, scan_type) if not finding.told_by]
    rules = sorted(map(_sarif_rule, findings), key=lambda rule: rule.id)
    indexes = {rule.id: index for index, rule in enumerate(rules)}
    room = sarif.ResultLimit(len(audit.types))
    results = ([_sarif_result(indexes, finding, place, mutes) for place in _places(finding)] for finding in findings)
    properties = {"audit_id": audit.id, "url": audit.url, "pages": audit.pages_done, **audit.scores[scan_type]}
    yield f'{{"tool": {json_text(sarif.tool(rules, check_pages()))}, '
    yield f'"automationDetails": {json_text(sarif.automation(f"{scan_type}/{audit.url}"))}, '
    yield f'"properties": {json_text(properties)}, "results": ['
    yield from json_items(room.batches(results))
    place_count = AuditPlace.objects.filter(finding__in=[finding.id for finding in findings]).count()
    yield f'], "invocations": [{json_text(_sarif_invocation(audit, scan_type, room.notifications(place_count)))}]}}'


def _places(finding: AuditFinding) -> QuerySet[AuditPlace]:
    """Return the places of a finding, the most frequent first."""
    return finding.places.order_by("-pages_affected", "id")


def _sarif_rule(finding: AuditFinding) -> sarif.Rule:
    return sarif.Rule(
        id=finding.check_id,
        scan_type=finding.type,
        name=finding.title,
        title=finding.title,
        fix=finding.fix,
        references=(),
        level=LEVELS[finding.status, finding.severity],
    )


def _sarif_invocation(audit: Audit, scan_type: str, left_out: list[dict[str, Any]]) -> dict[str, Any]:
    invocation: dict[str, Any] = {
        "executionSuccessful": audit.scores[scan_type]["score"] is not None,
        "startTimeUtc": timestamp(audit.created_at),
    }
    if audit.completed_at:
        invocation["endTimeUtc"] = timestamp(audit.completed_at)
    notes = left_out + [sarif_messages.notification("note", note) for note in audit.notes]
    if audit.error_code:
        level = "error" if audit.status == Audit.Status.FAILED else "warning"
        notes.append(sarif_messages.notification(level, f"{audit.error_code}: {audit.error_message}"))
    return invocation | ({"toolExecutionNotifications": notes} if notes else {})


def _sarif_result(
    indexes: dict[str, int], finding: AuditFinding, place: AuditPlace, mutes: AuditMutes
) -> dict[str, Any]:
    """Return the SARIF result of a place.

    Its first page is the location. Other pages are `relatedLocations`.
    """
    first, *others = place.samples
    related = [sarif_messages.location(page["url"]) | {"id": number} for number, page in enumerate(others, 1)]
    return {
        "ruleId": finding.check_id,
        "ruleIndex": indexes[finding.check_id],
        "level": LEVELS[finding.status, finding.severity].sarif,
        # SARIF allows a level only for the kind "fail" (section 3.27.9); the property `status` distinguishes warnings.
        "kind": "fail",
        "message": sarif_messages.message(
            finding.title, finding.message, place.place, first["url"], first.get("state", "")
        ),
        "locations": [sarif_messages.location(first["url"])],
        **({"relatedLocations": related} if related else {}),
        "occurrenceCount": place.pages_affected,
        "partialFingerprints": {
            "primaryLocationLineHash": f"{place.fingerprint}:1",
            "place/v1": place.fingerprint,
        },
        "properties": {
            "status": finding.status,
            "severity": finding.severity,
            "outcome": finding.outcome,
            "pages_affected": place.pages_affected,
            "points": finding.audit.gain(finding),
        },
        **_suppressions(mutes.place_muting(finding, place), mutes),
    }


def _suppressions(muted_on: MutedOn, mutes: AuditMutes) -> dict[str, Any]:
    """Return the `suppressions` of a SARIF result.

    Either all results of a run have this field or none do (section 3.27.23).
    """
    if not mutes:
        return {}
    # Only members may read the mute rules and their reasons.
    reasons = dict.fromkeys(rule.reason for rule in muted_on.rules if mutes.shows_rules) or ("",)
    return {"suppressions": sarif.suppressions(reasons if muted_on.pages == ALL else ())}


def _findings(audit: Audit, mutes: AuditMutes) -> Iterator[list[AuditFindingJson]]:
    """Yield the findings of GET /v1/audits/:id/findings in batches.

    No database cursor stays open.
    """
    for batch in list_findings_in_batches(audit, mutes):
        yield [audit_finding_of(finding, mutes) for finding in batch]


def _pages(audit: Audit) -> Iterator[list[AuditPage]]:
    rows = audit.pages.order_by("position")
    last = -1
    while batch := list(rows.filter(position__gt=last)[:BATCH]):
        yield batch
        last = batch[-1].position


def json_items(batches: Iterator[list[Any]]) -> Iterator[str]:
    """Yield the comma-separated items of a JSON array, without its brackets."""
    first = next(batches, None)
    if first is None:
        return
    yield ", ".join(map(json_text, first))
    for batch in batches:
        yield "".join(chain.from_iterable((", ", json_text(item)) for item in batch))


def json_text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


# Keys are the names of `website_scan.report.exports.FORMATS`.
WRITERS: Mapping[str, ExportWriter] = {
    "json": ExportWriter(_json_chunks, "All findings and pages in one document."),
    "sarif": ExportWriter(_sarif_chunks, "One run for each type."),
    "csv": ExportWriter(_csv_chunks, "One line for each finding, with its places."),
}
