"""Claims of visits.

The functions claim, renew, finish or fail a visit, each in one transaction. A visit is one scan, or scans of several
types that examine a page together. It has one claim, the claim of its lead scan.
"""

from __future__ import annotations

import functools
import json
import uuid
from collections.abc import Sequence

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone
from msgspec import Struct

from infrastructure.postgresql.statements import fetch
from infrastructure.queue import has_messages, is_first_call_in
from scans.audit_sql import audit_sql
from scans.models import SCAN_LEASE, Scan
from scans.models.domain import domain_of
from scans.signals import scan_ended
from scans.visits import tallies
from scans.visits.ending import apply_result, log_end, refund_unused, save_ended_scans
from scans.visits.fairness import IS_IN_QUEUE, IS_LEASED, QUEUED
from scans.visits.politeness import enqueue_later, record_domain_visit, schedule_wake_ups
from scans.visits.queue import (
    MAX_ATTEMPTS,
    QUEUES,
    NextVisit,
    Worker,
    acquire_turn_lock,
    enqueue,
    find_next_visit,
    has_journeys,
    queue_of,
    queue_parameters,
    record_turn,
    types_of,
)
from scans.visits.serving import has_other_workers, register
from website_scan.findings import ScanType
from website_scan.result import Progress, ScanError, ScanResult
from website_scan.security_categories import Categories, SecurityCategory
from website_scan.viewing import Viewing

OTHER_WORKERS_DELAY_S = 0.5  # Messages for other workers are delayed by this many seconds.

# This query locks the lead scan of a visit that is queued, or whose worker died.
LOCK_LEAD_SCAN = f"""
    SELECT id FROM scans_scan
    WHERE id = %(scan)s AND lead_id IS NULL AND attempts < %(max_attempts)s
        AND (status = 'queued' OR status = 'scanning' AND NOT {IS_LEASED})
    FOR NO KEY UPDATE
"""  # noqa: S608  # of constants


@functools.cache
def claim_sql() -> str:
    """Return the SQL that claims all scans of a visit. Rows are locked in the order of `ScanQuerySet.locked`."""
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
            scan.is_background, CASE WHEN scan.is_background THEN {audit_sql().audit_with_shared_responses} END,
            scan.request_id, scan.attempts, scan.addresses, scan.credential_names IS NOT NULL,
            scan.viewing::text, CASE WHEN scan.is_of_journey THEN {audit_sql().journey_run_of_scan} END,
            ({audit_sql().requirements_of_scan})::text, scan.categories
    """  # noqa: S608  # of constants


# The displayed progress never decreases, even if an earlier attempt got further. Rows are locked in the order of
# `ScanQuerySet.locked`.
RENEW_CLAIM = f"""
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

# This query finds a queued visit of a domain, and one of an address, in one queue.
FIND_WAITING = f"""
    (SELECT id FROM scans_scan WHERE {QUEUED} AND {IS_IN_QUEUE} AND domain = %(domain)s LIMIT 1)
    UNION ALL
    (SELECT id FROM scans_scan WHERE {QUEUED} AND {IS_IN_QUEUE} AND addresses && %(addresses)s::varchar[] LIMIT 1)
"""  # noqa: S608  # of constants


class ScanClaim(Struct, frozen=True):
    """Claim of a worker on one attempt of a visit, valid until the lease expires.

    `scan_id` is the ID of the lead scan. `types` are the types of all scans, the type of the lead scan first.
    `is_background` is False if somebody waits for the visit. `audit_id` is empty unless the visit is one of an audit
    that may have several pages, which share responses. `request_id` is the ID of the HTTP request that created the
    visit, if any. `attempt` counts from 1. `addresses` are the known addresses of the host. If `has_credentials`, the
    scans send credentials. `viewing` is None if nobody has chosen one. `journey_run_id` is the ID of the audit if it is
    a run of a journey, and else empty. `requirements` is the JSON text of own requirements, empty without any. Only the
    visit reads it, because an error of the claim would stop the queue. `categories` are the only categories of security
    checks to judge, None for all.
    """

    scan_id: str
    token: uuid.UUID
    url: str
    types: tuple[ScanType, ...]
    organization_id: int
    host: str = ""
    is_background: bool = False
    audit_id: str = ""
    request_id: str = ""
    attempt: int = 1
    addresses: tuple[str, ...] = ()
    has_credentials: bool = False
    viewing: Viewing | None = None
    journey_run_id: str = ""
    requirements: str = ""
    categories: Categories | None = None


