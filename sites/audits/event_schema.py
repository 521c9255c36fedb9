"""OpenAPI descriptions of audit webhook events."""

from __future__ import annotations

from sites.audits.schemas import AuditEvent
from webhooks.event_schema import described
from webhooks.models import EventKind

AUDIT_COMPLETED = described(EventKind.AUDIT_COMPLETED, AuditEvent)
AUDIT_FAILED = described(EventKind.AUDIT_FAILED, AuditEvent)
