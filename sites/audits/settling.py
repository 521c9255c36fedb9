"""Update an audit's scores, counters and findings when the visit of a page ends.

The update is part of the transaction that ends the visit.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TypedDict

from django.utils import timezone

from infrastructure.postgresql.statements import fetch
from scans.models import Scan
from scans.signals import Ended
from scans.visits.ending import LEFT_OUT
from sites.models import Audit, AuditFinding, AuditPage, AuditPlace
from sites.models.audit import PageResult, SamplePage
from sites.signals import audit_ended
from website_scan import wording
from website_scan.fingerprints import fingerprints
from website_scan.messages import counted
from website_scan.priority import is_emergency
from website_scan.repeats import CheckKey, reported_elsewhere, reporters
from website_scan.report.serialization import stored_fix
from website_scan.report_json import StoredFix
from website_scan.result import ScanError, ScanResult

MAX_CAP_REASONS = 20
CHECKS_SKIPPED = "CHECKS_SKIPPED"
# Only the columns that the end of a visit changes, because PostgreSQL would rewrite the long values of the others.
UPDATED_COLUMNS = (
    "totals",
    "pages_planned",
    "pages_done",
    "pages_failed",
    "scans_done",
    "status",
    "error_code",
    "error_message",
    "completed_at",
)

# A finding has the status, severity, texts and samples of the pages with the worst verdict. `fail` is worse than
# `warn`. For the same status, the higher severity is worse.
_RANK = "({row}.status, array_position(ARRAY['critical', 'high', 'medium', 'low'], {row}.severity::text))"
_RANK_ON_PAGE, _RANK_SO_FAR = _RANK.format(row="excluded"), _RANK.format(row="known")
IS_WORSE_SQL = f"{_RANK_ON_PAGE} < {_RANK_SO_FAR}"
IS_EQUALLY_BAD_SQL = f"{_RANK_ON_PAGE} = {_RANK_SO_FAR}"
# The finding is a repeat only if the same other check reports the fact on all pages.
TOLD_BY = "CASE WHEN known.told_by = excluded.told_by THEN known.told_by ELSE '' END"
HAS_FREE_SAMPLE_SQL = "jsonb_array_length(known.samples) < %(samples)s"

# Adds the findings of a page (rows of `_FindingRow`) and their places to the counts of the audit.
COUNT_FINDINGS = f"""
    WITH found AS (
        SELECT * FROM jsonb_to_recordset(%(found)s::jsonb) AS found (
            type text, check_id text, status text, severity text, outcome text, title text, message text,
            consequence text, fix text,
            how_to_fix jsonb, points float, later float, holds bool, is_emergency bool, told_by text, sample jsonb,
            places jsonb
        )
    ), counted AS (
        INSERT INTO sites_auditfinding AS known
            (audit_id, type, check_id, status, severity, outcome, outcomes, title, message, consequence, fix,
            how_to_fix, pages_affected, critical_pages, held_pages, points, later, told_by, samples)
        SELECT %(audit)s, type, check_id, status, severity, outcome, ARRAY[outcome], title, message, consequence, fix,
            how_to_fix, 1, is_emergency::int, holds::int, points, later, told_by,
            jsonb_build_array(sample)
        FROM found
        ON CONFLICT (audit_id, type, check_id) DO UPDATE SET
            pages_affected = known.pages_affected + 1,
            critical_pages = known.critical_pages + excluded.critical_pages,
            held_pages = known.held_pages + excluded.held_pages,
            points = known.points + excluded.points,
            later = known.later + excluded.later,
            told_by = {TOLD_BY},
            status = least(known.status, excluded.status),
            severity = CASE WHEN {IS_WORSE_SQL} THEN excluded.severity ELSE known.severity END,
            outcome = CASE WHEN {IS_WORSE_SQL} THEN excluded.outcome ELSE known.outcome END,
            outcomes = CASE
                WHEN excluded.outcome = ANY(known.outcomes) THEN known.outcomes
                ELSE known.outcomes || excluded.outcomes
            END,
            title = CASE WHEN {IS_WORSE_SQL} THEN excluded.title ELSE known.title END,
            message = CASE WHEN {IS_WORSE_SQL} THEN excluded.message ELSE known.message END,
            consequence = CASE WHEN {IS_WORSE_SQL} THEN excluded.consequence ELSE known.consequence END,
            fix = CASE WHEN {IS_WORSE_SQL} THEN excluded.fix ELSE known.fix END,
            how_to_fix = CASE WHEN {IS_WORSE_SQL} THEN excluded.how_to_fix ELSE known.how_to_fix END,
            samples = CASE
                WHEN {IS_WORSE_SQL} THEN excluded.samples
                WHEN {IS_EQUALLY_BAD_SQL} AND {HAS_FREE_SAMPLE_SQL}
                    THEN known.samples || excluded.samples
                ELSE known.samples
            END
        RETURNING id, type, check_id
    ), rooms AS MATERIALIZED (
        SELECT *, (SELECT count(*) FROM sites_auditplace WHERE finding_id = counted.id) < %(most_places)s AS has_room
        FROM counted
    )
    INSERT INTO sites_auditplace AS known (finding_id, fingerprint, place, pages_affected, samples)
    SELECT rooms.id, place.fingerprint, place.place, 1, jsonb_build_array(found.sample)
    FROM found JOIN rooms USING (type, check_id)
    CROSS JOIN jsonb_to_recordset(found.places) AS place (fingerprint text, place text)
    WHERE rooms.has_room OR EXISTS (
        SELECT FROM sites_auditplace AS other
        WHERE other.finding_id = rooms.id AND other.fingerprint = place.fingerprint
    )
    ON CONFLICT (finding_id, fingerprint) DO UPDATE SET
        pages_affected = known.pages_affected + 1,
        samples = CASE
            WHEN {HAS_FREE_SAMPLE_SQL} THEN known.samples || excluded.samples
            ELSE known.samples
        END
    RETURNING known.id
