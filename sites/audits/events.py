"""Webhook events `audit.completed` and `audit.failed`."""

from __future__ import annotations

from sites.audits.schemas import AuditEventData
from sites.models import Audit
from webhooks import events
from webhooks.models import EventKind


def record_audit_end(*, audit: Audit, **_: object) -> None:
    """Record the webhook event of a finished audit.

    Receives the signal `audit_ended`.

    Audits of monitors and lists have no event: a monitor sends only changes, and a list sends its runs. A cancelled
    audit has none either, because the person who cancelled it already knows.
    """
    if audit.run_of or audit.status == Audit.Status.CANCELLED:
        return
    assert audit.completed_at is not None
    kind = EventKind.AUDIT_FAILED if audit.status == Audit.Status.FAILED else EventKind.AUDIT_COMPLETED
    events.record(
        kind,
        audit.organization_id,
        audit.completed_at,
        lambda: audit_data(audit),
        request_id=audit.request_id,
        audit=audit,
    )


def audit_data(audit: Audit) -> AuditEventData:
    """Return the field `data` of a webhook delivery about an audit (docs/audits.md)."""
    data: AuditEventData = {
        "audit_id": audit.id,
        "target": audit.url,
        "types": list(audit.types),
        "status": str(audit.status),
        "pages": {"planned": audit.pages_planned, "done": audit.pages_done, "failed": audit.pages_failed},
        "results": audit.scores,
        "audit_url": audit.audit_url,
    }
    if audit.error_code:
        data["error"] = {"code": audit.error_code, "message": audit.error_message}
    return data
