"""What a worker does with an audit, without a queue: its pages are found and looked at, one after the other."""

from __future__ import annotations

from collections.abc import Callable

from scans.models import Scan
from scans.tasks import run_scan
from sites.models import Audit, AuditFinding
from sites.tasks import discover_pages


def work_off(audit_id: str, after_visit: Callable[[int], None] = lambda _: None) -> Audit:
    """Do all that the audit waits for; `after_visit` is told how many pages have been looked at."""
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


def groups_of(audit: Audit, check: str) -> list[AuditFinding]:
    """What the audit says of a check, the largest group first."""
    return list(AuditFinding.objects.filter(audit=audit, check_id=check).order_by("-pages_affected", "id"))
