"""The life of a scan: created, claimed, finished. Every step is one transaction."""

from __future__ import annotations

import functools
import json
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import F, QuerySet
from django.db.models.expressions import CombinedExpression
from django.db.models.functions import Greatest, Now
from django.utils import timezone

from accounts import access, audit, usage
from accounts.authentication import Caller
from accounts.models import AuditEvent, Membership, User
from config.api import idempotency
from config.api.errors import ServiceUnavailable
from config.errors import Refusal
from config.ids import is_id
from config.operations.health import redis_answers
from reports.build import build_report
from reports.models import Report
from scans.engine.findings import ScanType
from scans.engine.result import Progress, ScanError, ScanResult
from scans.models import IdempotencyRecord, Scan, sealed
from scans.net.credentials import Credentials, OriginCredentials
from scans.net.credentials import parse as parse_credentials
from scans.net.errors import Blocked
from scans.net.policy import Policy
from scans.net.targets import Target, parse_target
from scans.policy import scan_policy
from scans.queue import (
    BROWSER_QUEUE,
    MAX_ATTEMPTS,
    Worker,
    enqueue,
    next_in_turn,
    queue_of,
    take_turn,
    types_of,
    wait_in_line,
)
from scans.reachability import looking, refuse_unreachable
from scans.serializers import ScanDetailSerializer
from webhooks.events import record_scan_end

# Faults of the service, not of the site.
OWN_FAULTS = frozenset({"INTERNAL_ERROR", "SCAN_INTERRUPTED", "SCAN_NOT_STARTED"})
# They, and what never began, do not count.
BATCH = 1000
REFUNDED = OWN_FAULTS | {"SCAN_CANCELLED"}


class InvalidType(Refusal):
    code = "INVALID_TYPE"
    status = 400


class ScanNotFound(Refusal):
    code = "SCAN_NOT_FOUND"
    status = 404


class NotRequeued(Exception):
    """Why a scan can't be handed to the workers again; for operators."""


@dataclass(frozen=True, slots=True)
class Created:
    """The answer to a request for a scan; `replayed` when an Idempotency-Key had been seen before."""

    response: dict[str, Any]
    replayed: bool


@dataclass(frozen=True, slots=True)
class ScanClaim:
    """The right to run one attempt of a scan until the lease runs out."""

    scan_id: str
    token: uuid.UUID
    url: str
    type: ScanType


def create_scan(
    *, caller: Caller, url: object, type: object, idempotency_key: str | None, request: object = None
) -> Created:
    """Accept a scan, or raise the refusal that comes first in the order of decisions.md.

    With an Idempotency-Key everything happens under its lock and in one transaction, the reachability test too:
    a second request with the key is told to wait instead of being accepted twice. `request` is what the target is
    shown (`scans.net.credentials.parse`).
    """
    policy = scan_policy()
    target, scan_type, credentials = _parse(url, type, request, policy)
    if idempotency_key is None:
        return _create(caller, target, scan_type, credentials)
    digest = idempotency.digest_of({"url": url, "type": type})
    with transaction.atomic():
        idempotency.hold(caller.organization_id, idempotency_key)
        earlier = _replay(caller, idempotency_key, digest, credentials)
        if earlier is not None:
            return earlier
        created = _create(caller, target, scan_type, credentials)
        IdempotencyRecord.objects.update_or_create(
            organization_id=caller.organization_id,
            key=idempotency_key,
            defaults={
                "request_digest": digest,
                "scan_id": created.response["id"],
                "response": json.dumps(created.response),
                "created_at": timezone.now(),
            },
        )
        return created


def _parse(url: object, type: object, request: object, policy: Policy) -> tuple[Target, ScanType, Credentials | None]:
    blocked: Blocked | None = None
    target: Target | None = None
    try:
        target = parse_target(url, policy)
    except Blocked as refusal:
        blocked = refusal  # the body is judged whole before the blocklist speaks
    if type not in Scan.Type.values:
        raise InvalidType(f"type must be one of {', '.join(Scan.Type.values)}.")
    credentials = parse_credentials(request)
    if target is None:
        assert blocked is not None
        raise blocked
    return target, ScanType(str(type)), credentials


