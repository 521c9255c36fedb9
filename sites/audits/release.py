"""Pages of audits become scans when there is a place for them. Until then nothing is charged for them.

Whoever sees that a place may be free says so: who creates an audit, who ends a visit, and the sweeper. An audit of
several pages, and one of a monitor, leaves the last place of its organization to what somebody waits for.
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
    """Give the places that are free to the pages that wait for them; how many were given."""
    if not waiting_audits(organization_id).exists():  # what waits from now on says so itself
        return 0
    released = 0
    while _release_one(organization_id):
        released += 1
    return released


def give_place(*, organization_id: int, **_: object) -> None:
    """Give the place that a visit has left to a page that waits for one. Receives `place_freed`."""
    release_pages(organization_id)


def waiting_audits(organization_id: int) -> QuerySet[Audit]:
    """Those that wait for a place, in the order of their turns: fewest visits running, then longest without one."""
    waiting = AuditPage.objects.filter(audit=OuterRef("pk"), status=AuditPage.Status.WAITING)
    audits = access.rows(Audit, organization_id).filter(Exists(waiting), status=Audit.Status.RUNNING)
    released = AuditPage.objects.filter(audit=OuterRef("pk"), status=AuditPage.Status.RELEASED).order_by()
    under_way = Coalesce(Subquery(released.values("audit").annotate(number=Count("*")).values("number")), 0)
    turn = (F("released_at").asc(nulls_first=True), "created_at", "id")
    return audits.annotate(under_way=under_way).order_by("under_way", *turn)


def _release_one(organization_id: int) -> bool:
    """Release the next page, in one transaction; False when none may be.

    The organization's lock is held by whoever lets pages wait no longer: here, and in `services.cancel_audit`.
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
                continue  # its origin is being looked at for the first time
            try:
                usage.take(organization_id, limits, len(audit.types), now)
            except usage.QuotaExceeded as refusal:
                _stop(audit, refusal)
                return True
            _release(audit, page, now)
            return True
    return False


def _next_page(audit: Audit) -> AuditPage | None:
    """The first that waits; of each origin one goes ahead, and gathers what the others share."""
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
    # After the scans, as who ends a visit locks them and their counters before the audit.
    Audit.objects.filter(id=audit.id).update(released_at=now, started_at=audit.started_at or now)
    transaction.on_commit(lambda: enqueue(leading.id, ScanType(lead)))


def _credentials_for(audit: Audit, page: AuditPage) -> dict[str, Any]:
    """The columns of a scan: nothing is shown to another origin than that of the audit."""
    if not audit.url.startswith((f"{page.origin}/", f"{page.origin}?")):
        return {}
    return {"credential_names": audit.credential_names, "encrypted_credentials": audit.encrypted_credentials}


def _led(types: list[str]) -> Iterator[str]:
    """The types of a visit; one that uses a browser leads, since it says in which queue they wait."""
    return iter(sorted(types, key=lambda each: not ScanType(each).uses_browser))


def _stop(audit: Audit, refusal: Refusal) -> None:
    """Leave out what has no place any more: the audit ends with what was looked at."""
    audit = Audit.objects.select_for_update(no_key=True).get(id=audit.id)
    left_out = AuditPage.objects.filter(audit=audit, status=AuditPage.Status.WAITING)
    count = left_out.update(status=AuditPage.Status.LEFT_OUT)
    audit.pages_planned -= count
    audit.error_code = refusal.code
    left_out_pages = "1 page was" if count == 1 else f"{count} pages were"
    audit.error_message = f"{left_out_pages} not checked. {refusal}"
    end_if_done(audit)
    audit.save()
