"""Services of audits: create, discover pages, cancel. Every step is one transaction."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.db.models import Count, F, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce, Now
from django.utils import timezone

from accounts import access, activity, usage
from accounts.authentication import Caller
from accounts.models import Organization
from infrastructure import queue
from infrastructure.api.idempotency import Once
from infrastructure.leases import Lease
from infrastructure.logging import request_id
from scans.idempotency_records import Created, created_once
from scans.models import Scan, credential_columns
from scans.reachability import refuse_unreachable
from scans.visits.claims import fail_queued_visits, send_scan_ended
from scans.visits.overload import SHARE_OF_AUDITS, refuse_when_overloaded
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
# Maximum number of an organization's unfinished audits for each of its slots: more would only wait.
UNFINISHED_PER_SLOT = 5
# Discovery uses no quota, so it has a rate limit of its own, which cancelling does not lift.
SITES_PER_HOUR_AND_PLACE = 10
CANCELLED = ScanError(
    "SCAN_CANCELLED", "The audit was cancelled before it started. It does not count against your quota."
)


class AuditNotComplete(Refusal):
    code = "AUDIT_NOT_COMPLETE"
    status = 409


class AuditLimit(Refusal):
    """Refusal because the organization has the maximum number of unfinished or recent audits."""

    code = "CONCURRENT_LIMIT"
    status = 429


@dataclass(frozen=True, slots=True)
class DiscoveryClaim:
    """Claim of a worker to an audit's discovery until the lease runs out."""

    audit_id: str
    token: uuid.UUID


def create_audit(*, caller: Caller, request: AuditRequest, once: Once | None = None) -> Created[AuditJson]:
    """Create an audit, or raise the first refusal, in the order of `scans.services.create_scan`."""
    created = created_once(caller.organization_id, once, request.credentials, lambda: _create(caller, request), "audit")
    if created.replayed:
        return created
    # Separate transactions, each of which locks only the rows of one visit.
    dispatch_pages(caller.organization_id)
    return created


def _create(caller: Caller, request: AuditRequest) -> AuditJson:
    refuse_when_overloaded(request.types, SHARE_OF_AUDITS)
    now = timezone.now()
    known = 1 if request.kind == Audit.Kind.SITE else len(request.targets)
    usage.refuse_beyond_quota(caller.organization_id, caller.limits, known * len(request.types), now)
    addresses = None
    if request.kind != Audit.Kind.PAGES:
        addresses = refuse_unreachable(request.targets[0], caller.organization_id)
    with transaction.atomic():
        organization = usage.lock(caller.organization_id)
        _refuse_too_many(organization, request.kind)
        audit = insert_audit(
            organization,
            request,
            addresses=addresses,
            api_key_id=caller.key_id,
            created_by_id=caller.member.user_id if caller.member else None,
            **credential_columns(request.credentials),
        )
        activity.record_call(caller, "audit.created", audit.url, audit=audit.id, kind=str(audit.kind))
    return audit_json_of(audit)


def insert_audit(organization: Organization, request: AuditRequest, **columns: Any) -> Audit:
    """Insert an accepted audit with its pages, or enqueue its discovery; the caller has locked the organization."""
    now = timezone.now()
    audit = Audit.objects.create(
        organization=organization,
        kind=request.kind,
        url=request.targets[0].url,
        types=[str(each) for each in request.types],
        discover=list(request.discover),
        include=list(request.include),
        exclude=list(request.exclude),
        max_pages=request.max_pages,
        shared_at=now if organization.shares_reports else None,
        created_at=now,
        kept_days=organization.tier.reports_kept_days,
        request_id=request_id(),
        **columns,
    )
    if request.kind == Audit.Kind.SITE:
        transaction.on_commit(lambda: enqueue_discovery(audit.id))
    else:
        add_pages(audit, [(each.url, each.origin) for each in request.targets])
        audit.save()
    return audit


def _refuse_too_many(organization: Organization, kind: str) -> None:
    places = organization.tier.concurrent_scans
    audits = access.rows(Audit, organization.id)
    if audits.unfinished().count() >= (most := UNFINISHED_PER_SLOT * places):  # type: ignore[attr-defined]  # AuditQuerySet
        raise AuditLimit(f"{most} audits are in progress, which is the most your plan allows at once.")
    if kind == Audit.Kind.SITE and has_enough_sites(organization):
        most = SITES_PER_HOUR_AND_PLACE * places
        raise AuditLimit(f"{most} site audits were requested within an hour, which is the most your plan allows.")


def has_enough_sites(organization: Organization) -> bool:
    """Return True if the organization, with those that share its limits, has used up an hour's audits of sites."""
    return sites_left(organization) <= 0


def sites_left(organization: Organization, share: float = 1) -> int:
    """Return how many audits of sites are left of an hour's number, or of a share of it; may be negative.

    Discoveries use no quota: those that failed or were cancelled count as well.
    """
    sites = Audit.objects.filter(organization__in=usage.sharing_limits(organization), kind=Audit.Kind.SITE)
    lately = sites.filter(created_at__gt=timezone.now() - timedelta(hours=1))
    return int(SITES_PER_HOUR_AND_PLACE * organization.tier.concurrent_scans * share) - lately.count()


def add_pages(audit: Audit, pages: Sequence[tuple[str, str]]) -> None:
    """Add waiting pages, given as URL and origin, to an audit; the caller saves the audit."""
    AuditPage.objects.bulk_create(
        AuditPage(audit=audit, position=position, url=url, origin=origin[:300])
        for position, (url, origin) in enumerate(pages)
    )
    audit.status = Audit.Status.RUNNING
    audit.pages_planned = len(pages)
    audit.pages_found = max(audit.pages_found, len(pages))


