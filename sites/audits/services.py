"""Services that create, discover and cancel audits.

Each service runs in one transaction.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.db.models import Count, F, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce, Now
from django.utils import timezone
from msgspec import Struct

from accounts import access, activity, usage
from accounts.authentication import Caller
from accounts.models import Organization
from infrastructure import queue
from infrastructure.api.idempotency import Once
from infrastructure.leases import Lease
from infrastructure.logging import request_id
from scans.idempotency_records import Created, created_once
from scans.models import Scan, credential_columns, stored_categories, stored_requirements, stored_viewing
from scans.reachability import refuse_unreachable
from scans.visits.claims import fail_queued_visits, send_scan_ended
from scans.visits.overload import AUDIT_SHARE_OF_WAIT_LIMIT, refuse_when_overloaded
from scans.visits.queue import Worker, acquire_turn_lock
from sites.audits.dispatch import dispatch_pages
from sites.audits.requests import AuditRequest
from sites.audits.schemas import AuditJson, audit_json_of
from sites.audits.settling import end_if_done
from sites.models import Audit, AuditPage
from sites.resources import AUDIT
from sites.signals import audit_ended
from website_scan.errors import Refusal
from website_scan.result import ScanError

DISCOVERY_LEASE = Lease(timedelta(seconds=60))
MAX_ATTEMPTS = 3
# Number of unfinished audits that an organization may have for each of its slots. More audits would only wait.
MAX_UNFINISHED_AUDITS_PER_SLOT = 5
# Discovery uses no quota, so it needs a separate rate limit. Cancelled audits count as well.
SITE_AUDITS_PER_HOUR_AND_SLOT = 10
CANCELLED = ScanError(
    "SCAN_CANCELLED", "The audit was cancelled before it started. It does not count against your quota."
)


class AuditNotComplete(Refusal):
    code = "AUDIT_NOT_COMPLETE"
    status = 409


class AuditLimit(Refusal):
    """Raised when the organization has the maximum number of unfinished or recent audits."""

    code = "CONCURRENT_LIMIT"
    status = 429


class DiscoveryClaim(Struct, frozen=True):
    """Exclusive right of a worker to discover an audit's pages, until the lease expires."""

    audit_id: str
    token: uuid.UUID


def create_audit(*, caller: Caller, request: AuditRequest, once: Once | None = None) -> Created[AuditJson]:
    """Create an audit and dispatch its first pages.

    Raises the first refusal, in the same order as `scans.services.create_scan`.
    """
    created = created_once(
        caller.organization_id, once, request.credentials, lambda: _create_within_limits(caller, request), "audit"
    )
    if created.replayed:
        return created
    # Dispatch runs in separate transactions, so that each one locks only the rows of one visit.
    dispatch_pages(caller.organization_id)
    return created


def _create_within_limits(caller: Caller, request: AuditRequest) -> AuditJson:
    refuse_when_overloaded(request.types, AUDIT_SHARE_OF_WAIT_LIMIT)
    now = timezone.now()
    min_pages = 1 if request.kind == Audit.Kind.SITE else len(request.targets)
    usage.refuse_beyond_quota(caller.organization_id, caller.limits, min_pages * len(request.types), now)
    addresses = None
    if request.kind != Audit.Kind.PAGES:
        addresses = refuse_unreachable(request.targets[0], caller.organization_id)
    with transaction.atomic():
        organization = usage.lock(caller.organization_id)
        refuse_over_audit_limits(organization, request.kind)
        audit = insert_audit(
            organization,
            request,
            addresses=addresses,
            api_key_id=caller.key_id,
            created_by_id=caller.member.user_id if caller.member else None,
            **credential_columns(request.credentials),
        )
        activity.record_by_caller(caller, "audit.created", audit.url, audit=audit.id, kind=str(audit.kind))
    return audit_json_of(audit)


def insert_audit(organization: Organization, request: AuditRequest, **columns: Any) -> Audit:
    """Insert an audit with its pages, or enqueue its discovery.

    `columns` are further columns, which may replace those that follow from the organization. The caller must have
    locked the organization.
    """
    now = timezone.now()
    of_organization: dict[str, Any] = {
        "shared_at": now if organization.shares_reports else None,
        "kept_days": organization.tier.reports_kept_days,
    }
    audit = Audit.objects.create(
        organization=organization,
        kind=request.kind,
        url=request.targets[0].url,
        types=[str(scan_type) for scan_type in request.types],
        discover=list(request.discover),
        include=list(request.include),
        exclude=list(request.exclude),
        max_pages=request.max_pages,
        viewing=stored_viewing(request.viewing),
        requirements=stored_requirements(request.requirements),
        categories=stored_categories(request.categories),
        created_at=now,
        request_id=request_id(),
        **{**of_organization, **columns},
    )
    if request.kind == Audit.Kind.SITE:
        transaction.on_commit(lambda: enqueue_discovery(audit.id))
    else:
        add_pages(audit, [(target.url, target.origin) for target in request.targets])
        audit.save()
    return audit


