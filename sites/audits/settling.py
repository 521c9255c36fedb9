"""Update of an audit's scores, counters and findings when a visit of one of its pages ends, in the same transaction."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TypedDict

from django.db import connection
from django.utils import timezone

from scanner.fingerprints import fingerprints
from scanner.messages import counted
from scanner.repeats import CheckKey, told, told_elsewhere
from scanner.result import ScanResult
from scans.models import Scan
from scans.signals import Ended
from scans.visits.claims import LEFT_OUT
from sites.models import Audit, AuditFinding, AuditPage
from sites.models.audit import PageResult, SamplePage
from sites.signals import audit_ended

# Limit of findings per audit, because a site may show a different fault on every page; known findings still count.
MAX_GROUPS = 20_000
MAX_REASONS = 20  # of caps; catalogues have few
CHECKS_SKIPPED = "CHECKS_SKIPPED"

COUNT_FINDINGS = """
    INSERT INTO sites_auditfinding AS known
        (audit_id, type, check_id, fingerprint, status, severity, title, message, fix, pages_affected, points, told_by,
        samples)
    SELECT %(audit)s, found.type, found.check_id, found.fingerprint, found.status, found.severity, found.title,
        found.message, found.fix, 1, found.points, found.told_by, jsonb_build_array(found.sample)
    FROM jsonb_to_recordset(%(found)s::jsonb) AS found (
        type text, check_id text, fingerprint text, status text, severity text, title text, message text, fix text,
        points float, told_by text, sample jsonb
    )
    WHERE %(has_room)s OR EXISTS (
        SELECT FROM sites_auditfinding AS other WHERE other.audit_id = %(audit)s AND other.type = found.type
            AND other.check_id = found.check_id AND other.fingerprint = found.fingerprint
    )
    ON CONFLICT (audit_id, type, check_id, fingerprint) DO UPDATE SET
        pages_affected = known.pages_affected + 1,
        points = known.points + excluded.points,
        -- On a page where nobody else tells it, the finding has to.
        told_by = CASE WHEN known.told_by = excluded.told_by THEN known.told_by ELSE '' END,
        status = least(known.status, excluded.status),  -- fail comes before warn
        severity = CASE
            WHEN array_position({severities}, known.severity::text)
                <= array_position({severities}, excluded.severity::text) THEN known.severity
            ELSE excluded.severity
        END,
        samples = CASE
            WHEN jsonb_array_length(known.samples) < %(samples)s THEN known.samples || excluded.samples
            ELSE known.samples
        END
    RETURNING pages_affected
""".replace("{severities}", "ARRAY['critical', 'high', 'medium', 'low']")


class _FindingRow(TypedDict):
    """Finding of a page at one place, as COUNT_FINDINGS reads it."""

    type: str
    check_id: str
    fingerprint: str
    status: str
    severity: str
    title: str
    message: str
    fix: str
    points: float
    told_by: str
    sample: SamplePage


def settle_page(*, ended: Ended, **_: object) -> None:
    """Add the ended scans of a visit to their audit, if they have one. Receives `scan_ended`."""
    if ended[0][0].audit_page_id is None:
        return
    page = AuditPage.objects.get(id=ended[0][0].audit_page_id)
    # The lock serializes the ends of the audit's pages, so that each page counts once.
    audit = Audit.objects.select_for_update(no_key=True).get(id=page.audit_id)
    for scan, result in ended:
        page.results[scan.type] = _result(scan)
        if scan.score is not None:
            _add_score(audit, scan, scan.score, result)
    if all(scan.error_code == LEFT_OUT for scan, _ in ended):
        _leave_out(audit, page)
        return
    scores = [scan.score for scan, _ in ended if scan.score is not None]
    page.status = AuditPage.Status.DONE if scores else AuditPage.Status.FAILED
    page.worst_score = min(scores, default=None)
    page.save(update_fields=["results", "status", "worst_score"])
    audit.pages_done += bool(scores)
    audit.pages_failed += not scores
    audit.scans_done += len(ended)
    audit.findings_count += _count_findings(audit, page, ended)
    end_if_done(audit)
    audit.save()


def _result(scan: Scan) -> PageResult:
    result: PageResult = {"scan_id": scan.id, "status": str(scan.status), "score": scan.score, "grade": scan.grade}
    if scan.error_code:
        result["error"] = {"code": scan.error_code, "message": scan.error_message}
    return result


def _leave_out(audit: Audit, page: AuditPage) -> None:
    """Remove a page from the plan whose visit has found that it is none; the caller holds the audit's lock."""
    page.status = AuditPage.Status.LEFT_OUT
    page.save(update_fields=["results", "status"])
    audit.pages_planned -= 1
    end_if_done(audit)
    audit.save()


