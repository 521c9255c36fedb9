"""Dispatch: creation of the scans of waiting pages, within the organization's limit. Waiting pages use no quota.

`dispatch_pages` is called wherever there may be room: when an audit is created, when a visit of one begins, when any
visit ends, and by the sweeper. An audit has few pages in the queue, however many slots its organization has.
Audits of several pages, and audits of monitors, leave the last slot of their organization to interactive scans.
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
AHEAD = 8

# `under_way + nth` gives audits with equally many pages under way one page each before any of them gets a second one.
# The audits of lists take turns as one audit: with their thousands, they would come before each page of another.
# Each audit's pages are read once: a condition that looks for other pages of the origin takes seconds for a thousand.
NEXT = """
    WITH organization AS (
        SELECT concurrent_scans AS places, concurrent_scans - (
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
    SELECT turn.id, audits.is_background, organization.places, organization.free
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
    """Dispatch waiting pages while the organization has free slots; return their number.

    One process at a time dispatches an organization's pages, so that a request never waits for more than one dispatch.
    Another process leaves its pages to that one, which looks again after its commit.
    """
    dispatched = 0
    while _next_pages(organization_id):
        batch = _dispatch_batch(organization_id)
        if batch is None:
            break
        dispatched += batch
    return dispatched


def fill_free_slot(*, organization_id: int, **_: object) -> None:
    """Dispatch waiting pages into a slot that a visit has freed. Receives `slot_freed`."""
    dispatch_pages(organization_id)


def _dispatch_batch(organization_id: int) -> int | None:
    """Dispatch the next pages in one transaction, and return their number; None if another process dispatches pages.

    All code that takes pages out of the state `waiting` holds the organization's lock: this function and
    `services.cancel_audit`.
    """
    with transaction.atomic():
        if not _is_only_dispatcher(organization_id):
            return None
        try:
            limits = usage.lock_limits(organization_id)
        except usage.OrganizationClosed:
            return None
        now = timezone.now()
        chosen = _next_pages(organization_id)
        found = AuditPage.objects.select_related("audit").in_bulk(chosen)
        pages = [found[each] for each in chosen if each in found]
        if not pages:
            return 0
        left = usage.quota(organization_id, limits, now).remaining
        batch = _affordable(pages, left) or pages[:1]
        try:
            usage.take(organization_id, limits, sum(len(page.audit.types) for page in batch), now)
        except usage.QuotaExceeded as refusal:
            _stop(batch[0].audit, refusal)
            return 0
        _dispatch(batch, now)
        return len(batch)


def _is_only_dispatcher(organization_id: int) -> bool:
    """Take the dispatch lock until the end of the transaction; return False if another process has the lock."""
    ((is_taken,),) = access.fetch_rows(TRY_LOCK, organization_id, lock=DISPATCH_LOCK)
    return bool(is_taken)


def _next_pages(organization_id: int) -> list[int]:
    """Return the IDs of the pages that may be dispatched now, in the order of their turns.

    Interactive audits are first, then the audit with the fewest pages under way, then the one with the longest wait.
    One page of each origin goes ahead and gathers the evidence that others share.
    """
    chosen: list[int] = []
    for page_id, is_background, places, free in access.fetch_rows(NEXT, organization_id, ahead=AHEAD):
        kept_free = 1 if is_background and places > 1 else 0  # for interactive scans
        if len(chosen) < free - kept_free:
            chosen.append(page_id)
    return chosen


def _affordable(pages: list[AuditPage], left: int) -> list[AuditPage]:
    """Return the first of these pages, as many as the rest of the month's quota is enough for."""
    needed = itertools.accumulate(len(page.audit.types) for page in pages)
    return [page for page, scans in zip(pages, needed, strict=True) if scans <= left]


def _dispatch(pages: list[AuditPage], now: datetime) -> None:
    """Create the scans of these pages: one statement for all, because each waits for the counters of scans."""
    waiting = AuditPage.objects.filter(id__in=[page.id for page in pages], status=AuditPage.Status.WAITING)
    if waiting.update(status=AuditPage.Status.RELEASED) != len(pages):
        raise RuntimeError("the organization's lock did not hold")
    # One after the other, so that they wait in the order of their turns.
    visits = [_scans_of(page, now + timedelta(microseconds=number)) for number, page in enumerate(pages)]
    Scan.objects.bulk_create([scan for scans in visits for scan in scans])
    # Lock order: the scans and their counters before the audit, as at the end of a visit.
    audits = Audit.objects.filter(id__in={page.audit_id for page in pages})
    audits.update(released_at=now, started_at=Coalesce(F("started_at"), now))
    # One message for each queue: a claim wakes the next one.
    for scan_type, lead_id in {
        queue_of(ScanType(lead.type)): (ScanType(lead.type), lead.id) for lead, *_ in visits
    }.values():
        transaction.on_commit(functools.partial(enqueue, lead_id, scan_type))


def _scans_of(page: AuditPage, now: datetime) -> list[Scan]:
    """Return the unsaved scans of a page, the leading one first."""
    audit = page.audit
    made = functools.partial(
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
        **_credentials_for(audit, page),
    )
    lead, *others = _led(audit.types)
    leading = made(type=lead, addresses=audit.addresses if _is_on_host(audit, page) else None)
    return [leading, *(made(type=each, lead=leading) for each in others)]


def _credentials_for(audit: Audit, page: AuditPage) -> dict[str, Any]:
    """Return a scan's columns for credentials, which are sent only to the origin of the audit's URL."""
    if not audit.url.startswith((f"{page.origin}/", f"{page.origin}?")):
        return {}
    return {"credential_names": audit.credential_names, "encrypted_credentials": audit.encrypted_credentials}


def _is_on_host(audit: Audit, page: AuditPage) -> bool:
    """Return True if the page is on the host and port of the audit's URL, whose addresses are known."""
    return page.origin.partition("://")[2] == host_and_port_of(audit.url)


def _led(types: list[str]) -> Iterator[str]:
    """Sort the types of a visit; a type that uses a browser leads, because it determines the queue."""
    return iter(sorted(types, key=lambda each: not ScanType(each).uses_browser))


def _stop(audit: Audit, refusal: Refusal) -> None:
    """Mark waiting pages as left out because the quota is used up; the audit ends with the pages scanned so far."""
    audit = Audit.objects.select_for_update(no_key=True).get(id=audit.id)
    left_out = AuditPage.objects.filter(audit=audit, status=AuditPage.Status.WAITING)
    count = left_out.update(status=AuditPage.Status.LEFT_OUT)
    audit.pages_planned -= count
    audit.error_code = refusal.code
    audit.error_message = f"{counted(count, 'page was', 'pages were')} not checked. {refusal}"
    end_if_done(audit)
    audit.save()
