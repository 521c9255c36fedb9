"""Validate the Idempotency-Key header, digest the request body, and lock keys in use."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from django.db import connection
from msgspec import Struct

from infrastructure.api.errors import InvalidParams
from website_scan.errors import Refusal

MAX_KEY_LENGTH = 255
LIFETIME = timedelta(hours=24)


class IdempotencyMismatch(Refusal):
    code = "IDEMPOTENCY_MISMATCH"
    status = 422


class IdempotencyConflict(Refusal):
    code = "IDEMPOTENCY_CONFLICT"
    status = 409


class Once(Struct, frozen=True):
    """An Idempotency-Key and its request body's digest, which excludes credentials."""

    key: str
    digest: str


def once(key: str | None, body: Mapping[str, Any]) -> Once | None:
    """Return the key with the body's digest, or None without a key. The body must not contain credentials."""
    return None if key is None else Once(key, digest_of(body))


def key_of(headers: Mapping[str, str]) -> str | None:
    """Return the Idempotency-Key header, or None if the request has none. Raises `InvalidParams` if it is invalid."""
    key = headers.get("Idempotency-Key")
    if key is None:
        return None
    if not key or len(key) > MAX_KEY_LENGTH or "\x00" in key:
        raise InvalidParams(f"Idempotency-Key must have 1 to {MAX_KEY_LENGTH} characters.")
    return key


def digest_of(body: Mapping[str, Any]) -> str:
    """Return the body's SHA-256 digest. The order of its keys does not matter."""
    canonical = json.dumps(body, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode("utf-8", "surrogatepass")).hexdigest()


def hold(organization_id: int, key: str) -> None:
    """Lock an Idempotency-Key until the transaction ends. Raises `IdempotencyConflict` if another request has the lock.

    PostgreSQL releases the advisory lock when the process dies, so no key stays "in progress" for ever.
    """
    digest = hashlib.sha256(f"{organization_id}:{key}".encode("utf-8", "surrogatepass")).digest()
    lock_id = int.from_bytes(digest[:8], "big", signed=True)
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(%s)", [lock_id])
        (is_locked,) = cursor.fetchone()
    if not is_locked:
        raise IdempotencyConflict("A request with this Idempotency-Key is still in progress.")
