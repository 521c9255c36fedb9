"""Leases of visits: claim, renew, finish, fail. Each step is one transaction.

Scans of several types that look at a page together are a visit. They have one claim, that of the leading scan.
"""

from __future__ import annotations

import functools
import json
import uuid
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from accounts import usage
from infrastructure.logging import working_on
from infrastructure.postgresql.statements import fetch
from infrastructure.queue import has_messages, is_first_in
from infrastructure.telemetry.access_log import scan_line
from scans.audit_sql import audit_sql
from scans.models import SCAN_LEASE, Scan
from scans.models.domain import domain_of
from scans.signals import scan_ended
from scans.visits import tallies
from scans.visits.fairness import HELD
from scans.visits.politeness import enqueue_later, take_domain, wake_after_gaps
from scans.visits.queue import (
    MAX_ATTEMPTS,
    QUEUES,
    Turn,
    Worker,
    enqueue,
    next_in_turn,
    queue_of,
    take_turn,
    types_of,
    wait_in_line,
)
from website_scan.findings import ScanType
from website_scan.result import Progress, ScanError, ScanResult

PASSED_ON_AFTER_S = 0.5
# Faults of the service, not of the site.
OWN_FAULTS = frozenset({"INTERNAL_ERROR", "SCAN_INTERRUPTED", "SCAN_NOT_STARTED"})
LEFT_OUT = "PAGE_LEFT_OUT"  # the visit of an audit of a site has found that the URL is no page of the audit
# Scans with these errors, and scans that never began, are refunded to the quota.
REFUNDED = OWN_FAULTS | {"SCAN_CANCELLED", LEFT_OUT}

# Lock the leading scan of a visit that waits, or whose worker died.
LOCK = f"""
    SELECT id FROM scans_scan
    WHERE id = %(scan)s AND lead_id IS NULL AND attempts < %(max_attempts)s
        AND (status = 'queued' OR status = 'scanning' AND NOT {HELD})
    FOR NO KEY UPDATE
"""  # noqa: S608  # of constants


@functools.cache
def claim_sql() -> str:
    """Return the statement that claims the scans of a visit. Rows are locked in the order of `locked`."""
    return f"""
        WITH held AS (
            SELECT id FROM scans_scan WHERE id = %(scan)s OR lead_id = %(scan)s
            ORDER BY lead_id NULLS FIRST, id FOR NO KEY UPDATE
        )
        UPDATE scans_scan AS scan SET
            status = 'scanning',
            claim_token = %(token)s,
            lease_expires_at = {SCAN_LEASE.end_sql},
            started_at = statement_timestamp(),
            attempts = attempts + 1,
            worker = %(worker)s
        FROM held WHERE scan.id = held.id
        RETURNING scan.id, scan.type, scan.url, scan.organization_id, scan.host,
            CASE WHEN scan.is_background THEN {audit_sql().audit_of_scan} END,
            scan.request_id, scan.attempts, scan.addresses, scan.credential_names IS NOT NULL
    """  # noqa: S608  # of constants


# Progress never decreases, although an earlier attempt may have come further. Rows are locked in the order of `locked`.
RENEW = f"""
    UPDATE scans_scan AS scan SET
        lease_expires_at = {SCAN_LEASE.end_sql},
        percent = greatest(scan.percent, %(percent)s),
        phase = %(phase)s,
        checks_done = greatest(scan.checks_done, checked.done),
        checks_total = coalesce(checked.total, scan.checks_total)
    FROM (
        SELECT id, type FROM scans_scan
        WHERE (id = %(lead)s OR lead_id = %(lead)s) AND claim_token = %(token)s AND status = 'scanning'
        ORDER BY lead_id NULLS FIRST, id FOR NO KEY UPDATE
    ) AS held
    LEFT JOIN unnest(%(types)s::text[], %(done)s::int[], %(total)s::int[]) AS checked (type, done, total) USING (type)
    WHERE scan.id = held.id
    RETURNING scan.id
"""  # noqa: S608  # of constants

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
# One statement for the scans of a visit, so that their counters are locked in order.
END = f"""
    UPDATE scans_scan AS scan SET claim_token = NULL, lease_expires_at = NULL,
        {", ".join(f"{name} = ended.{name}" for name in ENDED_COLUMNS[1:])}
    FROM jsonb_populate_recordset(NULL::scans_scan, %(rows)s::jsonb) AS ended WHERE scan.id = ended.id
    RETURNING scan.id
"""  # noqa: S608  # of constants


