"""Dispatch of the waiting pages of audits.

The scans of a page are created when the organization has free slots. Waiting pages use no quota. `dispatch_pages` is
called whenever a slot may be free: when an audit is created, when a visit of an audit begins, when any visit ends, and
by the sweeper. An audit has few pages in the queue, however many slots its organization has. Audits of several pages,
and audits of monitors, leave the last slot of their organization to interactive scans.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import F
from django.db.models.functions import Coalesce
from django.utils import timezone

from accounts import access, usage
from scans.models import Scan
from scans.visits.queue import enqueue, queue_of
from sites.audits.settling import end_if_done
from sites.models import Audit, AuditPage
from website_scan.errors import Refusal
from website_scan.findings import ScanType
from website_scan.messages import counted
from website_scan.urls import host_and_port_of

DISPATCH_LOCK = 0x70616765
TRY_LOCK = "SELECT pg_try_advisory_xact_lock(%(lock)s::int, (%(organization)s %% 2147483647)::int)"
# Maximum number of pages of an audit in the queue, and in one batch. The next pages are dispatched when workers have
# claimed half of them, so that workers never wait for a dispatch, and an audit can be cancelled at once.
MAX_QUEUED_PAGES = 8

# Sorting by `under_way + nth` gives each audit one page before any audit gets a second page.
# All audits of lists take turns as if they were one audit, because thousands of them would delay all others.
# A window function reads the pages of an audit once. A subquery per origin would take seconds for a thousand pages.
NEXT = """
    WITH organization AS (
        SELECT concurrent_scans AS slots, concurrent_scans - (
            SELECT count(*) FROM scans_scan
            WHERE organization_id = %(organization)s AND status IN ('queued', 'scanning') AND lead_id IS NULL
        ) AS free
        FROM accounts_tier WHERE name = (
            SELECT tier_id FROM accounts_organization WHERE id = %(organization)s AND closed_at IS NULL
        )
    ), queued AS (
        SELECT page.audit_id, count(*) AS pages
        FROM scans_scan AS scan JOIN sites_auditpage AS page ON page.id = scan.audit_page_id
        WHERE scan.organization_id = %(organization)s AND scan.status = 'queued' AND scan.lead_id IS NULL
        GROUP BY page.audit_id
    ), audits AS (
        SELECT audit.*, audit.run_of <> '' OR audit.kind <> 'page' AS is_background,
            coalesce(queued.pages, 0) AS queued,
            (
                SELECT count(*) FROM sites_auditpage AS page WHERE page.audit_id = audit.id AND page.status = 'released'
            ) AS under_way
        FROM sites_audit AS audit LEFT JOIN queued ON queued.audit_id = audit.id
        WHERE audit.organization_id = %(organization)s AND audit.status = 'running'
    )
    SELECT turn.id, audits.is_background, organization.slots, organization.free
    FROM organization JOIN audits ON organization.free > 0 AND audits.queued <= %(ahead)s / 2
    CROSS JOIN LATERAL (
        SELECT page.id, row_number() OVER (ORDER BY page.position) AS nth
        FROM (
            SELECT id, position, status,
                bool_or(status IN ('done', 'failed')) OVER same_origin AS is_known,
                bool_or(status = 'released') OVER same_origin AS is_ahead,
                min(position) FILTER (WHERE status = 'waiting') OVER same_origin AS first
            FROM sites_auditpage WHERE audit_id = audits.id
            WINDOW same_origin AS (PARTITION BY origin COLLATE "C")
        ) AS page
        WHERE page.status = 'waiting' AND (page.is_known OR NOT page.is_ahead AND page.position = page.first)
        ORDER BY page.position LIMIT greatest(%(ahead)s - audits.queued, 0)
    ) AS turn
    ORDER BY audits.is_background, CASE WHEN audits.run_of = 'list'
            THEN (SELECT sum(under_way) FROM audits WHERE run_of = 'list') + row_number() OVER (
                PARTITION BY audits.run_of
                ORDER BY audits.under_way + turn.nth, audits.released_at NULLS FIRST, audits.created_at, audits.id
            )
            ELSE audits.under_way + turn.nth
        END, audits.released_at NULLS FIRST, audits.created_at, audits.id
    LIMIT %(ahead)s