def refuse_over_audit_limits(organization: Organization, kind: str) -> None:
    """Raise AuditLimit if the organization has as many audits as its plan allows at once. The caller has locked it."""
    slots = organization.tier.concurrent_scans
    audits = access.rows(Audit, organization.id)
    if audits.unfinished().count() >= (limit := MAX_UNFINISHED_AUDITS_PER_SLOT * slots):  # type: ignore[attr-defined]  # AuditQuerySet
        raise AuditLimit(f"{limit} audits are in progress, which is the most your plan allows at once.")
    if kind == Audit.Kind.SITE and is_over_site_audit_limit(organization):
        limit = SITE_AUDITS_PER_HOUR_AND_SLOT * slots
        raise AuditLimit(f"{limit} site audits were requested within an hour, which is the most your plan allows.")


def is_over_site_audit_limit(organization: Organization) -> bool:
    """Return True if the organization may start no more site audits this hour.

    Organizations that share its limits are counted as well.
    """
    return remaining_site_audits(organization) <= 0


def remaining_site_audits(organization: Organization, share: float = 1) -> int:
    """Return how many more site audits the organization may start this hour.

    Negative if over the limit.

    `share` is the usable fraction of the hourly limit. Failed and cancelled audits count, because discovery uses no
    quota.
    """
    sites = Audit.objects.filter(organization__in=usage.sharing_limits(organization), kind=Audit.Kind.SITE)
    lately = sites.filter(created_at__gt=timezone.now() - timedelta(hours=1))
    return int(SITE_AUDITS_PER_HOUR_AND_SLOT * organization.tier.concurrent_scans * share) - lately.count()


def add_pages(audit: Audit, pages: Sequence[tuple[str, str]]) -> None:
    """Add waiting pages, as (URL, origin) pairs, to an audit.

    The caller must save the audit.
    """
    AuditPage.objects.bulk_create(
        AuditPage(audit=audit, position=position, url=url, origin=origin[:300])
        for position, (url, origin) in enumerate(pages)
    )
    audit.status = Audit.Status.RUNNING
    audit.pages_planned = len(pages)
    audit.pages_found = max(audit.pages_found, len(pages))


def find_audit(organization_id: int, audit_id: str) -> Audit:
    """Return an audit of the organization.

    Raises NotFound if the ID is unknown or the audit has expired.
    """
    audit = AUDIT.find(organization_id, audit_id)
    if not audit.is_kept:
        raise AUDIT.not_found()
    return audit


def find_ended_audit(organization_id: int, audit_id: str) -> Audit:
    """Return a finished audit of the organization.

    Raises NotFound, or AuditNotComplete for a running audit.
    """
    audit = find_audit(organization_id, audit_id)
    if not audit.is_final:
        raise AuditNotComplete("The audit is still in progress. Poll it until it has ended, or cancel it.")
    return audit


def cancel_audit(*, caller: Caller, audit_id: str) -> Audit:
    """Cancel an audit.

    Waiting visits do not start. Running visits continue and count. A finished audit does not change. One transaction
    cancels all waiting pages, so that no visit starts after the response. Raises NotFound.
    """
    with transaction.atomic():
        # The organization's lock prevents a concurrent dispatch of the audit's pages.
        usage.lock(caller.organization_id)
        audit = find_audit(caller.organization_id, audit_id)
        if audit.is_final:
            return audit
        # Lock order: the scans and their counters before the audit, as at the end of a visit.
        ended = fail_queued_visits(Scan.objects.filter(audit_page__audit=audit_id), CANCELLED)
        audit = Audit.objects.select_for_update(no_key=True).get(id=audit_id)
        if not audit.is_final:
            cancel(audit)
            activity.record_by_caller(caller, "audit.cancelled", audit.url, audit=audit.id)
        send_scan_ended(ended)
    audit.refresh_from_db()
    return audit