@dataclass(frozen=True, slots=True)
class ScanClaim:
    """Claim of a worker to one attempt of a visit until the lease runs out; `scan_id` is the leading scan's ID.

    `types` are the types of all its scans, the leading scan's first; `audit_id` is empty except in an audit of several
    pages. `request_id` is the ID of the HTTP request that created it, if any; `attempt` counts from 1. `addresses` are
    those of its host, as far as they are known. `has_credentials`: its requests to the target have some.
    """

    scan_id: str
    token: uuid.UUID
    url: str
    types: tuple[ScanType, ...]
    organization_id: int
    host: str = ""
    audit_id: str = ""
    request_id: str = ""
    attempt: int = 1
    addresses: tuple[str, ...] = ()
    has_credentials: bool = False


def claim_next(scan_id: str, worker: Worker) -> ScanClaim | None:
    """Claim the visit whose turn it is in the queue of the scan that a message named; None if there is none."""
    named = fetch("SELECT type FROM scans_scan WHERE id = %(scan)s", {"scan": scan_id})
    if not named:
        return None
    queue = queue_of(ScanType(named[0][0]))
    claim: ScanClaim | None = None
    with transaction.atomic():
        wait_in_line()
        while (following := next_in_turn(queue, worker)) is not None and following.is_here and claim is None:
            claim = claim_scan(following.scan_id, worker)
            if claim is not None:  # else it was cancelled at this moment
                take_turn(following.organization_id, queue)
                take_domain(claim.host)
        wake_after_gaps(queue)
    if following is not None and not has_messages(queue):
        _wake_for(following, queue)
    return claim


def _wake_for(following: Turn, queue: str) -> None:
    """Send a message about a visit that may begin: at once to this worker, and soon to others if it may not claim it.

    So each claim wakes the next one, and messages are needed only for the first of several visits. A slot that is
    reserved for other organizations reads messages as well: the one that it has just read may have been needed by a
    slot of another host. For visits that may begin nowhere, the end of another visit or of a gap sends a message.
    """
    if following.is_here:
        enqueue(following.scan_id, following.type)
    elif is_first_in(PASSED_ON_AFTER_S, f"queue:passed-on:{queue}"):
        enqueue_later(PASSED_ON_AFTER_S, following.scan_id, following.type)


def _one_waiting(queue: str, **condition: object) -> list[tuple[str, ScanType]]:
    """Return the ID and the type of any one scan that waits in the queue and meets the condition; empty if none."""
    waiting = Scan.objects.visits().filter(status=Scan.Status.QUEUED, type__in=types_of(queue), **condition)
    return [(scan_id, ScanType(scan_type)) for scan_id, scan_type in waiting.values_list("id", "type")[:1]]


@transaction.atomic(savepoint=False)
def claim_scan(scan_id: str, worker: Worker = Worker()) -> ScanClaim | None:  # noqa: B008  # Worker is frozen
    """Claim the next attempt of a visit, by its leading scan; None if it has ended or another worker holds it."""
    token = uuid.uuid4()
    if not fetch(LOCK, {"scan": scan_id, "max_attempts": MAX_ATTEMPTS}):
        return None
    taken = fetch(claim_sql(), {"scan": scan_id, "token": token, "worker": worker.name[:100]})
    lead, *others = sorted(taken, key=lambda row: (row[0] != scan_id, row[0]))
    _, scan_type, url, organization_id, host, audit_id, request_id, attempt, addresses, has_credentials = lead
    return ScanClaim(
        scan_id,
        token,
        url,
        (ScanType(scan_type), *(ScanType(row[1]) for row in others)),
        organization_id,
        host,
        audit_id or "",
        request_id,
        attempt,
        tuple(addresses or ()),
        has_credentials,
    )


