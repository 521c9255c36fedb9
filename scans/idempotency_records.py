"""Idempotency of POST requests.

A repeated request with the same Idempotency-Key gets the stored response.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Generic, Literal, TypeVar

from django.db import transaction
from django.utils import timezone
from msgspec import Struct

from accounts import access
from infrastructure.api import idempotency
from scans.models import IdempotencyRecord
from website_scan.net.credentials import Credentials

Document = TypeVar("Document", bound=Mapping[str, object])


class Created(Struct, Generic[Document], frozen=True):
    """Response to a request that creates an object.

    `replayed` is True for a stored response.
    """

    response: Document
    replayed: bool = False

    def headers(self, collection: str) -> dict[str, str]:
        """Return the response headers.

        `collection` is the URL path to which the new object's ID is appended.
        """
        location = {"Location": f"{collection}/{self.response['id']}"}
        return location | ({"Idempotent-Replayed": "true"} if self.replayed else {})


def created_once(
    organization_id: int,
    once: idempotency.Once | None,
    credentials: Credentials | None,
    create: Callable[[], Document],
    kind: Literal["scan", "audit", "monitor", "site_list"] | None,
) -> Created[Document]:
    """Return the response of `create`, or the stored response to an earlier request with the same key.

    Raises the refusals of `create`, IdempotencyConflict and IdempotencyMismatch. With a key, everything happens under a
    lock and in one transaction: a second request with the same key gets IdempotencyConflict instead of creating a
    second object. Credentials are not part of the request's digest and are compared separately. `kind` is None for
    objects without credentials; their stored response outlives them.
    """
    if once is None:
        return Created(create())
    with transaction.atomic():
        idempotency.hold(organization_id, once.key)
        stored_response = _find_stored_response(organization_id, once, credentials)
        if stored_response is not None:
            return Created(stored_response, replayed=True)
        response = create()
        _store_response(organization_id, once, response, **({f"{kind}_id": str(response["id"])} if kind else {}))
        return Created(response)


def _find_stored_response(organization_id: int, once: idempotency.Once, credentials: Credentials | None) -> Any:
    """Return the stored response for this idempotency key, or None.

    Raises IdempotencyMismatch.

    Credentials are compared in plain text, because a digest in the database would allow guessing passwords.
    """
    records = access.rows(IdempotencyRecord, organization_id)
    recent = records.filter(key=once.key, created_at__gt=timezone.now() - idempotency.LIFETIME)
    record = recent.select_related("scan", "audit", "monitor", "site_list").first()
    if record is None:
        return None
    created_object = record.scan or record.audit or record.monitor or record.site_list
    stored_credentials = created_object.credentials if created_object is not None else None
    if record.request_digest != once.digest or stored_credentials != credentials:
        raise idempotency.IdempotencyMismatch("This Idempotency-Key was used with another body.")
    return json.loads(record.response)


def _store_response(
    organization_id: int, once: idempotency.Once, response: Mapping[str, object], **created_ids: str
) -> None:
    """Store the response and the ID of the created object, such as `scan_id`, for repeated requests."""
    IdempotencyRecord.objects.update_or_create(
        organization_id=organization_id,
        key=once.key,
        defaults={
            "request_digest": once.digest,
            "scan_id": created_ids.get("scan_id"),
            "audit_id": created_ids.get("audit_id"),
            "monitor_id": created_ids.get("monitor_id"),
            "site_list_id": created_ids.get("site_list_id"),
            "response": json.dumps(response),
            "created_at": timezone.now(),
        },
    )
