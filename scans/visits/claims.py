"""Leases of visits: claim, renew, finish, fail. Each step is one transaction.

Scans of several types that look at a page together are a visit. They have one claim, that of the leading scan.
"""

from __future__ import annotations

import functools
import uuid
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.db.models.functions import Greatest, Now
from django.utils import timezone

from accounts import usage
from infrastructure.logging import working_on
from infrastructure.queue import has_messages
from infrastructure.telemetry.access_log import scan_line
from scanner.findings import ScanType
from scanner.result import Progress, ScanError, ScanResult
from scans.models import SCAN_LEASE, Scan
from scans.models.domain import domain_of
from scans.signals import scan_ended
from scans.visits import tallies
from scans.visits.politeness import enqueue_later, take_domain, wake_after_gaps
from scans.visits.queue import (
    MAX_ATTEMPTS,
    QUEUES,
    Worker,
    enqueue,
    next_in_turn,
    queue_of,
    take_turn,
    types_of,
    wait_in_line,
)

PASSED_ON_AFTER_S = 0.5
# Faults of the service, not of the site.
OWN_FAULTS = frozenset({"INTERNAL_ERROR", "SCAN_INTERRUPTED", "SCAN_NOT_STARTED"})
LEFT_OUT = "PAGE_LEFT_OUT"  # the visit of an audit of a site has found that the URL is no page of the audit
# Scans with these errors, and scans that never began, are refunded to the quota.
REFUNDED = OWN_FAULTS | {"SCAN_CANCELLED", LEFT_OUT}