def cancel(audit: Audit) -> None:
    """Mark an audit as cancelled and its waiting pages as left out.

    The caller must have locked the audit.
    """
    waiting_pages = AuditPage.objects.filter(audit=audit, status=AuditPage.Status.WAITING)
    audit.pages_planned -= waiting_pages.update(status=AuditPage.Status.LEFT_OUT)
    audit.status = Audit.Status.CANCELLED
    audit.completed_at = timezone.now()
    audit.release()
    audit.save()
    audit_ended.send(Audit, audit=audit)


def enqueue_discovery(audit_id: str) -> None:
    """Enqueue the discovery of an audit's pages.

    If the queue is down, the sweeper enqueues the task later.
    """
    queue.enqueue("sites.tasks.discover_pages", audit_id)


def waiting_discoveries() -> QuerySet[Audit]:
    """Return site audits whose discovery no worker has claimed, or whose worker's lease has expired."""
    unclaimed = Q(status=Audit.Status.QUEUED) | Q(DISCOVERY_LEASE.run_out, status=Audit.Status.DISCOVERING)
    return Audit.objects.filter(unclaimed, kind=Audit.Kind.SITE, attempts__lt=MAX_ATTEMPTS)


def claim_discovery(worker: Worker) -> DiscoveryClaim | None:
    """Claim the next audit that waits for discovery.

    Returns None if no audit waits or no slot is free. The organization with the fewest running discoveries is next,
    with its oldest audit. At most half of a worker's slots, but at least one, run discoveries: the others are for
    scans. One organization may use half of these slots.
    """
    token = uuid.uuid4()
    with transaction.atomic():
        # The lock makes claims of other workers visible to the counts below.
        acquire_turn_lock()
        running = Audit.objects.filter(DISCOVERY_LEASE.held, status=Audit.Status.DISCOVERING)
        running_on_worker = running.filter(worker=worker.name[:100])
        if worker.name and running_on_worker.count() >= max(1, worker.places // 2):
            return None
        running_of_organization = (
            running.filter(organization=OuterRef("organization")).order_by().values("organization")
        )
        share = Coalesce(Subquery(running_of_organization.annotate(number=Count("*")).values("number")), 0)
        waiting = waiting_discoveries().annotate(share=share).order_by("share", "created_at", "id")
        if worker.name:
            waiting = waiting.filter(share__lt=max(1, worker.places // 4))
        audit_id = waiting.values_list("id", flat=True).first()
        claimed = (
            waiting_discoveries()
            .filter(id=audit_id)
            .update(
                status=Audit.Status.DISCOVERING,
                attempts=F("attempts") + 1,
                **DISCOVERY_LEASE.taken(token),
                started_at=Now(),
                worker=worker.name[:100],
            )
        )
    return DiscoveryClaim(audit_id, token) if audit_id and claimed else None


def wake_next_discovery() -> None:
    """Enqueue the oldest waiting discovery again, because no slot may have been free when its message arrived."""
    for audit_id in waiting_discoveries().order_by("created_at").values_list("id", flat=True)[:1]:
        enqueue_discovery(audit_id)


def renew_discovery(claim: DiscoveryClaim, found: int) -> bool:
    """Renew the lease and store the number of pages found so far.

    Returns False if the claim was lost.
    """
    claimed_audit = Audit.objects.filter(id=claim.audit_id, claim_token=claim.token, status=Audit.Status.DISCOVERING)
    return bool(claimed_audit.update(**DISCOVERY_LEASE.renewed(), pages_found=found))


def finish_discovery(
    claim: DiscoveryClaim,
    pages: Sequence[tuple[str, str]],
    *,
    found: int,
    notes: Sequence[str],
    error: ScanError | None,
    spare_pages: Sequence[str] = (),
    follows_links: bool = False,
) -> bool:
    """Store the discovered pages as (URL, origin) pairs, or fail the audit if no page was discovered.

    Return False if the claim was lost.
    """
    with transaction.atomic():
        claimed_audit = Audit.objects.select_for_update(no_key=True).filter(id=claim.audit_id, claim_token=claim.token)
        audit = claimed_audit.filter(status=Audit.Status.DISCOVERING).first()
        if audit is None:
            return False
        audit.release()
        audit.notes = list(notes)
        audit.spare_pages = list(spare_pages)
        audit.follows_links = follows_links
        audit.pages_found = found
        if error is not None:
            audit.error_code, audit.error_message = error.code, error.message
        if pages:
            add_pages(audit, pages)
            audit.save()
        else:
            fail_audit(audit)
    dispatch_pages(audit.organization_id)
    return True


def fail_audit(audit: Audit) -> None:
    """End an audit without pages as failed.

    The caller must have locked the audit and set its error.
    """
    audit.status = Audit.Status.RUNNING
    end_if_done(audit)
