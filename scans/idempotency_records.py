"""Stored first responses to requests with an Idempotency-Key."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar

from django.db import transaction
from django.utils import timezone

from accounts import access
from infrastructure.api import idempotency
from scans.models import IdempotencyRecord
from website_scan.net.credentials import Credentials

Document = TypeVar("Document", bound=Mapping[str, object])


@dataclass(frozen=True, slots=True)
class Created(Generic[Document]):
    """Response to a request that creates something; `replayed` if its Idempotency-Key was seen before."""

    response: Document
    replayed: bool = False

    def headers(self, collection: str) -> dict[str, str]:
        """Return the headers of the API's response; `collection` is the path of the new object's collection."""
        location = {"Location": f"{collection}/{self.response['id']}"}
        return location | ({"Idempotent-Replayed": "true"} if self.replayed else {})


def created_once(
    organization_id: int,
    once: idempotency.Once | None,
    credentials: Credentials | None,
    create: Callable[[], Document],
    kind: Literal["scan", "audit", "monitor", "site_list"],
) -> Created[Document]:
    """Return the response of `create`, or the first response to a known key of `once`. Raises the refusals of `create`,
    IdempotencyConflict and IdempotencyMismatch.

    With a key everything happens under its lock and in one transaction: a second request with it is told to wait
    instead of being accepted twice. Credentials are no part of the digest and are compared separately.
    """
    if once is None:
        return Created(create())
    with transaction.atomic():
        idempotency.hold(organization_id, once.key)
        earlier = _find(organization_id, once, credentials)
        if earlier is not None:
            return Created(earlier, replayed=True)
        answer = create()
        _keep(organization_id, once, answer, **{f"{kind}_id": str(answer["id"])})
        return Created(answer)


def _find(organization_id: int, once: idempotency.Once, credentials: Credentials | None) -> Any:
    """Return the first response to a request with this key, or None. Raises IdempotencyMismatch.

    Credentials are compared in plain text: a digest of them in the database would allow guessing passwords.
    """
    records = access.rows(IdempotencyRecord, organization_id)
    recent = records.filter(key=once.key, created_at__gt=timezone.now() - idempotency.LIFETIME)
    record = recent.select_related("scan", "audit", "monitor", "site_list").first()
    if record is None:
        return None
    made = record.scan or record.audit or record.monitor or record.site_list
    given = made.credentials if made is not None else None
    if record.request_digest != once.digest or given != credentials:
        raise idempotency.IdempotencyMismatch("This Idempotency-Key was used with another body.")
    return json.loads(record.response)


def _keep(organization_id: int, once: idempotency.Once, answer: Mapping[str, object], **made: str) -> None:
    """Store the response and the ID of the created object, such as `scan_id`."""
    IdempotencyRecord.objects.update_or_create(
        organization_id=organization_id,
        key=once.key,
        defaults={
            "request_digest": once.digest,
            "scan_id": made.get("scan_id"),
            "audit_id": made.get("audit_id"),
            "monitor_id": made.get("monitor_id"),
            "site_list_id": made.get("site_list_id"),
            "response": json.dumps(answer),
            "created_at": timezone.now(),
        },
    )
