"""Webhook events of monitors."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from sites.models import Monitor
from sites.monitors.schemas import monitor_data
from webhooks import events
from webhooks.models import EventKind


def record_monitor_event(monitor: Monitor, kind: EventKind, data: Mapping[str, object], at: datetime) -> None:
    """Record a webhook event of a monitor's run, in the transaction that finishes the run.

    `data` is the event's data without the fields of the monitor. Only the monitor's webhooks receive the event.
    """
    events.record(
        kind,
        monitor.organization_id,
        at,
        lambda: {**monitor_data(monitor), **data},
        webhook_ids=monitor.webhook_ids,
        monitor=monitor,
    )