def find_audit(organization_id: int, audit_id: str) -> Audit:
    """Return an audit. Raises NotFound (unknown, another organization's, or expired)."""
    audit = AUDIT.find(organization_id, audit_id)
    if not audit.is_kept:
        raise AUDIT.not_found()
    return audit


def find_ended_audit(organization_id: int, audit_id: str) -> Audit:
    """Return a finished audit. Raises NotFound, or AuditNotComplete while the audit is in progress."""
    audit = find_audit(organization_id, audit_id)
    if not audit.is_final:
        raise AuditNotComplete("The audit is still in progress. Poll it until it has ended, or cancel it.")
    return audit


def cancel_audit(*, caller: Caller, audit_id: str) -> Audit:
    """Cancel an audit: running visits go on and count, waiting ones do not start. A finished audit does not change.

    All of it is one transaction, so that nothing begins and no counter of a waiting page changes after the response.
    Raises NotFound.
    """
    with transaction.atomic():
        usage.lock(caller.organization_id)  # no page of the audit is released meanwhile
        audit = find_audit(caller.organization_id, audit_id)
        if audit.is_final:
            return audit
        # Lock order: the scans and their counters before the audit, as at the end of a visit.
        ended = fail_queued_visits(Scan.objects.filter(audit_page__audit=audit_id), CANCELLED)
        audit = Audit.objects.select_for_update(no_key=True).get(id=audit_id)
        if not audit.is_final:
            cancel(audit)
            activity.record_call(caller, "audit.cancelled", audit.url, audit=audit.id)
        send_scan_ended(ended)
    audit.refresh_from_db()
    return audit


def cancel(audit: Audit) -> None:
    """Mark the waiting pages as left out and the audit as cancelled; the caller holds the audit's lock."""
    left_out = AuditPage.objects.filter(audit=audit, status=AuditPage.Status.WAITING)
    audit.pages_planned -= left_out.update(status=AuditPage.Status.LEFT_OUT)
    audit.status = Audit.Status.CANCELLED
    audit.completed_at = timezone.now()
    audit.release()
    audit.save()
    audit_ended.send(Audit, audit=audit)


def enqueue_discovery(audit_id: str) -> None:
    """Send the workers a message that a discovery waits. If the queue refuses it, the sweeper sends it again."""
    queue.enqueue("sites.tasks.discover_pages", audit_id)


def waiting_discoveries() -> QuerySet[Audit]:
    """Return audits of sites whose discovery no worker has claimed, or whose worker died."""
    unclaimed = Q(status=Audit.Status.QUEUED) | Q(DISCOVERY_LEASE.run_out, status=Audit.Status.DISCOVERING)
    return Audit.objects.filter(unclaimed, kind=Audit.Kind.SITE, attempts__lt=MAX_ATTEMPTS)


def claim_discovery(worker: Worker) -> DiscoveryClaim | None:
    """Claim the discovery of the audit whose turn it is; None if there is none, or no slot for it.

    The organization with the fewest running discoveries is next, with its oldest audit. At most half of a worker's
    slots, but at least one, run discoveries: the others are for scans. One organization may use half of that half.
    """
    token = uuid.uuid4()
    with transaction.atomic():
        acquire_turn_lock()  # so that each worker sees the claims of the others
        under_way = Audit.objects.filter(DISCOVERY_LEASE.held, status=Audit.Status.DISCOVERING)
        here = under_way.filter(worker=worker.name[:100])
        if worker.name and here.count() >= max(1, worker.places // 2):
            return None
        same = under_way.filter(organization=OuterRef("organization")).order_by().values("organization")
        share = Coalesce(Subquery(same.annotate(number=Count("*")).values("number")), 0)
        waiting = waiting_discoveries().annotate(share=share).order_by("share", "created_at", "id")
        if worker.name:
            waiting = waiting.filter(share__lt=max(1, worker.places // 4))
        chosen = waiting.values_list("id", flat=True).first()
        claimed = (
            waiting_discoveries()
            .filter(id=chosen)
            .update(
                status=Audit.Status.DISCOVERING,
                attempts=F("attempts") + 1,
                **DISCOVERY_LEASE.taken(token),
                started_at=Now(),
                worker=worker.name[:100],
            )
        )
    return DiscoveryClaim(chosen, token) if chosen and claimed else None


def wake_next_discovery() -> None:
    """Wake a waiting discovery after one has ended: there may have been no slot when its message came."""
    for audit_id in waiting_discoveries().order_by("created_at").values_list("id", flat=True)[:1]:
        enqueue_discovery(audit_id)


def renew_discovery(claim: DiscoveryClaim, found: int) -> bool:
    """Renew the lease and write the number of pages found so far; return False if the claim was lost."""
    held = Audit.objects.filter(id=claim.audit_id, claim_token=claim.token, status=Audit.Status.DISCOVERING)
    return bool(held.update(**DISCOVERY_LEASE.renewed(), pages_found=found))


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
    """Write the found pages, as URL and origin; without any the audit fails. Return False if the claim was lost."""
    with transaction.atomic():
        held = Audit.objects.select_for_update(no_key=True).filter(id=claim.audit_id, claim_token=claim.token)
        audit = held.filter(status=Audit.Status.DISCOVERING).first()
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
    """End an audit without pages as failed; the caller holds its lock and has set the error."""
    audit.status = Audit.Status.RUNNING
    end_if_done(audit)
