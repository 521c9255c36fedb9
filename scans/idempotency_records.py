"""The first answers to requests with an Idempotency-Key, while they are remembered."""

from __future__ import annotations

import json
from typing import Any

from django.utils import timezone

from accounts import access
from config.api import idempotency
from scans.models import IdempotencyRecord
from scans.net.credentials import Credentials


def find(organization_id: int, key: str, digest: str, credentials: Credentials | None = None) -> dict[str, Any] | None:
    """The first answer to a request with this key, None where there was none; raises IdempotencyMismatch.

    Credentials are compared themselves: a digest of them in the database would let passwords be guessed.
    """
    records = access.rows(IdempotencyRecord, organization_id)
    recent = records.filter(key=key, created_at__gt=timezone.now() - idempotency.LIFETIME)
    record = recent.select_related("scan", "audit").first()
    if record is None:
        return None
    made = record.scan or record.audit
    given = made.credentials if made is not None else None
    if record.request_digest != digest or given != credentials:
        raise idempotency.IdempotencyMismatch("This Idempotency-Key was used with another body.")
    answer: dict[str, Any] = json.loads(record.response)
    return answer


def keep(organization_id: int, key: str, digest: str, answer: dict[str, Any], **made: str) -> None:
    """Remember the answer, and what was made: a `scan_id` or an `audit_id`."""
    IdempotencyRecord.objects.update_or_create(
        organization_id=organization_id,
        key=key,
        defaults={
            "request_digest": digest,
            "scan_id": made.get("scan_id"),
            "audit_id": made.get("audit_id"),
            "response": json.dumps(answer),
            "created_at": timezone.now(),
        },
    )
