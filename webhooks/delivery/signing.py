"""Secrets and signatures of webhooks.

Pure functions.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
from collections.abc import Sequence

SECRET_PREFIX = "whsec_"  # noqa: S105 -- This is a prefix, not a secret.
SECRET_BYTES = 32


def new_secret() -> str:
    """Return a new secret.

    It is `whsec_` and the standard base64 of 32 random bytes.
    """
    return SECRET_PREFIX + base64.b64encode(secrets.token_bytes(SECRET_BYTES)).decode()


def signature_headers(*, valid: Sequence[str], event_id: str, timestamp_s: int, body: bytes) -> dict[str, str]:
    """Return the HTTP headers that authenticate a delivery.

    `valid` are the webhook's valid secrets, oldest first; there are several after a rotation. `X-Service-Signature` is
    the HMAC-SHA256 of the body, keyed with the whole string of the oldest secret. The other three headers are those of
    Standard Webhooks 1.0, with one signature for each secret, keyed with the decoded bytes after the prefix.
    `timestamp_s` is Unix time.
    """
    body_signature = hmac.new(valid[0].encode(), body, hashlib.sha256).hexdigest()
    signed = b".".join((event_id.encode(), str(timestamp_s).encode(), body))
    return {
        "X-Service-Signature": f"sha256={body_signature}",
        "webhook-id": event_id,
        "webhook-timestamp": str(timestamp_s),
        "webhook-signature": " ".join(f"v1,{_standard_signature(secret, signed)}" for secret in valid),
    }


def _standard_signature(secret: str, signed: bytes) -> str:
    key = base64.b64decode(secret.removeprefix(SECRET_PREFIX))
    return base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
