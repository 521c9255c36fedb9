"""Helpers that run an audit in the test process, without a queue."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from scans.models import Scan
from scans.policy import scan_policy
from scans.tasks import run_scan
from sites.audits.requests import AuditRequest, targets_of
from sites.models import Audit, AuditPlace
from sites.tasks import discover_pages


def run_all_work(audit_id: str, after_visit: Callable[[int], None] = lambda _: None) -> Audit:
    """Run an audit's discovery and all its visits.

    After each visit, call `after_visit` with the visit count.
    """
    audit = Audit.objects.get(id=audit_id)
    if audit.status == Audit.Status.QUEUED:
        discover_pages(audit_id)
    visits = 0
    while (waiting := Scan.objects.visits().filter(status=Scan.Status.QUEUED).first()) is not None:
        run_scan(waiting.id)
        visits += 1
        after_visit(visits)
    audit.refresh_from_db()
    return audit


def pages_audit_request(pages: Sequence[str], **options: Any) -> AuditRequest:
    """Return a request for an audit of these pages."""
    return AuditRequest.of("pages", targets_of("pages", pages, scan_policy(), 1_000), 1_000, **options)


def list_places(audit: Audit, check: str) -> list[AuditPlace]:
    """Return an audit finding's places, most pages first."""
    places = AuditPlace.objects.filter(finding__audit=audit, finding__check_id=check)
    return list(places.order_by("-pages_affected", "id"))