def _replay(caller: Caller, key: str, digest: str, credentials: Credentials | None) -> Created | None:
    record = (
        access.rows(IdempotencyRecord, caller.organization_id)
        .filter(key=key, created_at__gt=timezone.now() - idempotency.LIFETIME)
        .select_related("scan")
        .first()
    )
    if record is None:
        return None
    # Credentials are compared themselves: a digest in the database would let passwords be guessed.
    if record.request_digest != digest or record.scan.credentials != credentials:
        raise idempotency.IdempotencyMismatch("This Idempotency-Key was used with another body.")
    return Created(json.loads(record.response), replayed=True)


def running_scans(organization_id: int) -> int:
    """How many scans of the organization are queued or running: what its concurrency limit counts."""
    return access.rows(Scan, organization_id).unfinished().count()  # type: ignore[attr-defined]  # ScanQuerySet


def _create(caller: Caller, target: Target, scan_type: ScanType, credentials: Credentials | None) -> Created:
    _refuse_when_overloaded()
    now = timezone.now()

    running = functools.partial(running_scans, caller.organization_id)
    usage.refuse_when_exhausted(
        caller.organization_id, caller.limits, lambda: running() + looking(caller.organization_id), now
    )
    refuse_unreachable(target, caller.organization_id)
    with transaction.atomic():
        now = timezone.now()
        usage.reserve(caller.organization_id, running, now)
        scan = Scan.objects.create(
            organization_id=caller.organization_id,
            api_key_id=caller.key_id,
            created_by_id=caller.member.user_id if caller.member else None,
            type=scan_type,
            url=target.url,
            created_at=now,
            enqueued_at=now,
            period=usage.month_of(now),
            **sealed(credentials),
        )
        audit.record_by(caller.member, "scan.created", scan.url, scan=scan.id, type=str(scan.type))
        transaction.on_commit(lambda: enqueue(scan.id, scan_type))
    return Created(ScanDetailSerializer(scan).data, replayed=False)


def _refuse_when_overloaded() -> None:
    limit = settings.SCAN_QUEUE_LIMIT
    # Asks for the row after the last that may wait, instead of counting all.
    if Scan.objects.filter(status=Scan.Status.QUEUED)[limit : limit + 1].exists():
        raise ServiceUnavailable("Too many scans are waiting. Try again later.")
    if not redis_answers():
        raise ServiceUnavailable("The queue does not answer. Try again in a few seconds.")


def claim_next(scan_id: str, worker: Worker) -> ScanClaim | None:
    """Take the scan whose turn it is in the queue of the one that a message named; None when there is none."""
    named = Scan.objects.filter(id=scan_id).values_list("type", flat=True).first()
    if named is None:
        return None
    queue = queue_of(ScanType(named))
    with transaction.atomic():
        wait_in_line()
        while (found := next_in_turn(queue, worker)) is not None:
            next_id, organization_id = found
            claim = claim_scan(next_id, worker)
            if claim is not None:  # else it was cancelled at this moment
                take_turn(organization_id, queue)
                return claim
    return None


def claim_scan(scan_id: str, worker: Worker = Worker()) -> ScanClaim | None:  # noqa: B008  # it is frozen
    """Take the next attempt of a scan; None when it has ended, runs elsewhere, or does not exist."""
    token = uuid.uuid4()
    scans = Scan.objects.filter(id=scan_id, attempts__lt=MAX_ATTEMPTS)
    claimed = (scans.filter(status=Scan.Status.QUEUED) | scans.without_lease()).update(
        status=Scan.Status.SCANNING,
        attempts=F("attempts") + 1,
        claim_token=token,
        lease_expires_at=_lease(),
        started_at=Now(),
        worker=worker.name[:100],
    )
    if not claimed:
        return None
    url, scan_type = Scan.objects.values_list("url", "type").get(id=scan_id)
    return ScanClaim(scan_id, token, url, ScanType(scan_type))