"""


def dispatch_pages(organization_id: int) -> int:
    """Dispatch waiting pages while the organization has free slots, and return their number.

    One process at a time dispatches an organization's pages, so that a request never waits for more than one dispatch.
    A second process leaves its pages to the first one, which queries the waiting pages again after its commit.
    """
    dispatched = 0
    while _next_pages(organization_id):
        batch = _dispatch_batch(organization_id)
        if batch is None:
            break
        dispatched += batch
    return dispatched


def fill_free_slot(*, organization_id: int, **_: object) -> None:
    """Dispatch a waiting page when a visit has ended and freed its slot.

    Receives the signal `slot_freed`.
    """
    dispatch_pages(organization_id)


def _dispatch_batch(organization_id: int) -> int | None:
    """Dispatch the next pages in one transaction and return their number.

    Returns None if another process dispatches pages. All code that takes pages out of the state `waiting` holds the
    organization's lock: this function and `services.cancel_audit`.
    """
    with transaction.atomic():
        if not _try_dispatch_lock(organization_id):
            return None
        try:
            limits = usage.lock_limits(organization_id)
        except usage.OrganizationClosed:
            return None
        now = timezone.now()
        page_ids = _next_pages(organization_id)
        pages_by_id = AuditPage.objects.select_related("audit").in_bulk(page_ids)
        pages = [pages_by_id[page_id] for page_id in page_ids if page_id in pages_by_id]
        if not pages:
            return 0
        remaining_quota = usage.quota(organization_id, limits, now).remaining
        batch = _pages_within_quota(pages, remaining_quota) or pages[:1]
        try:
            # A dry run of a journey needs no quota.
            if scans := sum(map(_reserved_scans, batch)):
                usage.take(organization_id, limits, scans, now)
        except usage.QuotaExceeded as refusal:
            _stop_audit(batch[0].audit, refusal)
            return 0
        _create_scans(batch, now)
        return len(batch)


def _try_dispatch_lock(organization_id: int) -> bool:
    """Lock dispatch until the end of the transaction.

    Returns False if another process has the advisory lock.
    """
    ((is_locked,),) = access.fetch_rows(TRY_LOCK, organization_id, lock=DISPATCH_LOCK)
    return bool(is_locked)


def _next_pages(organization_id: int) -> list[int]:
    """Return the IDs of the pages to dispatch now, in dispatch order.

    Interactive audits are first, then the audit with the fewest running pages, then the one with the longest wait.
    One page of each origin is scanned first and gathers the evidence that the other pages share.
    """
    page_ids: list[int] = []
    for page_id, is_background, slots, free_slots in access.fetch_rows(NEXT, organization_id, ahead=MAX_QUEUED_PAGES):
        slots_for_interactive = 1 if is_background and slots > 1 else 0
        if len(page_ids) < free_slots - slots_for_interactive:
            page_ids.append(page_id)
    return page_ids


def _pages_within_quota(pages: list[AuditPage], remaining_quota: int) -> list[AuditPage]:
    """Return as many of the first pages as the month's remaining quota allows."""
    needed = itertools.accumulate(map(_reserved_scans, pages))
    return [page for page, scans in zip(pages, needed, strict=True) if scans <= remaining_quota]


def _reserved_scans(page: AuditPage) -> int:
    """Return how many scans the visit of a page takes from the quota. Unused ones are refunded at its end."""
    return len(page.audit.types) * page.audit.states_planned


