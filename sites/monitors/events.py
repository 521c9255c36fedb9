"""Webhook events of monitors: when they are recorded, and their data."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from sites.models import Monitor
from sites.monitors.schemas import monitor_data
from webhooks import events
from webhooks.models import EventKind


def record_monitor_event(monitor: Monitor, kind: EventKind, data: Mapping[str, object], at: datetime) -> None:
    """Record the event of a monitor's run and its deliveries, inside the transaction that ends the run.

    `data` is the event's data beside the monitor's own. Nothing is recorded for monitors that do not notify webhooks.
    """
    if monitor.tells_webhooks:
        events.record(kind, monitor.organization_id, at, lambda: {**monitor_data(monitor), **data}, monitor=monitor)
