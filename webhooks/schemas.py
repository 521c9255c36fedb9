"""TypedDicts of webhooks, deliveries and scan events for openapi.yaml."""

from __future__ import annotations

from typing import Annotated, NotRequired, TypedDict

from scans.models import Scan
from scans.schemas import AuditId, ScanFailure, ScanStatus, timestamp_or_none
from webhooks.models import Attempt, Delivery, EventKind, Webhook
from website_scan.json_types import (
    Count,
    Grade,
    Keywords,
    Link,
    ScanId,
    Score,
    Timestamp,
    TypeName,
    identifier,
    values,
)
from website_scan.timestamps import timestamp

WebhookId = Annotated[str, identifier("wh")]
Secret = Annotated[str, Keywords(pattern=r"^whsec_[0-9A-Za-z+/]{43}=$")]
EventName = Annotated[str, values(EventKind.choices)]


class WebhookSummary(TypedDict):
    """A registered receiver in the list of receivers."""

    id: WebhookId
    url: str
    events: list[EventName]


class CreatedWebhook(WebhookSummary):
    """A newly registered receiver. The secret is never shown again."""

    secret: Secret
    created_at: Timestamp


class WebhookDetail(WebhookSummary):
    """A receiver with its settings and its state."""

    name: str
    format: Annotated[str, values(Webhook.Format.choices)]
    created_at: Timestamp
    enabled: bool
    disabled_at: Timestamp | None
    disabled_reason: Annotated[str, values(Webhook.Reason.choices)] | None
    failing_since: Annotated[Timestamp | None, "The first failed attempt since the last success."]


class RotatedSecret(TypedDict):
    """A webhook's new secret, which is never shown again."""

    id: WebhookId
    secret: Secret
    previous_secret_expires_at: Timestamp


class AttemptError(TypedDict):
    """Error code and message of a failed attempt."""

    code: str
    message: str


class AttemptDetail(TypedDict):
    """An attempt to deliver an event."""

    at: Timestamp
    latency_ms: int
    response_status: int | None
    response_body: Annotated[str, "The first 2 KiB of the answer."]
    error: AttemptError | None
    blocked: Annotated[bool, "Nothing was sent: the address may not be contacted."]


class DeliveryDetail(TypedDict):
    """Delivery of an event to a receiver, with every attempt."""

    id: Annotated[str, identifier("dlv")]
    event_id: Annotated[str, identifier("evt")]
    event: EventName
    scan_id: ScanId | None
    audit_id: AuditId | None
    test: bool
    status: Annotated[str, values(Delivery.Status.choices)]
    created_at: Timestamp
    next_attempt_at: Timestamp | None
    finished_at: Timestamp | None
    attempts: list[AttemptDetail]


class DeliveryList(TypedDict):
    """A page of a webhook's delivery log."""

    deliveries: list[DeliveryDetail]
    total: int
    limit: int
    offset: int


class ScanEventData(TypedDict):
    """A scan that has ended."""

    scan_id: ScanId
    url: str
    type: TypeName
    status: ScanStatus
    score: Score | None
    grade: Grade | None
    findings_count: Annotated[Count, "The number of failed and warned checks."]
    report_url: Link
    error: NotRequired[Annotated[ScanFailure, "Why it failed; absent otherwise."]]


class AuditScanEventData(ScanEventData):
    """A scan of an audit that has ended."""

    audit_id: AuditId | None


class Event(TypedDict):
    event: EventName
    timestamp: Timestamp
    test: NotRequired[Annotated[bool, "True in a test event, otherwise absent."]]


class ScanEvent(Event):
    data: ScanEventData


class AuditScanEvent(Event):
    data: AuditScanEventData


def webhook_summary_of(webhook: Webhook) -> WebhookSummary:
    return {"id": webhook.id, "url": webhook.url, "events": webhook.events}


def created_webhook_of(webhook: Webhook, secret: str) -> CreatedWebhook:
    return {**webhook_summary_of(webhook), "secret": secret, "created_at": timestamp(webhook.created_at)}


def webhook_detail_of(webhook: Webhook) -> WebhookDetail:
    return {
        **webhook_summary_of(webhook),
        "name": webhook.name,
        "format": webhook.format,
        "created_at": timestamp(webhook.created_at),
        "enabled": webhook.enabled,
        "disabled_at": timestamp_or_none(webhook.disabled_at),
        "disabled_reason": webhook.reason,
        "failing_since": timestamp_or_none(webhook.failing_since),
    }


def delivery_detail_of(delivery: Delivery) -> DeliveryDetail:
    """Return the JSON of a delivery.

    Its event, webhook and attempts should be prefetched.
    """
    event = delivery.event
    return {
        "id": delivery.id,
        "event_id": event.id,
        "event": event.kind,
        "scan_id": event.scan_id,
        "audit_id": event.audit_id,
        "test": event.is_test,
        "status": delivery.status,
        "created_at": timestamp(delivery.created_at),
        "next_attempt_at": timestamp_or_none(delivery.planned_at),
        "finished_at": timestamp_or_none(delivery.finished_at),
        "attempts": [_attempt_json(attempt) for attempt in delivery.attempts.all()],
    }


def _attempt_json(attempt: Attempt) -> AttemptDetail:
    return {
        "at": timestamp(attempt.at),
        "latency_ms": attempt.latency_ms,
        "response_status": attempt.response_status,
        "response_body": attempt.response_body,
        "error": {"code": attempt.error_code, "message": attempt.error_message} if attempt.error_code else None,
        "blocked": attempt.blocked,
    }


def scan_data(scan: Scan, findings: int) -> ScanEventData:
    """Return the `data` of an event about a scan."""
    data: ScanEventData = {
        "scan_id": scan.id,
        "url": scan.url,
        "type": str(scan.type),
        "status": str(scan.status),
        "score": scan.score,
        "grade": scan.grade,
        "findings_count": findings,
        "report_url": scan.report_url,
    }
    if scan.error_code:
        data["error"] = {"code": scan.error_code, "message": scan.error_message}
    return data
