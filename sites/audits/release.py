"""Release of audits' waiting pages as scans, within the organization's concurrency limit. Waiting pages use no quota.

`release_pages` is called wherever a slot may be free: when an audit is created, when a visit ends, and by the sweeper.
Audits of several pages, and audits of monitors, leave the last slot of their organization to interactive scans.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Count, Exists, F, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.utils import timezone

from accounts import access, usage
from scanner.errors import Refusal
from scanner.findings import ScanType
from scans.models import Scan
from scans.visits.queue import enqueue, running_visits
from sites.audits.settling import end_if_done
from sites.models import Audit, AuditPage


def release_pages(organization_id: int) -> int:
    """Release waiting pages while the organization has free slots; return their number."""
    if not waiting_audits(organization_id).exists():  # an audit created after this query calls this function itself
        return 0
    released = 0
    while _release_one(organization_id):
        released += 1
    return released


def give_place(*, organization_id: int, **_: object) -> None:
    """Release a waiting page into the slot that a visit has freed. Receives `place_freed`."""
    release_pages(organization_id)


def waiting_audits(organization_id: int) -> QuerySet[Audit]:
    """Return the audits with waiting pages, in the order of their turns: fewest running visits, then longest wait."""
    waiting = AuditPage.objects.filter(audit=OuterRef("pk"), status=AuditPage.Status.WAITING)
    audits = access.rows(Audit, organization_id).filter(Exists(waiting), status=Audit.Status.RUNNING)
    released = AuditPage.objects.filter(audit=OuterRef("pk"), status=AuditPage.Status.RELEASED).order_by()
    under_way = Coalesce(Subquery(released.values("audit").annotate(number=Count("*")).values("number")), 0)
    turn = (F("released_at").asc(nulls_first=True), "created_at", "id")
    return audits.annotate(under_way=under_way).order_by("under_way", *turn)


def _release_one(organization_id: int) -> bool:
    """Release the next page, in one transaction; return False if none may be released.

    All code that takes pages out of the state `waiting` holds the organization's lock: this function and
    `services.cancel_audit`.
    """
    with transaction.atomic():
        try:
            limits = usage.lock_limits(organization_id)
        except usage.OrganizationClosed:
            return False
        now = timezone.now()
        running = running_visits(organization_id)
        for audit in waiting_audits(organization_id):
            kept_free = 1 if audit.is_background and limits.concurrent_scans > 1 else 0
            if running >= limits.concurrent_scans - kept_free:
                continue
            page = _next_page(audit)
            if page is None:
                continue  # the first page of its origin is still being scanned
            try:
                usage.take(organization_id, limits, len(audit.types), now)
            except usage.QuotaExceeded as refusal:
                _stop(audit, refusal)
                return True
            _release(audit, page, now)
            return True
    return False


def _next_page(audit: Audit) -> AuditPage | None:
    """Return the first waiting page. One page of each origin goes ahead and gathers the evidence that others share."""
    pages = AuditPage.objects.filter(audit=audit)
    same = pages.filter(origin=OuterRef("origin"))
    ahead = Exists(same.filter(status=AuditPage.Status.RELEASED))
    known = Exists(same.filter(status__in=(AuditPage.Status.DONE, AuditPage.Status.FAILED)))
    return pages.filter(~ahead | known, status=AuditPage.Status.WAITING).order_by("position").first()


def _release(audit: Audit, page: AuditPage, now: datetime) -> None:
    changed = AuditPage.objects.filter(id=page.id, status=AuditPage.Status.WAITING)
    if not changed.update(status=AuditPage.Status.RELEASED):
        raise RuntimeError("the organization's lock did not hold")
    lead, *others = _led(audit.types)
    made = functools.partial(
        Scan,
        organization_id=audit.organization_id,
        api_key_id=audit.api_key_id,
        created_by_id=audit.created_by_id,
        url=page.url,
        audit_page=page,
        is_background=audit.is_background,
        created_at=now,
        enqueued_at=now,
        period=usage.month_of(now),
        kept_days=audit.kept_days,
        request_id=audit.request_id,
        **_credentials_for(audit, page),
    )
    leading = made(type=lead)
    Scan.objects.bulk_create([leading, *(made(type=each, lead=leading) for each in others)])
    # Lock order: the scans and their counters before the audit, as at the end of a visit.
    Audit.objects.filter(id=audit.id).update(released_at=now, started_at=audit.started_at or now)
    transaction.on_commit(lambda: enqueue(leading.id, ScanType(lead)))


def _credentials_for(audit: Audit, page: AuditPage) -> dict[str, Any]:
    """Return a scan's columns for credentials, which are sent only to the origin of the audit's URL."""
    if not audit.url.startswith((f"{page.origin}/", f"{page.origin}?")):
        return {}
    return {"credential_names": audit.credential_names, "encrypted_credentials": audit.encrypted_credentials}


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
    left_out_pages = "1 page was" if count == 1 else f"{count} pages were"
    audit.error_message = f"{left_out_pages} not checked. {refusal}"
    end_if_done(audit)
    audit.save()