@dataclass(frozen=True, slots=True)
class ScanClaim:
    """Claim of a worker to one attempt of a visit until the lease runs out; `scan_id` is the leading scan's ID.

    `types` are the types of all its scans, the leading scan's first; `audit_id` is empty except in an audit of several
    pages. `request_id` is the ID of the HTTP request that created it, if any; `attempt` counts from 1.
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


def claim_next(scan_id: str, worker: Worker) -> ScanClaim | None:
    """Claim the visit whose turn it is in the queue of the scan that a message named; None if there is none."""
    named = Scan.objects.filter(id=scan_id).values_list("type", flat=True).first()
    if named is None:
        return None
    queue = queue_of(ScanType(named))
    with transaction.atomic():
        wait_in_line()
        claim = None
        while claim is None and (found := next_in_turn(queue, worker)) is not None:
            next_id, organization_id = found
            claim = claim_scan(next_id, worker)
            if claim is not None:  # else it was cancelled at this moment
                take_turn(organization_id, queue)
                take_domain(claim.host)
        wake_after_gaps(queue)
    if claim is None and not has_messages(queue):
        _pass_on(queue)
    return claim


def _pass_on(queue: str) -> None:
    """Send the workers another message soon about scans that wait although this worker may not claim them.

    A slot that is reserved for other organizations reads messages as well: the one that it has just read may have been
    needed by a slot of another host. No message is sent while any is left, so each such slot sends at most one in that
    time.
    """
    for next_id, scan_type in _one_waiting(queue):
        enqueue_later(PASSED_ON_AFTER_S, next_id, scan_type)


def _one_waiting(queue: str, **of: str) -> list[tuple[str, ScanType]]:
    """Return the ID and the type of any one scan that waits in the queue; empty if none does."""
    waiting = Scan.objects.visits().filter(status=Scan.Status.QUEUED, type__in=types_of(queue), **of)
    return [(scan_id, ScanType(scan_type)) for scan_id, scan_type in waiting.values_list("id", "type")[:1]]


@transaction.atomic
def claim_scan(scan_id: str, worker: Worker = Worker()) -> ScanClaim | None:  # noqa: B008  # Worker is frozen
    """Claim the next attempt of a visit, by its leading scan; None if it has ended or another worker holds it."""
    token = uuid.uuid4()
    leads = Scan.objects.visits().filter(id=scan_id, attempts__lt=MAX_ATTEMPTS)
    free = leads.filter(status=Scan.Status.QUEUED) | leads.without_lease()
    if not free.select_for_update(no_key=True).exists():
        return None
    scans = list(Scan.objects.of_visit(scan_id).locked().select_related("audit_page"))
    for scan in by_type(scans):
        claimed: dict[str, Any] = {"attempts": F("attempts") + 1, "worker": worker.name[:100]}
        Scan.objects.filter(id=scan.id).update(
            status=Scan.Status.SCANNING,
            **SCAN_LEASE.taken(token),
            started_at=Now(),
            **(claimed if scan.lead_id is None else {}),
        )
    lead = scans[0]
    audit_id = lead.audit_page.audit_id if lead.audit_page and lead.is_background else ""
    types = tuple(ScanType(each.type) for each in scans)
    return ScanClaim(
        *(scan_id, token, lead.url, types, lead.organization_id, lead.host, audit_id),
        request_id=lead.request_id,
        attempt=lead.attempts + 1,
    )


def by_type(scans: Iterable[Scan]) -> list[Scan]:
    """Sort the scans of a visit in the order for saving: each save locks the counters of its type."""
    return sorted(scans, key=lambda scan: scan.type)


def wake_next(claim: ScanClaim) -> None:
    """Wake scans that could not run when their message came, now that a visit has freed its slots.

    A visit has two slots: the worker's, which any message left in the queue will use, and the domain's, for which a
    scan of another queue may wait.
    """
    own = queue_of(claim.types[0])
    for queue in QUEUES:
        if queue == own and has_messages(queue):
            continue
        for next_id, scan_type in _one_waiting(queue, **({} if queue == own else {"domain": domain_of(claim.host)})):
            enqueue(next_id, scan_type)


def renew_claim(claim: ScanClaim, progress: Progress) -> bool:
    """Write the progress and renew the lease; return False if another attempt has taken the claim."""
    for scan_type in claim.types:
        checked = progress.checks.get(scan_type)
        scans = Scan.objects.of_visit(claim.scan_id).filter(type=scan_type)
        renewed = scans.filter(claim_token=claim.token, status=Scan.Status.SCANNING).update(
            **SCAN_LEASE.renewed(),
            # Progress never decreases, although an earlier attempt may have come further.
            percent=Greatest(F("percent"), min(progress.percent, 99)),
            phase="checking" if progress.phase == "done" else progress.phase,
            checks_done=Greatest(F("checks_done"), checked.done if checked else 0),
            checks_total=checked.total if checked else F("checks_total"),
        )
        if not renewed:
            return False
    return True


def finish_scan(claim: ScanClaim, *results: ScanResult, cpu_s: float | None = None) -> bool:
    """Write the results of a visit's scans in one transaction with the writes of the receivers of `scan_ended`.

    `cpu_s` is the processor time of the visit and its browser, None if unknown; the scans share it equally. Returns
    False if the claim was lost: then another attempt finishes the visit, and nothing is written here.
    """
    with transaction.atomic():
        held = Scan.objects.of_visit(claim.scan_id).filter(claim_token=claim.token, status=Scan.Status.SCANNING)
        scans = {ScanType(each.type): each for each in held.locked()}
        if scans.keys() != set(claim.types):
            return False
        found = {result.type: result for result in results}
        _refund([scans[each] for each, result in found.items() if _is_refunded(result.error)])
        for scan in by_type(scans.values()):
            _end_with(scan, found[ScanType(scan.type)], claim.attempt, None if cpu_s is None else cpu_s / len(found))
        scan_ended.send(Scan, ended=[(scans[each], result) for each, result in found.items()])
    return True


def _end_with(scan: Scan, result: ScanResult, attempt: int, cpu_s: float | None) -> None:
    scan.status = Scan.Status(result.status)
    scan.score = result.score
    scan.grade = result.grade
    scan.catalogue_version = result.catalogue_version
    scan.skipped_checks = [{"name": skipped.name, "reason": skipped.reason} for skipped in result.skipped_checks]
    scan.checks_total = len(result.checks) + len(result.skipped_checks)
    scan.checks_done = len(result.checks)
    _end(scan, result.error, attempt, cpu_s)


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
    for scan_type in sorted({scan.type for scan in scans}):  # each statement locks the counters of its type
        Scan.objects.filter(id__in=[scan.id for scan in scans if scan.type == scan_type]).update(**columns)
    for scan in scans:
        for name, value in columns.items():
            setattr(scan, name, value)
        transaction.on_commit(functools.partial(_tell, scan, scan.attempts, None))
    tallies.note_ends(scans)
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
    for scan in by_type(rows):
        scan.status = Scan.Status.FAILED
        _end(scan, error, rows[0].attempts)
    if rows:
        scan_ended.send(Scan, ended=[(scan, None) for scan in rows])
    return rows


def _end(scan: Scan, error: ScanError | None, attempt: int, cpu_s: float | None = None) -> None:
    scan.completed_at = timezone.now()
    scan.percent, scan.phase = 100, "done"
    scan.release()
    if error is not None:
        scan.error_code, scan.error_message = error.code, error.message
    scan.save()
    tallies.note_end(scan, cpu_s)
    transaction.on_commit(functools.partial(_tell, scan, attempt, cpu_s))


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