def end_if_done(audit: Audit) -> None:
    """End an audit if all of its planned pages are done or failed; the caller holds its lock and saves it."""
    if audit.status != Audit.Status.RUNNING or audit.pages_done + audit.pages_failed < audit.pages_planned:
        return
    audit.completed_at = timezone.now()
    if not audit.pages_done:
        audit.status = Audit.Status.FAILED
        if not audit.error_code:
            audit.error_code, message = _first_failure(audit)
            audit.error_message = f"No page could be judged. {message}"
    else:
        if not audit.error_code and (gap := _gap(audit)):
            audit.error_code, audit.error_message = gap
        audit.status = Audit.Status.PARTIAL if audit.error_code else Audit.Status.COMPLETED
    audit.save()
    audit_ended.send(Audit, audit=audit)


def _add_score(audit: Audit, scan: Scan, score: int, result: ScanResult | None) -> None:
    total = audit.totals.setdefault(
        scan.type, {"pages": 0, "sum": 0, "flawless": 0, "gaps": 0, "cap": None, "caps": {}}
    )
    total["pages"] += 1
    total["sum"] += score
    total["flawless"] += scan.grade == "A+"
    total["gaps"] += scan.status != Scan.Status.COMPLETED
    for cap in result.caps if result else ():
        if cap.reason in total["caps"] or len(total["caps"]) < MAX_REASONS:
            total["caps"][cap.reason] = total["caps"].get(cap.reason, 0) + 1
        if cap.is_of_origin:
            total["cap"] = cap.limit if total["cap"] is None else min(total["cap"], cap.limit)


def _gap(audit: Audit) -> tuple[str, str] | None:
    """Return what an audit with results lacks, as code and message; None if nothing."""
    failed_scans = audit.scans_done - sum(total["pages"] for total in audit.totals.values())
    if failed_scans:
        code, message = _first_failure(audit)
        if audit.pages_failed:
            return (
                code,
                f"{audit.pages_failed} of {counted(audit.pages_planned, 'page')} could not be judged. {message}",
            )
        return code, f"{failed_scans} of {counted(audit.scans_done, 'scan')} failed. {message}"
    partial = sum(total["gaps"] for total in audit.totals.values())
    if not partial:
        return None
    scans = Scan.objects.filter(audit_page__audit=audit, status=Scan.Status.PARTIAL)
    skipped = scans.order_by("audit_page__position", "id").values_list("skipped_checks", flat=True).first()
    example = f" For example, {skipped[0]['name']}: {skipped[0]['reason']}" if skipped else ""
    return CHECKS_SKIPPED, f"Checks could not run in {partial} of {counted(audit.scans_done, 'scan')}.{example}"


def _first_failure(audit: Audit) -> tuple[str, str]:
    failed = Scan.objects.filter(audit_page__audit=audit, error_code__gt="").exclude(error_code=LEFT_OUT)
    first = failed.order_by("audit_page__position", "id").values_list("error_code", "error_message").first()
    return first or ("NO_PAGE", "No page was looked at.")


def _count_findings(audit: Audit, page: AuditPage, ended: Ended) -> int:
    """Count each finding by its place; return the number of new findings."""
    elsewhere = told_elsewhere(
        {result.type: told(result.checks, result.repeated_checks) for _, result in ended if result is not None}
    )
    rows = [row for scan, result in ended if result is not None for row in _rows(scan, result, page.url, elsewhere)]
    if not rows:
        return 0
    parameters: dict[str, str | int] = {
        "audit": audit.id,
        "found": json.dumps(rows),
        "has_room": audit.findings_count < MAX_GROUPS,
        "samples": AuditFinding.SAMPLES,
    }
    with connection.cursor() as cursor:
        cursor.execute(COUNT_FINDINGS, parameters)
        return sum(1 for (pages,) in cursor.fetchall() if pages == 1)


def _rows(scan: Scan, result: ScanResult, url: str, elsewhere: Mapping[CheckKey, CheckKey]) -> Iterator[_FindingRow]:
    for check in result.checks:
        if check.status == "pass":
            continue
        teller = elsewhere.get(CheckKey(result.type, check.id))
        places = fingerprints(check.id, check.evidence, url)
        for fingerprint, place in places.items():
            yield {
                "type": str(scan.type),
                "check_id": check.id,
                "fingerprint": fingerprint,
                "status": check.status,
                "severity": str(check.severity),
                "title": _storable(check.title),
                "message": _storable(check.message),
                "fix": _storable(check.fix or ""),
                "points": check.points / len(places),
                "told_by": teller.id if teller else "",
                "sample": {"url": url, "scan_id": scan.id, "place": _storable(place)},
            }


def _storable(text: str) -> str:
    """Remove NUL characters, which PostgreSQL's jsonb refuses; a report is stored as text and may contain them."""
    return text.replace("\0", "")
