"""Exports of an audit: JSON with all of its pages and findings, CSV for spreadsheets, SARIF for code scanning.

They are streamed in batches of rows, so that an audit of 10,000 pages takes little more memory than one of ten.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any

from django.db.models import QuerySet

from infrastructure.web.downloads import TIME_LIMIT_S, within_time_limit
from scans.check_catalogue import check_pages
from sites.audits.findings import in_order, listed_in_batches
from sites.audits.muting import ALL, AuditMutes, MutedOn
from sites.audits.schemas import AuditFindingJson, audit_finding_of, audit_json_of, audit_page_of
from sites.models import Audit, AuditFinding, AuditPage, AuditPlace
from website_scan.report import sarif
from website_scan.report.levels import LEVELS
from website_scan.report.spreadsheets import cell, lines
from website_scan.timestamps import timestamp

BATCH = 100

CSV_COLUMNS = (
    *("type", "check", "status", "severity", "title", "pages_affected", "critical_pages", "holds", "points", "later"),
    *("message", "fix", "places_total", "places", "sample_pages", "fingerprints", "outcome"),
)


@dataclass(frozen=True, slots=True)
class Writer:
    """Writer of audits in a format; yields the pieces of the text. `about` describes the endpoint in openapi.yaml."""

    write: Callable[[Audit, AuditMutes], Iterator[str]]
    about: str


def export(
    audit: Audit,
    export_format: str,
    mutes: AuditMutes,
    clock: Callable[[], float] = time.monotonic,
    limit_s: float = TIME_LIMIT_S,
) -> Iterator[bytes]:
    """Yield the chunks of a finished audit's export in one of WRITERS, in UTF-8.

    Raises ConnectionResetError between two chunks if the client has not read them in time.
    """
    pieces = WRITERS[export_format].write(audit, mutes)
    return within_time_limit(map(str.encode, pieces), clock, limit_s)


def _json(audit: Audit, mutes: AuditMutes) -> Iterator[str]:
    """Yield JSON: `audit` as in GET /v1/audits/:id, and the complete `findings` and `pages` as in their lists."""
    yield f'{{"audit": {_text(audit_json_of(audit))}, "findings": ['
    yield from _joined(_findings(audit, mutes))
    yield '], "pages": ['
    yield from _joined([audit_page_of(page) for page in batch] for batch in _pages(audit))
    yield "]}"


def _csv(audit: Audit, mutes: AuditMutes) -> Iterator[str]:
    """Yield CSV: a header line, then one line for each finding with its places, and its sample pages, in one cell."""
    yield lines([CSV_COLUMNS])
    for batch in _findings(audit, mutes):
        rows = []
        for finding in batch:
            row: Mapping[str, object] = {
                **finding,
                "holds": "yes" if finding["holds"] else "no",
                "places": "\n".join(filter(None, (each["place"] for each in finding["places"]))),
                "sample_pages": " ".join(each["url"] for each in finding["sample_pages"]),
                "fingerprints": " ".join(each["fingerprint"] for each in finding["places"]),
            }
            rows.append([cell(row[column]) for column in CSV_COLUMNS])
        yield lines(rows)


def _sarif(audit: Audit, mutes: AuditMutes) -> Iterator[str]:
    """Yield SARIF 2.1.0 (OASIS): a run for each type, a result for each place of a finding, at its sample pages."""
    yield f'{{"$schema": {_text(sarif.SCHEMA)}, "version": "2.1.0", "runs": ['
    for number, scan_type in enumerate(audit.types):
        yield ", " * (number > 0)
        yield from _run(audit, scan_type, mutes)
    yield "]}"


def _run(audit: Audit, scan_type: str, mutes: AuditMutes) -> Iterator[str]:
    findings = [each for each in in_order(audit, scan_type) if not each.told_by]
    rules = sorted(map(_rule, findings), key=lambda rule: rule.id)
    indexes = {rule.id: index for index, rule in enumerate(rules)}
    room = sarif.Room(len(audit.types))
    results = ([_result(indexes, each, place, mutes) for place in _places(each)] for each in findings)
    properties = {"audit_id": audit.id, "url": audit.url, "pages": audit.pages_done, **audit.scores[scan_type]}
    yield f'{{"tool": {_text(sarif.tool(rules, check_pages()))}, '
    yield f'"automationDetails": {_text(sarif.automation(f"{scan_type}/{audit.url}"))}, '
    yield f'"properties": {_text(properties)}, "results": ['
    yield from _joined(room.batches(results))
    found = AuditPlace.objects.filter(finding__in=[each.id for each in findings]).count()
    yield f'], "invocations": [{_text(_invocation(audit, scan_type, room.notifications(found)))}]}}'


def _places(finding: AuditFinding) -> QuerySet[AuditPlace]:
    """Return the places of a finding, the most frequent first."""
    return finding.places.order_by("-pages_affected", "id")


def _rule(finding: AuditFinding) -> sarif.Rule:
    return sarif.Rule(
        id=finding.check_id,
        scan_type=finding.type,
        name=finding.title,
        title=finding.title,
        fix=finding.fix,
        references=(),
        level=LEVELS[finding.status, finding.severity],
    )


def _invocation(audit: Audit, scan_type: str, left_out: list[dict[str, Any]]) -> dict[str, Any]:
    invocation: dict[str, Any] = {
        "executionSuccessful": audit.scores[scan_type]["score"] is not None,
        "startTimeUtc": timestamp(audit.created_at),
    }
    if audit.completed_at:
        invocation["endTimeUtc"] = timestamp(audit.completed_at)
    notes = left_out + [sarif.notification("note", each) for each in audit.notes]
    if audit.error_code:
        level = "error" if audit.status == Audit.Status.FAILED else "warning"
        notes.append(sarif.notification(level, f"{audit.error_code}: {audit.error_message}"))
    return invocation | ({"toolExecutionNotifications": notes} if notes else {})


def _result(indexes: dict[str, int], finding: AuditFinding, place: AuditPlace, mutes: AuditMutes) -> dict[str, Any]:
    """Return the result of a place at its first page. Its other pages are related: code scanning shows one only."""
    first, *others = place.samples
    related = [sarif.location(each["url"]) | {"id": number} for number, each in enumerate(others, 1)]
    return {
        "ruleId": finding.check_id,
        "ruleIndex": indexes[finding.check_id],
        "level": LEVELS[finding.status, finding.severity].sarif,
        "kind": "fail",  # other kinds may have no level (section 3.27.9); the property `status` distinguishes warnings
        "message": sarif.message(finding.title, finding.message, place.place, first["url"]),
        "locations": [sarif.location(first["url"])],
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
        **_suppressed(mutes.on_place(finding, place), mutes),
    }


def _suppressed(muted_on: MutedOn, mutes: AuditMutes) -> dict[str, Any]:
    """Return the `suppressions` of a result: all results of a run have them, or none (section 3.27.23)."""
    if not mutes:
        return {}
    # Readers who are not members see no rules, hence no reasons.
    reasons = dict.fromkeys(rule.reason for rule in muted_on.rules if mutes.shows_rules) or ("",)
    return {"suppressions": sarif.suppressions(reasons if muted_on.pages == ALL else ())}


def _findings(audit: Audit, mutes: AuditMutes) -> Iterator[list[AuditFindingJson]]:
    """Yield findings in the order and format of GET /v1/audits/:id/findings, with no cursor open between batches."""
    for batch in listed_in_batches(audit, mutes):
        yield [audit_finding_of(finding, mutes) for finding in batch]


def _pages(audit: Audit) -> Iterator[list[AuditPage]]:
    rows = audit.pages.order_by("position")
    last = -1
    while batch := list(rows.filter(position__gt=last)[:BATCH]):
        yield batch
        last = batch[-1].position


def _joined(batches: Iterator[list[Any]]) -> Iterator[str]:
    """Yield the items of a JSON list, without its brackets."""
    first = next(batches, None)
    if first is None:
        return
    yield ", ".join(map(_text, first))
    for batch in batches:
        yield "".join(chain.from_iterable((", ", _text(each)) for each in batch))


def _text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


# By the names of `website_scan.report.exports.FORMATS`.
WRITERS: Mapping[str, Writer] = {
    "json": Writer(_json, "All findings and pages in one document."),
    "sarif": Writer(_sarif, "One run for each type."),
    "csv": Writer(_csv, "One line for each finding, with its places."),
}