def wake_next(claim: ScanClaim, worker: Worker) -> None:
    """Wake scans that could not run when their message came, now that a visit has freed its slots.

    A visit has two slots: the worker's, which any message left in the queue will use, and the domain's, for which a
    scan of another queue may wait. Visits of lists may wait for its addresses as well.
    """
    own = queue_of(claim.types[0])
    for queue in QUEUES:
        if queue != own and types_of(queue):
            waiting = _one_waiting(queue, domain=domain_of(claim.host))
            if claim.addresses:
                waiting += _one_waiting(queue, is_of_list=True, addresses__overlap=claim.addresses)
            for next_id, scan_type in waiting:
                enqueue(next_id, scan_type)
        elif queue == own and not has_messages(queue) and (following := next_in_turn(queue, worker)) is not None:
            enqueue(following.scan_id, following.type)


def renew_claim(claim: ScanClaim, progress: Progress) -> bool:
    """Write the progress and renew the lease; return False if another attempt has taken the claim."""
    checked = progress.checks
    parameters = {
        "lead": claim.scan_id,
        "token": claim.token,
        "percent": min(progress.percent, 99),
        "phase": "checking" if progress.phase == "done" else progress.phase,
        "types": [str(each) for each in checked],
        "done": [each.done for each in checked.values()],
        "total": [each.total for each in checked.values()],
    }
    return len(fetch(RENEW, parameters)) == len(claim.types)


def finish_scan(claim: ScanClaim, *results: ScanResult, cpu_s: float | None = None) -> bool:
    """Write the results of a visit's scans in one transaction with the writes of the receivers of `scan_ended`.

    `cpu_s` is the processor time of the visit and its browser, None if unknown; the scans share it equally. Returns
    False if the claim was lost: then another attempt finishes the visit, and nothing is written here.
    """
    with transaction.atomic():
        held = Scan.objects.of_visit(claim.scan_id).filter(claim_token=claim.token, status=Scan.Status.SCANNING)
        scans = {ScanType(each.type): each for each in held.locked().select_related("organization")}
        if scans.keys() != set(claim.types):
            return False
        found = {result.type: result for result in results}
        _refund([scans[each] for each, result in found.items() if _is_refunded(result.error)])
        for scan_type, scan in scans.items():
            _take_over(scan, found[scan_type])
        _end(list(scans.values()), claim.attempt, None if cpu_s is None else cpu_s / len(found))
        scan_ended.send(Scan, ended=[(scans[each], result) for each, result in found.items()])
    return True


def _take_over(scan: Scan, result: ScanResult) -> None:
    scan.status = Scan.Status(result.status)
    scan.score = result.score
    scan.grade = result.grade
    scan.catalogue_version = result.catalogue_version
    scan.skipped_checks = [{"name": skipped.name, "reason": skipped.reason} for skipped in result.skipped_checks]
    scan.checks_total = len(result.checks) + len(result.skipped_checks)
    scan.checks_done = len(result.checks)
    if result.error is not None:
        scan.error_code, scan.error_message = result.error.code, result.error.message


def fail_scans(scans: QuerySet[Scan], error: ScanError) -> int:
    """End the visits of these leading scans as failed, except those locked at the moment; return their number."""
    ended = 0
    for scan_id in scans.values_list("id", flat=True)[:1000]:
        with transaction.atomic():
            if scans.select_for_update(no_key=True, skip_locked=True).filter(id=scan_id).exists():
                fail_visit(Scan.objects.of_visit(scan_id), error)
                ended += 1
    return ended