def _lease() -> CombinedExpression:
    # PostgreSQL's clock: those of the workers' hosts may differ.
    return Now() + timedelta(seconds=settings.SCAN_LEASE_S)


def credentials_of(claim: ScanClaim, target: Target) -> OriginCredentials | None:
    """What the scan shows its target. Raises `CredentialsForgotten` and InvalidToken, as `Scan.credentials`."""
    scan = Scan.objects.filter(id=claim.scan_id).first()
    credentials = scan.credentials if scan is not None else None
    return OriginCredentials(target.origin, credentials) if credentials is not None else None


def forget_credentials(has_time: Callable[[], bool]) -> bool:
    """Drop those of scans whose reports are not retained any more; False when the time was not enough for all."""
    kept = Scan.objects.filter(encrypted_credentials__isnull=False)
    while has_time():
        old = kept.filter(created_at__lte=timezone.now() - timedelta(days=settings.REPORT_RETENTION_DAYS))
        ids = list(old.values_list("id", flat=True)[:BATCH])
        Scan.objects.filter(id__in=ids).update(encrypted_credentials=None)
        if len(ids) < BATCH:
            return True
    return False


def wake_next(claim: ScanClaim) -> None:
    """After a scan: let the place that it had go to what its organization's share kept from running."""
    if queue_of(claim.type) == BROWSER_QUEUE:
        waiting = Scan.objects.filter(status=Scan.Status.QUEUED, type__in=types_of(BROWSER_QUEUE))
        if next_id := waiting.filter(organization__scans=claim.scan_id).values_list("id", flat=True).first():
            enqueue(next_id, claim.type)


def renew_claim(claim: ScanClaim, progress: Progress) -> bool:
    """Write the progress and extend the lease; False when the claim was lost to another attempt."""
    renewed = Scan.objects.filter(id=claim.scan_id, claim_token=claim.token, status=Scan.Status.SCANNING).update(
        lease_expires_at=_lease(),
        # An earlier attempt may have come further; progress never goes back.
        percent=Greatest(F("percent"), min(progress.percent, 99)),
        phase="checking" if progress.phase == "done" else progress.phase,
        checks_done=Greatest(F("checks_done"), progress.checks_done),
        checks_total=progress.checks_total,
    )
    return bool(renewed)


def finish_scan(claim: ScanClaim, result: ScanResult) -> bool:
    """Write the end of a scan: status, report, event and deliveries, in one transaction.

    False when the claim was lost: then another attempt ends the scan, and nothing is written here.
    """
    with transaction.atomic():
        scan = (
            Scan.objects.select_for_update(no_key=True)
            .filter(id=claim.scan_id, claim_token=claim.token, status=Scan.Status.SCANNING)
            .first()
        )
        if scan is None:
            return False
        scan.status = Scan.Status(result.status)
        scan.score = result.score
        scan.grade = result.grade
        scan.skipped_checks = [{"name": skipped.name, "reason": skipped.reason} for skipped in result.skipped_checks]
        scan.checks_total = len(result.checks) + len(result.skipped_checks)
        scan.checks_done = len(result.checks)
        _end(scan, result.error)
        if result.error is None:
            Report.objects.create(**build_report(scan, result))
        record_scan_end(scan, findings=sum(1 for check in result.checks if check.status != "pass"))
    return True


def fail_scans(scans: QuerySet[Scan], error: ScanError) -> int:
    """End those of these scans that nobody holds at this moment as failed; how many there were."""
    ended = 0
    for scan_id in scans.values_list("id", flat=True)[:1000]:
        with transaction.atomic():
            scan = scans.select_for_update(no_key=True, skip_locked=True).filter(id=scan_id).first()
            if scan is not None:
                scan.status = Scan.Status.FAILED
                _end(scan, error)
                record_scan_end(scan, findings=0)
                ended += 1
    return ended


