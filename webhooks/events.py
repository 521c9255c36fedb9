"""Record events with one delivery for each subscribed webhook.

Runs in the transaction of the reported change.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Model

from accounts import access
from infrastructure import queue
from scans.models import Scan
from scans.signals import Ended
from webhooks.models import GROUPED_EVENTS, Delivery, Event, EventKind, Webhook
from webhooks.schemas import AuditScanEventData, ScanEventData, scan_data
from website_scan.result import ScanResult
from website_scan.timestamps import timestamp

# FOR KEY SHARE prevents the deletion of webhooks before the inserts.
SUBSCRIBED_WEBHOOKS = """
    SELECT id, events, format FROM webhooks_webhook
    WHERE organization_id = %(organization)s AND events && %(kinds)s::varchar[]
        AND (%(chosen)s::varchar[] IS NULL OR id = ANY(%(chosen)s::varchar[]))
    ORDER BY id FOR KEY SHARE
"""


def record_scan_ends(*, ended: Ended, **_: object) -> None:
    """Write an event for each scan that has just ended.

    This receiver of the signal `scan_ended` also writes the deliveries.
    """
    receivers = _subscribed_webhooks(ended[0][0].organization_id, {_event_kind(scan) for scan, _ in ended})
    for scan, result in ended:
        kind = _event_kind(scan)
        if not receivers[kind] or (data := _event_data(scan, result)) is None:
            continue
        assert scan.completed_at is not None
        _write_event(receivers[kind], kind, scan.organization_id, scan.completed_at, data, scan.request_id, scan=scan)


def _event_kind(scan: Scan) -> EventKind:
    """Return the kind of event for a finished scan.

    Scans of audits of several pages have a kind of their own, because there may be thousands. Scans of a monitor's
    audits have no event (`_event_data` returns None).
    """
    return EventKind.AUDIT_SCAN if scan.is_background else EventKind(f"scan.{scan.status}")


def _event_data(scan: Scan, result: ScanResult | None) -> ScanEventData | AuditScanEventData | None:
    audit = scan.audit_page.audit if scan.audit_page else None
    if audit is not None and audit.run_of:
        return None
    findings = sum(check.status != "pass" for check in result.checks) if result else 0
    data = scan_data(scan, findings)
    return {**data, "audit_id": audit.id if audit else None} if scan.is_background else data


def record(
    kind: EventKind,
    organization_id: int,
    at: datetime,
    data: Callable[[], Mapping[str, Any]],
    *,
    request_id: str = "",
    webhook_ids: Sequence[str] | None = None,
    **subject: Model,
) -> None:
    """Write an event with a delivery for each subscribed webhook.

    Runs in the transaction of the reported change. `subject` is the row that the event is about, such as `audit=audit`.
    `data` is only called if a webhook subscribes. `webhook_ids` limits the event to these webhooks.
    """
    if receivers := _subscribed_webhooks(organization_id, {kind}, webhook_ids)[kind]:
        _write_event(receivers, kind, organization_id, at, data(), request_id, **subject)


def record_for_webhook(
    webhook: Webhook, kind: EventKind, at: datetime, data: Mapping[str, Any], **subject: Model
) -> None:
    """Write an event with a delivery for one webhook, in the caller's transaction."""
    _write_event([webhook.id], kind, webhook.organization_id, at, data, "", **subject)


def _write_event(
    receivers: Sequence[str],
    kind: EventKind,
    organization_id: int,
    at: datetime,
    data: Mapping[str, Any],
    request_id: str,
    **subject: Model,
) -> None:
    body = encoded({"event": str(kind), "timestamp": timestamp(at), "data": data})
    event = Event.objects.create(
        organization_id=organization_id, kind=kind, body=body, request_id=request_id, **subject
    )
    Delivery.objects.bulk_create(Delivery(webhook_id=webhook_id, event=event) for webhook_id in receivers)
    wake_dispatcher(event.id)


def _subscribed_webhooks(
    organization_id: int, kinds: Collection[EventKind], webhook_ids: Sequence[str] | None = None
) -> Mapping[EventKind, list[str]]:
    """Lock and return the subscribed webhooks of each kind of event.

    Returns their IDs. `webhook_ids` excludes all other webhooks. Webhooks of chats do not receive GROUPED_EVENTS.
    """
    chosen = None if webhook_ids is None else list(webhook_ids)
    rows = access.fetch_rows(SUBSCRIBED_WEBHOOKS, organization_id, kinds=[str(kind) for kind in kinds], chosen=chosen)
    return {
        kind: [
            webhook_id
            for webhook_id, events, body_format in rows
            if kind in events and (body_format == Webhook.Format.STANDARD or kind not in GROUPED_EVENTS)
        ]
        for kind in kinds
    }


def wake_dispatcher(row_id: str) -> None:
    """Enqueue a `deliver` task on commit.

    If the message is lost, the sweeper sends another.
    """
    transaction.on_commit(lambda: queue.enqueue("webhooks.tasks.deliver", row_id))


def encoded(body: dict[str, Any]) -> bytes:
    return json.dumps(body, separators=(",", ":")).encode()
