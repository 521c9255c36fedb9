"""OpenAPI descriptions of monitor webhook events."""

from __future__ import annotations

from sites.monitors.alert_schemas import MonitorAlertEvent
from sites.monitors.schemas import MonitorChangedEvent, MonitorFailedEvent, MonitorRecoveredEvent
from webhooks.event_schema import described
from webhooks.models import EventKind

MONITOR_CHANGED = described(EventKind.MONITOR_CHANGED, MonitorChangedEvent)
MONITOR_FAILED = described(EventKind.MONITOR_FAILED, MonitorFailedEvent)
MONITOR_RECOVERED = described(EventKind.MONITOR_RECOVERED, MonitorRecoveredEvent)
MONITOR_ALERT = described(EventKind.MONITOR_ALERT, MonitorAlertEvent)
