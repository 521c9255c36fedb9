"""Services that create, cancel and requeue scans.

Each service runs in one transaction.
"""

from __future__ import annotations

import functools
from datetime import datetime

from django.db import transaction
from django.utils import timezone

from accounts import access, activity, usage
from accounts.access import Resource
from accounts.authentication import Caller
from accounts.models import ActivityEvent, Membership, User
from infrastructure.api.idempotency import Once
from infrastructure.logging import request_id
from scans.idempotency_records import Created, created_once
from scans.models import Scan, credential_columns, stored_categories, stored_requirements, stored_viewing
from scans.own_requirements import requirements_of_scan
from scans.reachability import refuse_unreachable, running_tests
from scans.requests import ScanRequest
from scans.schemas import ScanDetail, scan_detail_of
from scans.visits.claims import fail_visit
from scans.visits.ending import SERVICE_ERRORS
from scans.visits.overload import refuse_when_overloaded
from scans.visits.queue import enqueue, queue_of, running_visits
from website_scan.errors import Refusal
from website_scan.findings import ScanType
from website_scan.result import ScanError

SCAN = Resource(Scan, "scan", "scan")


class NotRequeued(Exception):
    """Raised when a scan cannot be requeued.

    The message tells operators the reason.
    """


def create_scan(*, caller: Caller, request: ScanRequest, once: Once | None = None) -> Created[ScanDetail]:
    """Create a scan.

    Raises a Refusal if the service is overloaded, the quota is used up, or the site is unreachable.

    With `once`, everything including the reachability test happens under a lock and in one transaction. A second
    request with the same key gets IdempotencyConflict instead of creating a second scan.
    """
    return created_once(
        caller.organization_id, once, request.credentials, lambda: _create_scan(caller, request), "scan"
    )


def _create_scan(caller: Caller, request: ScanRequest) -> ScanDetail:
    refuse_when_overloaded([request.type])
    now = timezone.now()

    running = functools.partial(running_visits, caller.organization_id)
    usage.refuse_when_exhausted(
        caller.organization_id, caller.limits, lambda: running() + running_tests(caller.organization_id), now
    )
    addresses = refuse_unreachable(request.target, caller.organization_id)
    with transaction.atomic():
        now = timezone.now()
        usage.reserve(caller.organization_id, running, now)
        scan = Scan.objects.create(
            organization_id=caller.organization_id,
            api_key_id=caller.key_id,
            created_by_id=caller.member.user_id if caller.member else None,
            type=request.type,
            url=request.target.url,
            created_at=now,
            enqueued_at=now,
            period=usage.month_of(now),
            kept_days=caller.limits.reports_kept_days,
            addresses=addresses,
            request_id=request_id(),
            viewing=stored_viewing(request.viewing),
            requirements=stored_requirements(request.requirements),
            categories=stored_categories(request.categories),
            **credential_columns(request.credentials),
        )
        activity.record_by_caller(caller, "scan.created", scan.url, scan=scan.id, type=str(scan.type))
        transaction.on_commit(lambda: enqueue(scan.id, queue_of(request.type)))
    return scan_detail_of(scan)


def cancel_scan(*, member: Membership, scan_id: str) -> bool:
    """Cancel a queued scan with all scans of its visit, and refund them.

    The scans end with the status `failed` and the code SCAN_CANCELLED. Returns False if the scan is running or has
    ended. Raises NotFound.
    """
    with transaction.atomic():
        rows = access.rows(Scan, member.organization_id)
        scan = SCAN.find_in_rows(rows.only("id", "lead_id"), scan_id)
        lead = rows.select_for_update(no_key=True).get(id=scan.lead_id or scan.id)
        if lead.status != Scan.Status.QUEUED:
            return False
        message = f"Cancelled by {member.user.email} before it started. It does not count against your quota."
        for scan in fail_visit(Scan.objects.of_visit(lead.id), ScanError("SCAN_CANCELLED", message)):
            activity.record_by_member(member, "scan.cancelled", scan.url, scan=scan.id, type=str(scan.type))
    return True


def requeue_scan(*, actor: User, scan_id: str) -> Scan:
    """Requeue a scan for an operator and return the queued scan.

    Raises NotRequeued. A queued scan, or a scan whose worker died, is requeued itself, with all its attempts. A scan
    that failed through the service's fault has ended, and its client was notified. So a new scan replaces it, within
    the organization's limits.
    """
    with transaction.atomic():
        ids = Scan.objects.filter(id=scan_id).values_list("id", "lead_id").first()
        if ids is None:
            raise NotRequeued("It no longer exists.")
        # This order of locking the visit's scans prevents deadlocks.
        list(Scan.objects.of_visit(ids[1] or ids[0]).locked())
        scan = Scan.objects.select_related("organization", "lead").get(id=scan_id)
        now = timezone.now()
        lead = scan.lead or scan
        if scan.is_of_journey and scan.is_final:
            raise NotRequeued("It belongs to a run of a journey. Start another run.")
        is_abandoned = Scan.objects.without_lease().filter(id=lead.id).exists()
        details: dict[str, str] = {"scan": scan.id, "type": str(scan.type)}
        if scan.status == Scan.Status.QUEUED or is_abandoned:
            queued_scan = lead
            queued_scan.attempts, queued_scan.enqueued_at = 0, now
            queued_scan.save(update_fields=["attempts", "enqueued_at"])
        elif scan.error_code in SERVICE_ERRORS:
            queued_scan = _create_replacement(scan, now)
            details["new_scan"] = queued_scan.id
        elif scan.status == Scan.Status.SCANNING:
            raise NotRequeued("A worker is processing it.")
        else:
            raise NotRequeued("It has ended, and not because of an error on our side.")
        activity.record(scan.organization, actor, "scan.requeued", scan.url, **details)
        queue = queue_of(ScanType(queued_scan.type), is_of_journey=queued_scan.is_of_journey)
        transaction.on_commit(lambda: enqueue(queued_scan.id, queue))
    return queued_scan


def _create_replacement(failed: Scan, now: datetime) -> Scan:
    """Create a new scan that replaces a failed scan.

    The caller has locked the failed scan, so only one replacement is created.
    """
    requeue_entries = access.rows(ActivityEvent, failed.organization_id).filter(
        action="scan.requeued", details__scan=failed.id
    )
    if requeue_entries.filter(details__has_key="new_scan").exists():
        raise NotRequeued("A new scan has already replaced it.")
    try:
        usage.reserve(failed.organization_id, functools.partial(running_visits, failed.organization_id), now)
    except Refusal as refusal:
        raise NotRequeued(str(refusal)) from refusal
    columns = (
        *("organization_id", "api_key_id", "created_by_id", "type", "url", "kept_days", "viewing", "categories"),
        *credential_columns(None),
    )
    values = {column: getattr(failed, column) for column in columns}
    period = usage.month_of(now)
    return Scan.objects.create(
        **values,
        requirements=stored_requirements(requirements_of_scan(failed.id)),
        created_at=now,
        enqueued_at=now,
        period=period,
        request_id=request_id(),
    )