def claim_next(scan_id: str, worker: Worker) -> ScanClaim | None:
    """Claim the next visit in the queue of the scan `scan_id`. Returns None if no visit may begin."""
    rows = fetch("SELECT type, is_of_journey FROM scans_scan WHERE id = %(scan)s", {"scan": scan_id})
    if not rows:
        return None
    queue = queue_of(ScanType(rows[0][0]), is_of_journey=rows[0][1])
    register(worker.name, [queue])
    claim: ScanClaim | None = None
    with transaction.atomic():
        acquire_turn_lock()
        while (next_visit := find_next_visit(queue, worker)) is not None and next_visit.is_here and claim is None:
            claim = claim_scan(next_visit.scan_id, worker)
            # If there is no claim, the visit was cancelled in the meantime.
            if claim is not None:
                record_turn(next_visit.organization_id, queue)
                record_domain_visit(claim.host)
        schedule_wake_ups(queue)
    if next_visit is not None:
        _wake_worker_for(next_visit, queue, worker)
    return claim


def _wake_worker_for(next_visit: NextVisit, queue: str, worker: Worker) -> None:
    """Send a message that the next visit may begin, unless one is in the queue.

    This worker gets it immediately, other workers get it after a short delay. So each claim wakes up the next one, and
    only the first of several visits needs a message. The delayed message is for other workers: a slot reserved for
    other organizations may have read the message that another worker's slot needed. For visits that cannot begin
    anywhere, or if there is no other worker, the end of another visit or of a pause sends a message.
    """
    if (not next_visit.is_here and not has_other_workers(queue, worker.name)) or has_messages(queue):
        return
    if next_visit.is_here:
        enqueue(next_visit.scan_id, queue)
    elif is_first_call_in(OTHER_WORKERS_DELAY_S, f"queue:passed-on:{queue}"):
        enqueue_later(OTHER_WORKERS_DELAY_S, next_visit.scan_id, queue)


@transaction.atomic(savepoint=False)
def claim_scan(scan_id: str, worker: Worker = Worker()) -> ScanClaim | None:  # noqa: B008  # Worker is frozen
    """Claim the next attempt of a visit, given its lead scan. Returns None if the visit has ended or is claimed."""
    token = uuid.uuid4()
    if not fetch(LOCK_LEAD_SCAN, {"scan": scan_id, "max_attempts": MAX_ATTEMPTS}):
        return None
    rows = fetch(claim_sql(), {"scan": scan_id, "token": token, "worker": worker.name[:100]})
    lead, *others = sorted(rows, key=lambda row: (row[0] != scan_id, row[0]))
    _, scan_type, url, organization_id, host, is_background, audit_id, request_id, attempt, *further = lead
    addresses, has_credentials, viewing, journey_run_id, requirements, _ = further
    # Only the security scan of a visit has categories.
    categories = next((row[-1] for row in rows if row[-1] is not None), None)
    return ScanClaim(
        scan_id,
        token,
        url,
        (ScanType(scan_type), *(ScanType(row[1]) for row in others)),
        organization_id,
        host,
        is_background,
        audit_id or "",
        request_id,
        attempt,
        tuple(addresses or ()),
        has_credentials,
        Viewing.from_json(json.loads(viewing)) if viewing else None,
        journey_run_id or "",
        requirements or "",
        None if categories is None else tuple(map(SecurityCategory, categories)),
    )


def wake_waiting_scans(claim: ScanClaim, worker: Worker) -> None:
    """Send messages for scans that waited for the ended visit.

    The end of a visit frees a slot of the worker, which any message in the queue can use, and a slot of the domain,
    which a scan of another queue may wait for. Visits of other domains may wait for the visit's addresses.
    """
    own_queue = queue_of(claim.types[0], is_of_journey=bool(claim.journey_run_id))
    for queue in QUEUES:
        if queue != own_queue and (types_of(queue) or has_journeys(queue)):
            parameters = {"domain": domain_of(claim.host), "addresses": list(claim.addresses)}
            for (next_scan_id,) in fetch(FIND_WAITING, queue_parameters(queue) | parameters):
                enqueue(next_scan_id, queue)
        elif (
            queue == own_queue
            and not has_messages(queue)
            and (next_visit := find_next_visit(queue, worker)) is not None
        ):
            enqueue(next_visit.scan_id, queue)


