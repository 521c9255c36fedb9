"""Retention of scans, credentials and idempotency records.

Scans are unlimited unless the tier limits them.
"""

from __future__ import annotations

from functools import partial

from django.utils import timezone

from accounts import access
from accounts.retention import owners_with_expired_rows
from infrastructure.api import idempotency
from infrastructure.postgresql.deletion import delete_with_references
from infrastructure.retention import HasTime, Retention, always
from scans import credentials
from scans.models import IdempotencyRecord, Scan


def delete_scans(has_time: HasTime = always) -> bool:
    """Delete scans that are older than the retention period of their organization's tier, with related rows.

    Scans of an audit are deleted together with the audit. Unfinished scans are not deleted. Triggers update the
    counters.
    """
    for organization_id, before in owners_with_expired_rows(Scan, "scans_kept_days", "created_at"):
        ended = access.rows(Scan, int(organization_id)).filter(status__in=sorted(Scan.FINAL), audit_page=None)
        if not delete_with_references(ended.filter(created_at__lt=before), has_time):
            return False
    return True


def delete_idempotency_records(has_time: HasTime = always) -> bool:
    """Delete idempotency records older than 24 hours."""
    expired = IdempotencyRecord.objects.filter(created_at__lt=timezone.now() - idempotency.LIFETIME)
    return delete_with_references(expired, has_time)


RETENTION = (
    Retention("credentials of scans", partial(credentials.forget, Scan)),
    Retention("scans", delete_scans),
    Retention("idempotency records", delete_idempotency_records),
)
