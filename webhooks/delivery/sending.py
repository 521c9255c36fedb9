"""Send a signed event to a receiver, without access to the database."""

from __future__ import annotations

import codecs
import logging
import re
import time
from datetime import UTC, datetime

from cryptography.fernet import InvalidToken
from msgspec import Struct

from infrastructure import encryption
from webhooks.delivery.claims import DeliveryClaim
from webhooks.delivery.formats import sent_body
from webhooks.delivery.signing import signature_headers
from website_scan.net.client import Network
from website_scan.net.errors import Blocked, NetError
from website_scan.net.http.request import Request
from website_scan.net.http.response import Response
from website_scan.net.policy import Policy
from website_scan.net.resolver import Resolver
from website_scan.net.targets import InvalidUrl

logger = logging.getLogger(__name__)

# Time limit for DNS, connection, TLS, request and response together.
TIMEOUT_S = 10
KEPT_BYTES = 2048
INTERNAL_ERROR_CODE = "INTERNAL_ERROR"
# Terminals and pages might interpret control characters, and PostgreSQL cannot store NUL.
CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")


class AttemptResult(Struct, frozen=True):
    """Result of an attempt.

    `status` is None without a response. `error_code` is empty only for a 2xx status.
    """

    claim: DeliveryClaim
    at: datetime
    ended_at: datetime
    latency_ms: int
    status: int | None = None
    retry_after: str | None = None
    body: str = ""
    error_code: str = ""
    error_message: str = ""
    blocked: bool = False

    @property
    def is_success(self) -> bool:
        return not self.error_code

    @property
    def is_internal_error(self) -> bool:
        """Return True if this service, not the receiver, caused the failure."""
        return self.error_code == INTERNAL_ERROR_CODE


def send(claim: DeliveryClaim, policy: Policy, *, resolver: Resolver | None = None) -> AttemptResult:
    """Attempt a delivery once.

    Raises no exceptions, because errors are part of the result.
    """
    at = datetime.now(UTC)
    start_s = time.monotonic()

    def result(**columns: object) -> AttemptResult:
        latency_ms = round((time.monotonic() - start_s) * 1000)
        return AttemptResult(claim, at, datetime.now(UTC), latency_ms, **columns)  # type: ignore[arg-type]

    try:
        response = _post_event(claim, policy, resolver, at)
    except (Blocked, InvalidUrl) as refusal:
        # InvalidUrl is raised if the port is no longer allowed.
        return result(error_code=refusal.code, error_message=str(refusal), blocked=True)
    except NetError as error:
        return result(error_code=error.code, error_message=str(error))
    except InvalidToken:
        logger.error("the secret of webhook %s cannot be decrypted: a key is missing", claim.webhook_id)
        return result(error_code=INTERNAL_ERROR_CODE, error_message="The webhook's secret could not be read.")
    except Exception:
        logger.exception("delivery %s failed", claim.delivery_id)
        return result(error_code=INTERNAL_ERROR_CODE, error_message="The attempt failed on our side.")
    columns = {
        "status": response.status,
        "retry_after": response.headers.get("Retry-After"),
        "body": excerpt(response),
    }
    if 200 <= response.status < 300:
        return result(**columns)
    redirect = " Redirects are not followed." if 300 <= response.status < 400 else ""
    message = f"The receiver answered {response.status}.{redirect}"
    return result(**columns, error_code="RECEIVER_STATUS", error_message=message)


def _post_event(claim: DeliveryClaim, policy: Policy, resolver: Resolver | None, at: datetime) -> Response:
    body = sent_body(claim.format, claim.body)
    headers = signature_headers(
        valid=[encryption.decrypt(secret) for secret in claim.encrypted_secrets],
        event_id=claim.event_id,
        timestamp_s=int(at.timestamp()),
        body=body,
    )
    headers |= {
        "Content-Type": "application/json",
        "X-Service-Event": claim.kind,
        # The beginning of the response is stored without decompression.
        "Accept-Encoding": "identity",
    }
    with Network(policy, resolver=resolver, time_limit_s=TIMEOUT_S) as network:
        return network.fetch(
            Request(
                claim.url,
                method="POST",
                headers=headers,
                body=body,
                max_bytes=KEPT_BYTES,
                timeout_s=TIMEOUT_S,
                decode=False,
            )
        )


def excerpt(response: Response) -> str:
    """Return the beginning of a response as text.

    U+FFFD replaces invalid UTF-8 and control characters.
    """
    if (response.headers.get("Content-Encoding") or "identity").lower() != "identity":
        return ""
    # The decoder omits an incomplete character at the end of a truncated body.
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    text = decoder.decode(response.body[:KEPT_BYTES], final=len(response.body) < KEPT_BYTES)
    return CONTROL.sub("\N{REPLACEMENT CHARACTER}", text)
