"""Final states of scans, and the refund of scans that do not count against the quota."""

from __future__ import annotations

import functools
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import date

from django.db import transaction
from django.utils import timezone

from accounts import usage
from infrastructure.logging import job_log_context
from infrastructure.postgresql.statements import fetch
from infrastructure.telemetry.access_log import log_scan
from scans.models import Scan
from scans.visits import tallies
from website_scan.result import ScanError, ScanResult

# Scans with these error codes failed because of this service, not because of the scanned site.
SERVICE_ERRORS = frozenset({"INTERNAL_ERROR", "SCAN_INTERRUPTED", "SCAN_NOT_STARTED"})
# Error code of a discovered URL that is not a page of the audit.
LEFT_OUT = "PAGE_LEFT_OUT"
# Scans that end with one of these error codes are refunded to the quota.
REFUNDED = SERVICE_ERRORS | {"SCAN_CANCELLED", LEFT_OUT}

ENDED_COLUMNS = (
    "id",
    "status",
    "score",
    "grade",
    "catalogue_version",
    "skipped_checks",
    "checks_total",
    "checks_done",
    "percent",
    "phase",
    "error_code",
    "error_message",
    "completed_at",
)
# A single statement ends all scans of a visit, so that their counters are always locked in the same order.
END_VISIT = f"""
    UPDATE scans_scan AS scan SET claim_token = NULL, lease_expires_at = NULL,
        {", ".join(f"{name} = ended.{name}" for name in ENDED_COLUMNS[1:])}
    FROM jsonb_populate_recordset(NULL::scans_scan, %(rows)s::jsonb) AS ended WHERE scan.id = ended.id
    RETURNING scan.id
"""  # noqa: S608  # of constants


def apply_result(scan: Scan, result: ScanResult) -> None:
    """Set the columns of a scan's result. The caller saves the scan."""
    scan.status = Scan.Status(result.status)
    scan.score = result.score
    scan.grade = result.grade
    scan.catalogue_version = result.catalogue_version
    scan.skipped_checks = [{"name": skipped.name, "reason": skipped.reason} for skipped in result.skipped_checks]
    scan.checks_total = len(result.checks) + len(result.skipped_checks)
    scan.checks_done = len(result.checks)
    if result.error is not None:
        scan.error_code, scan.error_message = result.error.code, result.error.message


def save_ended_scans(scans: Sequence[Scan], attempt: int, cpu_s: float | None) -> None:
    """Save scans in their final state. `cpu_s` is the CPU time of each scan."""
    now = timezone.now()
    for scan in scans:
        scan.completed_at = now
        scan.percent, scan.phase = 100, "done"
        scan.release()
        transaction.on_commit(functools.partial(log_end, scan, attempt, cpu_s))
    rows = [{name: getattr(scan, name) for name in ENDED_COLUMNS} for scan in scans]
    fetch(END_VISIT, {"rows": json.dumps(rows, default=str)})
    tallies.record_ended_scans(scans, cpu_s)


def log_end(scan: Scan, attempt: int, cpu_s: float | None) -> None:
    """Log the end of a scan for operators, after the transaction has committed."""
    assert scan.completed_at is not None
    started_at = scan.started_at or scan.completed_at
    with job_log_context(scan.id, scan.request_id):
        log_scan(
            scan=scan.id,
            scan_type=scan.type,
            status=str(scan.status),
            reason=scan.error_code,
            waited_s=(started_at - scan.created_at).total_seconds(),
            wall_s=(scan.completed_at - started_at).total_seconds(),
            cpu_s=cpu_s,
            attempt=attempt,
            organization=scan.organization_id,
        )


def is_refunded(error: ScanError | None) -> bool:
    """Return True if a scan with this error does not count against the quota."""
    return error is not None and error.code in REFUNDED


def refund_unused(scans: Iterable[tuple[Scan, ScanError | None]]) -> None:
    """Refund what scans have reserved and not used to their month's quota, given their errors.

    Must run before the scans are saved, because creation locks the quota first.
    """
    # A dry run of a journey has reserved nothing.
    refund((scan, max(0, scan.reserved_scans - (not is_refunded(error)))) for scan, error in scans)


def refund(scans: Iterable[tuple[Scan, int]]) -> None:
    """Refund numbers of scans to the quota of a scan's month. Must run before the scans are saved."""
    months: Counter[tuple[int, date]] = Counter()
    for scan, number in scans:
        months[scan.organization_id, scan.period] += number
    for (organization_id, period), number in sorted(months.items()):
        if number:
            usage.refund(organization_id, period, number)