def _create_scans(pages: list[AuditPage], now: datetime) -> None:
    """Create the scans of the pages with one INSERT, because each INSERT waits for the locked scan counters."""
    waiting = AuditPage.objects.filter(id__in=[page.id for page in pages], status=AuditPage.Status.WAITING)
    if waiting.update(status=AuditPage.Status.RELEASED) != len(pages):
        raise RuntimeError("the organization's lock did not hold")
    # Creation times differ by a microsecond, because workers claim scans in the order of creation.
    visits = [_new_scans(page, now + timedelta(microseconds=number)) for number, page in enumerate(pages)]
    Scan.objects.bulk_create([scan for scans in visits for scan in scans])
    # Lock order: the scans and their counters before the audit, as at the end of a visit.
    audits = Audit.objects.filter(id__in={page.audit_id for page in pages})
    audits.update(released_at=now, started_at=Coalesce(F("started_at"), now))
    # One message per queue is enough, because each claim wakes the next scan.
    leads = {queue_of(ScanType(lead.type), is_of_journey=lead.is_of_journey): lead.id for lead, *_ in visits}
    for queue, lead_id in leads.items():
        transaction.on_commit(functools.partial(enqueue, lead_id, queue))


def _new_scans(page: AuditPage, now: datetime) -> list[Scan]:
    """Return the unsaved scans of a page, the lead scan first."""
    audit = page.audit
    new_scan = functools.partial(
        Scan,
        organization_id=audit.organization_id,
        api_key_id=audit.api_key_id,
        created_by_id=audit.created_by_id,
        url=page.url,
        audit_page=page,
        is_background=audit.is_background,
        is_of_list=audit.run_of == Audit.RunOf.LIST,
        created_at=now,
        enqueued_at=now,
        period=usage.month_of(now),
        kept_days=audit.kept_days,
        request_id=audit.request_id,
        viewing=audit.viewing,
        is_of_journey=audit.kind == Audit.Kind.JOURNEY,
        reserved_scans=audit.states_planned,
        **_credentials_for(audit, page),
    )
    # The visit of a dry run needs a scan, although the audit has no types.
    lead_type, *other_types = _types_with_lead_first(audit.types or [ScanType.ACCESSIBILITY])
    lead_scan = new_scan(type=lead_type, addresses=audit.addresses if _is_on_host(audit, page) else None)
    scans = [lead_scan, *(new_scan(type=scan_type, lead=lead_scan) for scan_type in other_types)]
    for scan in scans:
        if scan.type == Scan.Type.SECURITY:
            scan.categories = audit.categories
    return scans


def _credentials_for(audit: Audit, page: AuditPage) -> dict[str, Any]:
    """Return the credential columns of a scan.

    They are empty for other origins, which must not get the credentials.
    """
    if not audit.url.startswith((f"{page.origin}/", f"{page.origin}?")):
        return {}
    return {"credential_names": audit.credential_names, "encrypted_credentials": audit.encrypted_credentials}


def _is_on_host(audit: Audit, page: AuditPage) -> bool:
    """Return True if the page has the host and port of the audit's URL, whose IP addresses are known."""
    return page.origin.partition("://")[2] == host_and_port_of(audit.url)


def _types_with_lead_first(types: list[str]) -> Iterator[str]:
    """Yield the scan types of a visit, browser types first.

    The first type is that of the lead scan, which determines the queue.
    """
    return iter(sorted(types, key=lambda scan_type: not ScanType(scan_type).uses_browser))


def _stop_audit(audit: Audit, refusal: Refusal) -> None:
    """Leave out the waiting pages because the quota is used up.

    The audit ends with the pages scanned so far.
    """
    audit = Audit.objects.select_for_update(no_key=True).get(id=audit.id)
    waiting_pages = AuditPage.objects.filter(audit=audit, status=AuditPage.Status.WAITING)
    count = waiting_pages.update(status=AuditPage.Status.LEFT_OUT)
    audit.pages_planned -= count
    audit.error_code = refusal.code
    audit.error_message = f"{counted(count, 'page was', 'pages were')} not checked. {refusal}"
    end_if_done(audit)
    audit.save()
