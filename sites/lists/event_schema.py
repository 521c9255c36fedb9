"""OpenAPI descriptions of list webhook events."""

from __future__ import annotations

from sites.lists.schemas import ListChangedEvent, ListEvent
from webhooks.event_schema import described
from webhooks.models import EventKind

LIST_COMPLETED = described(EventKind.LIST_COMPLETED, ListEvent)
LIST_CHANGED = described(EventKind.LIST_CHANGED, ListChangedEvent)