def _end(scan: Scan, error: ScanError | None) -> None:
    scan.completed_at = timezone.now()
    scan.percent, scan.phase = 100, "done"
    scan.claim_token = scan.lease_expires_at = None
    if error is not None:
        scan.error_code, scan.error_message = error.code, error.message
        if error.code in REFUNDED:
            usage.refund(scan.organization_id, scan.period)
    scan.save()


def cancel_scan(*, member: Membership, scan_id: str) -> bool:
    """End a scan that still waits: `failed` with the code SCAN_CANCELLED, and given back to the quota.

    False when it does not wait any more: then it goes on, or has ended. Raises ScanNotFound.
    """
    with transaction.atomic():
        rows = access.rows(Scan, member.organization_id).select_for_update(no_key=True)
        scan = rows.filter(id=scan_id).first() if is_id("scan", scan_id) else None
        if scan is None:
            raise ScanNotFound("There is no scan with this ID.")
        if scan.status != Scan.Status.QUEUED:
            return False
        scan.status = Scan.Status.FAILED
        message = f"Cancelled by {member.user.email} before it began. It does not count against your quota."
        _end(scan, ScanError("SCAN_CANCELLED", message))
        record_scan_end(scan, findings=0)
        audit.record_by(member, "scan.cancelled", scan.url, scan=scan.id, type=str(scan.type))
    return True


def requeue_scan(*, actor: User, scan_id: str) -> Scan:
    """Hand a scan to the workers again, for an operator; the scan that waits now. Raises NotRequeued.

    One that waits, or whose worker died, goes back itself and has all its attempts again. One that failed by our
    fault has ended, and its client has been told: a new scan takes its place, once, within the organization's limits.
    """
    with transaction.atomic():
        rows = Scan.objects.select_for_update(no_key=True, of=("self",)).select_related("organization")
        scan = rows.filter(id=scan_id).first()
        if scan is None:
            raise NotRequeued("It is not there any more.")
        now = timezone.now()
        died = Scan.objects.without_lease().filter(id=scan.id).exists()
        note: dict[str, str] = {"scan": scan.id, "type": str(scan.type)}
        if scan.status == Scan.Status.QUEUED or died:
            waiting = scan
            waiting.attempts, waiting.enqueued_at = 0, now
            waiting.save(update_fields=["attempts", "enqueued_at"])
        elif scan.error_code in OWN_FAULTS:
            waiting = _repeat(scan, now)
            note["new_scan"] = waiting.id
        elif scan.status == Scan.Status.SCANNING:
            raise NotRequeued("A worker is at it.")
        else:
            raise NotRequeued("It has ended, and not by our fault.")
        audit.record(scan.organization, actor, "scan.requeued", scan.url, **note)
        transaction.on_commit(lambda: enqueue(waiting.id, ScanType(waiting.type)))
    return waiting


def _repeat(failed: Scan, now: datetime) -> Scan:
    """A new scan of the same; the caller holds the failed one's lock, so that there is only one."""
    notes = access.rows(AuditEvent, failed.organization_id).filter(action="scan.requeued", details__scan=failed.id)
    if notes.filter(details__has_key="new_scan").exists():
        raise NotRequeued("A new scan has taken its place already.")
    try:
        usage.reserve(failed.organization_id, functools.partial(running_scans, failed.organization_id), now)
    except Refusal as refusal:
        raise NotRequeued(str(refusal)) from refusal
    columns = (*("organization_id", "api_key_id", "created_by_id", "type", "url"), *sealed(None))
    copied = {each: getattr(failed, each) for each in columns}
    return Scan.objects.create(**copied, created_at=now, enqueued_at=now, period=usage.month_of(now))
