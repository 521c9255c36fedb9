"""Secrets and signatures. Pure: bytes in, strings out."""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets

SECRET_PREFIX = "whsec_"  # noqa: S105  (a prefix, not a secret)
SECRET_BYTES = 32


def new_secret() -> str:
    """A fresh secret: `whsec_` and the standard base64 of 32 random bytes."""
    return SECRET_PREFIX + base64.b64encode(secrets.token_bytes(SECRET_BYTES)).decode()


def signature_headers(*, secret: str, event_id: str, timestamp_s: int, body: bytes) -> dict[str, str]:
    """The headers that authenticate a delivery.

    `X-Service-Signature` is HMAC-SHA256 over the body, keyed with the whole secret string. The other three
    are the Standard Webhooks 1.0 set, keyed with the bytes behind the prefix. `timestamp_s` is Unix time.
    """
    own = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    key = base64.b64decode(secret.removeprefix(SECRET_PREFIX))
    signed = b".".join((event_id.encode(), str(timestamp_s).encode(), body))
    standard = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    return {
        "X-Service-Signature": f"sha256={own}",
        "webhook-id": event_id,
        "webhook-timestamp": str(timestamp_s),
        "webhook-signature": f"v1,{standard}",
    }
