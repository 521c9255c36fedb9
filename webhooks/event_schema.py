"""OpenAPI descriptions of webhook deliveries."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import OpenApiResponse, OpenApiWebhook, extend_schema

from webhooks.models import EventKind
from webhooks.schemas import AuditScanEvent, ScanEvent

# Description and pattern of the headers of a delivery (docs/webhooks.md).
HEADERS = {
    "X-Service-Event": ("The event, as in the body.", r"^[a-z]+\.[a-z]+$"),
    "X-Service-Signature": (
        "HMAC-SHA256 of the body, keyed with the webhook's whole `secret`.",
        r"^sha256=[0-9a-f]{64}$",
    ),
    "webhook-id": ("The ID of the event, the same for every attempt.", r"^evt_[0-9A-Za-z]{22}$"),
    "webhook-timestamp": ("Unix time in seconds of this attempt.", r"^[0-9]+$"),
    "webhook-signature": (
        "HMAC-SHA256 of `<webhook-id>.<webhook-timestamp>.<body>`, keyed with the base64-decoded part of the secret "
        "after `whsec_`; one for each valid secret (Standard Webhooks 1.0).",
        r"^v1,[0-9A-Za-z+/]{43}=( v1,[0-9A-Za-z+/]{43}=)*$",
    ),
}
ANSWER = OpenApiResponse(description="Any status of 2xx within 10 seconds; anything else is retried.")


def described(kind: EventKind, body: Any) -> OpenApiWebhook:
    """Return the OpenAPI description of an event's delivery.

    `body` is a TypedDict.
    """
    decorator = extend_schema(
        operation_id=f"receive_{kind.replace('.', '_')}",
        summary=str(kind.label),
        description="To webhooks with the format `standard`.",
        tags=["Webhooks"],
        request=body,
        responses={"2XX": ANSWER},
    )
    return OpenApiWebhook(str(kind), decorator)


SCAN_COMPLETED = described(EventKind.SCAN_COMPLETED, ScanEvent)
SCAN_FAILED = described(EventKind.SCAN_FAILED, ScanEvent)
SCAN_PARTIAL = described(EventKind.SCAN_PARTIAL, ScanEvent)
AUDIT_SCAN = described(EventKind.AUDIT_SCAN, AuditScanEvent)


def add_delivery_headers(result: dict[str, Any], **_: object) -> dict[str, Any]:
    """Add the delivery headers to openapi.yaml.

    drf-spectacular omits them. This is a postprocessing hook of drf-spectacular.
    """
    parameters = [
        {
            "in": "header",
            "name": name,
            "required": True,
            "description": description,
            "schema": {"type": "string", "pattern": pattern},
        }
        for name, (description, pattern) in HEADERS.items()
    ]
    for methods in result["webhooks"].values():
        methods["post"]["parameters"] = list(parameters)
        methods["post"]["security"] = []
    return result
