"""Tests that receivers can verify signatures.

They use the library `standardwebhooks`.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import time

import pytest
from standardwebhooks.webhooks import Webhook, WebhookVerificationError

from webhooks.delivery.signing import new_secret, signature_headers

BODY = '{"event":"scan.completed","data":{"grade":"Ä"}}'.encode()


def signed_headers(*valid: str, body: bytes = BODY, timestamp_s: int | None = None) -> dict[str, str]:
    now = int(time.time()) if timestamp_s is None else timestamp_s
    return signature_headers(valid=valid, event_id="evt_1", timestamp_s=now, body=body)


def body_signature(secret: str) -> str:
    return "sha256=" + hmac.new(secret.encode(), BODY, hashlib.sha256).hexdigest()


def test_library_verifies_the_signature() -> None:
    secret = new_secret()
    headers = signed_headers(secret)
    assert Webhook(secret).verify(BODY, headers)["event"] == "scan.completed"
    assert headers["X-Service-Signature"] == body_signature(secret)


def test_library_refuses_a_changed_message() -> None:
    secret = new_secret()
    for body, headers, key in [
        (BODY + b" ", signed_headers(secret), secret),
        (BODY, signed_headers(secret) | {"webhook-id": "evt_2"}, secret),
        (BODY, signed_headers(secret), new_secret()),
        (BODY, signed_headers(secret, timestamp_s=int(time.time()) - 600), secret),
    ]:
        with pytest.raises(WebhookVerificationError):
            Webhook(key).verify(body, headers)


def test_old_and_new_secret_both_sign() -> None:
    old, new = new_secret(), new_secret()
    headers = signed_headers(old, new)
    assert headers["webhook-signature"].count("v1,") == 2
    for secret in (old, new):
        assert Webhook(secret).verify(BODY, headers)
    with pytest.raises(WebhookVerificationError):
        Webhook(new_secret()).verify(BODY, headers)
    assert headers["X-Service-Signature"] == body_signature(old)


def test_secret_is_32_random_bytes() -> None:
    secrets = {new_secret() for _ in range(100)}
    assert len(secrets) == 100
    assert {len(base64.b64decode(secret.removeprefix("whsec_"), validate=True)) for secret in secrets} == {32}