def end_queued(leads: QuerySet[Scan], error: ScanError) -> list[Scan]:
    """End the visits of these leading scans, which no worker has claimed, as failed; return all their scans.

    Runs in the caller's transaction, which then tells about them through `tell_ended`.
    """
    locked = leads.filter(status=Scan.Status.QUEUED, lead=None).select_for_update(no_key=True, of=("self",))
    lead_ids = list(locked.order_by("id").values_list("id", flat=True))
    scans = list(Scan.objects.filter(Q(id__in=lead_ids) | Q(lead_id__in=lead_ids)).locked())
    if _is_refunded(error):
        _refund(scans)
    columns = {
        "status": Scan.Status.FAILED,
        "completed_at": timezone.now(),
        "percent": 100,
        "phase": "done",
        "error_code": error.code,
        "error_message": error.message,
    }
    Scan.objects.filter(id__in=[scan.id for scan in scans]).update(**columns)
    for scan in scans:
        for name, value in columns.items():
            setattr(scan, name, value)
        transaction.on_commit(functools.partial(_tell, scan, scan.attempts, None))
    tallies.note_ends(scans, None)
    return scans


def tell_ended(scans: Sequence[Scan]) -> None:
    """Send `scan_ended` for scans without results, once for each of their visits."""
    for lead in [scan for scan in scans if scan.lead_id is None]:
        scan_ended.send(Scan, ended=[(scan, None) for scan in scans if lead.id in (scan.id, scan.lead_id)])


def fail_visit(scans: QuerySet[Scan], error: ScanError) -> Sequence[Scan]:
    """End the unfinished scans of a visit as failed, and return them; the caller holds the leading scan's lock."""
    rows = list(scans.unfinished().locked())  # type: ignore[attr-defined]  # ScanQuerySet
    if _is_refunded(error):
        _refund(rows)
    for scan in rows:
        scan.status = Scan.Status.FAILED
        scan.error_code, scan.error_message = error.code, error.message
    if rows:
        _end(rows, rows[0].attempts, None)
        scan_ended.send(Scan, ended=[(scan, None) for scan in rows])
    return rows


def _end(scans: Sequence[Scan], attempt: int, cpu_s: float | None) -> None:
    """Save scans in their final state; `cpu_s` is the processor time of each."""
    now = timezone.now()
    for scan in scans:
        scan.completed_at = now
        scan.percent, scan.phase = 100, "done"
        scan.release()
        transaction.on_commit(functools.partial(_tell, scan, attempt, cpu_s))
    rows = [{name: getattr(scan, name) for name in ENDED_COLUMNS} for scan in scans]
    fetch(END, {"rows": json.dumps(rows, default=str)})
    tallies.note_ends(scans, cpu_s)


def _tell(scan: Scan, attempt: int, cpu_s: float | None) -> None:
    """Log the end of a scan for operators, after the commit."""
    assert scan.completed_at is not None
    began = scan.started_at or scan.completed_at
    with working_on(scan.id, scan.request_id):
        scan_line(
            scan=scan.id,
            scan_type=scan.type,
            status=str(scan.status),
            reason=scan.error_code,
            waited_s=(began - scan.created_at).total_seconds(),
            wall_s=(scan.completed_at - began).total_seconds(),
            cpu_s=cpu_s,
            attempt=attempt,
            organization=scan.organization_id,
        )


def _is_refunded(error: ScanError | None) -> bool:
    return error is not None and error.code in REFUNDED


def _refund(scans: Sequence[Scan]) -> None:
    """Refund scans to their months' quota, before they are saved: the same order as at creation, quota first."""
    months = Counter((scan.organization_id, scan.period) for scan in scans)
    for (organization_id, period), number in sorted(months.items()):
        usage.refund(organization_id, period, number)