def renew_claim(claim: ScanClaim, progress: Progress) -> bool:
    """Store a visit's progress, and renew the lease. Returns False if another attempt has the claim."""
    checked = progress.checks
    parameters = {
        "lead": claim.scan_id,
        "token": claim.token,
        "percent": min(progress.percent, 99),
        "phase": "checking" if progress.phase == "done" else progress.phase,
        "types": [str(scan_type) for scan_type in checked],
        "done": [count.done for count in checked.values()],
        "total": [count.total for count in checked.values()],
    }
    return len(fetch(RENEW_CLAIM, parameters)) == len(claim.types)


def lock_claimed(claim: ScanClaim) -> dict[ScanType, Scan] | None:
    """Lock and return the scans of a claimed visit by type, or None if the claim was lost."""
    claimed = Scan.objects.of_visit(claim.scan_id).filter(claim_token=claim.token, status=Scan.Status.SCANNING)
    scans = {ScanType(scan.type): scan for scan in claimed.locked().select_related("organization")}
    return scans if scans.keys() == set(claim.types) else None


def finish_scan(claim: ScanClaim, *results: ScanResult, cpu_s: float | None = None) -> bool:
    """Store the results of a visit's scans in one transaction.

    The receivers of `scan_ended` run in the same transaction. `cpu_s` is the processor time of the visit and its
    browser, or None if unknown. The scans share it equally. Returns False if the claim was lost: then nothing is
    stored, because another attempt finishes the visit.
    """
    with transaction.atomic():
        if (scans := lock_claimed(claim)) is None:
            return False
        results_by_type = {result.type: result for result in results}
        refund_unused((scans[scan_type], result.error) for scan_type, result in results_by_type.items())
        for scan_type, scan in scans.items():
            apply_result(scan, results_by_type[scan_type])
        save_ended_scans(list(scans.values()), claim.attempt, None if cpu_s is None else cpu_s / len(results_by_type))
        scan_ended.send(Scan, ended=[(scans[scan_type], result) for scan_type, result in results_by_type.items()])
    return True


def fail_visits(scans: QuerySet[Scan], error: ScanError) -> int:
    """End the visits of these lead scans as failed, and return their number.

    Locked visits are skipped.
    """
    ended = 0
    for scan_id in scans.values_list("id", flat=True)[:1000]:
        with transaction.atomic():
            if scans.select_for_update(no_key=True, skip_locked=True).filter(id=scan_id).exists():
                fail_visit(Scan.objects.of_visit(scan_id), error)
                ended += 1
    return ended


def fail_queued_visits(leads: QuerySet[Scan], error: ScanError) -> list[Scan]:
    """End the unclaimed visits of these lead scans as failed, and return all their scans.

    Runs in the caller's transaction. The caller must then send `scan_ended` with `send_scan_ended`.
    """
    lead_scans = leads.filter(status=Scan.Status.QUEUED, lead=None).select_for_update(no_key=True, of=("self",))
    lead_ids = list(lead_scans.order_by("id").values_list("id", flat=True))
    scans = list(Scan.objects.filter(Q(id__in=lead_ids) | Q(lead_id__in=lead_ids)).locked())
    refund_unused((scan, error) for scan in scans)
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
        transaction.on_commit(functools.partial(log_end, scan, scan.attempts, None))
    tallies.record_ended_scans(scans, None)
    return scans


def send_scan_ended(scans: Sequence[Scan]) -> None:
    """Send the signal `scan_ended` for scans without results, once per visit."""
    for lead in [scan for scan in scans if scan.lead_id is None]:
        scan_ended.send(Scan, ended=[(scan, None) for scan in scans if lead.id in (scan.id, scan.lead_id)])


def fail_visit(scans: QuerySet[Scan], error: ScanError) -> Sequence[Scan]:
    """End the unfinished scans of a visit as failed, and return them. The caller has locked the lead scan."""
    rows = list(scans.unfinished().locked())  # type: ignore[attr-defined]  # ScanQuerySet
    refund_unused((scan, error) for scan in rows)
    for scan in rows:
        scan.status = Scan.Status.FAILED
        scan.error_code, scan.error_message = error.code, error.message
    if rows:
        save_ended_scans(rows, rows[0].attempts, None)
        scan_ended.send(Scan, ended=[(scan, None) for scan in rows])
    return rows