"""  # noqa: S608  # Only constants are interpolated.


class _PlaceRow(TypedDict):
    fingerprint: str
    place: str


class _FindingRow(TypedDict):
    """Finding of one page, as a parameter of the SQL statement COUNT_FINDINGS."""

    type: str
    check_id: str
    status: str
    severity: str
    outcome: str
    title: str
    message: str
    consequence: str
    fix: str
    how_to_fix: StoredFix
    points: float
    later: float
    holds: bool
    is_emergency: bool
    told_by: str
    sample: SamplePage
    places: list[_PlaceRow]


def settle_page(*, ended: Ended, **_: object) -> None:
    """Add the results of an ended visit to its audit's scores.

    Visits without an audit are ignored. Receives the signal `scan_ended`.
    """
    if ended[0][0].audit_page_id is None:
        return
    page = AuditPage.objects.get(id=ended[0][0].audit_page_id)
    # The lock serializes visits that end concurrently, so that each page counts once.
    audit = Audit.objects.select_for_update(no_key=True).get(id=page.audit_id)
    if audit.is_dry_run:
        _fail_dry_run(audit, page, ended)
        return
    for scan, result in ended:
        page.results[scan.type] = _page_result(scan)
        if scan.score is not None:
            _add_score(audit, scan, scan.score, result)
    if all(scan.error_code == LEFT_OUT for scan, _ in ended):
        _leave_out_page(audit, page)
        return
    scores = [scan.score for scan, _ in ended if scan.score is not None]
    page.status = AuditPage.Status.DONE if scores else AuditPage.Status.FAILED
    page.worst_score = min(scores, default=None)
    page.save(update_fields=["results", "status", "worst_score"])
    audit.pages_done += bool(scores)
    audit.pages_failed += not scores
    audit.scans_done += len(ended)
    _count_findings(audit, page, ended)
    end_if_done(audit)
    audit.save(update_fields=UPDATED_COLUMNS)


def end_dry_run(audit: Audit, error: ScanError | None) -> None:
    """End a dry run of a journey, which has failed if there is an error. A cancelled one stays cancelled.

    The caller must have locked the audit.
    """
    audit.pages_planned = 0
    if audit.status != Audit.Status.RUNNING:
        audit.save(update_fields=["pages_planned"])
        return
    audit.status = Audit.Status.FAILED if error else Audit.Status.COMPLETED
    if error is not None:
        audit.error_code, audit.error_message = error.code, error.message
    audit.completed_at = timezone.now()
    audit.save(update_fields=UPDATED_COLUMNS)
    audit_ended.send(Audit, audit=audit)


def _fail_dry_run(audit: Audit, page: AuditPage, ended: Ended) -> None:
    """End a dry run whose visit was not executed. Its scan is deleted, because a dry run judges nothing."""
    ((scan, _),) = ended
    page.status = AuditPage.Status.LEFT_OUT
    page.save(update_fields=["status"])
    Scan.objects.filter(id=scan.id).delete()
    end_dry_run(audit, ScanError(scan.error_code, scan.error_message))


def _page_result(scan: Scan) -> PageResult:
    result: PageResult = {"scan_id": scan.id, "status": str(scan.status), "score": scan.score, "grade": scan.grade}
    if scan.error_code:
        result["error"] = {"code": scan.error_code, "message": scan.error_message}
    return result


def _leave_out_page(audit: Audit, page: AuditPage) -> None:
    """Remove a URL that is not a page from the audit's planned pages.

    The caller must have locked the audit.
    """
    page.status = AuditPage.Status.LEFT_OUT
    page.save(update_fields=["results", "status"])
    audit.pages_planned -= 1
    end_if_done(audit)
    audit.save(update_fields=UPDATED_COLUMNS)


def end_if_done(audit: Audit) -> None:
    """End an audit if all its planned pages are done or failed.

    The caller must have locked it and must save it.
    """
    if audit.status != Audit.Status.RUNNING or audit.pages_done + audit.pages_failed < audit.pages_planned:
        return
    audit.completed_at = timezone.now()
    if not audit.pages_done:
        audit.status = Audit.Status.FAILED
        if not audit.error_code:
            audit.error_code, message = _first_failure(audit)
            audit.error_message = f"No page could be judged. {message}"
    else:
        if not audit.error_code and (missing_results := _missing_results(audit)):
            audit.error_code, audit.error_message = missing_results
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
    caps = result.caps if result else ()
    # The first cap is the lowest one and determines the score.
    for cap in caps[:1]:
        if cap.reason in total["caps"] or len(total["caps"]) < MAX_CAP_REASONS:
            total["caps"][cap.reason] = total["caps"].get(cap.reason, 0) + 1
    for cap in caps:
        if cap.applies_to_whole_origin:
            total["cap"] = cap.limit if total["cap"] is None else min(total["cap"], cap.limit)


def _missing_results(audit: Audit) -> tuple[str, str] | None:
    """Return the error code and message of an incomplete audit, or None for a complete one.

    An audit is incomplete if scans failed or checks were skipped.
    """
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
    example = f" For example, “{skipped[0]['name']}” was not checked. {skipped[0]['reason']}" if skipped else ""
    return CHECKS_SKIPPED, f"Checks could not run in {partial} of {counted(audit.scans_done, 'scan')}.{example}"


def _first_failure(audit: Audit) -> tuple[str, str]:
    failed = Scan.objects.filter(audit_page__audit=audit, error_code__gt="").exclude(error_code=LEFT_OUT)
    first = failed.order_by("audit_page__position", "id").values_list("error_code", "error_message").first()
    return first or ("NO_PAGE", "No page was scanned.")


def _count_findings(audit: Audit, page: AuditPage, ended: Ended) -> None:
    """Add the page's findings and their places to the audit's counts in one SQL statement."""
    repeats = reported_elsewhere(
        {result.type: reporters(result.checks, result.repeated_checks) for _, result in ended if result is not None}
    )
    rows = [row for scan, result in ended if result is not None for row in _finding_rows(scan, result, page, repeats)]
    if not rows:
        return
    parameters: dict[str, str | int] = {
        "audit": audit.id,
        "found": json.dumps(rows),
        "most_places": AuditPlace.MOST,
        "samples": AuditFinding.SAMPLES,
    }
    fetch(COUNT_FINDINGS, parameters)


def _finding_rows(
    scan: Scan, result: ScanResult, page: AuditPage, repeats: Mapping[CheckKey, CheckKey]
) -> Iterator[_FindingRow]:
    for check in result.checks:
        if check.status == "pass":
            continue
        assert check.how_to_fix is not None
        reporter = repeats.get(CheckKey(result.type, check.id))
        places = fingerprints(check.id, check.places.kept, page.url)
        yield {
            "type": str(scan.type),
            "check_id": check.id,
            "status": check.status,
            "severity": str(check.severity),
            "outcome": check.outcome,
            "title": check.title,
            "message": wording.seen(check.summary, check.includes, check.why),
            "consequence": check.consequence,
            "fix": wording.fix(check.how_to_fix),
            "how_to_fix": stored_fix(check.how_to_fix),
            "points": check.points,
            "later": check.later,
            "holds": check.holds,
            "is_emergency": is_emergency(check.status, check.severity),
            "told_by": reporter.id if reporter else "",
            "sample": page.sample(scan.id),
            "places": [{"fingerprint": fingerprint, "place": place} for fingerprint, place in places.items()],
        }
