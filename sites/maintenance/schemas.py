"""JSON schema of maintenance windows, and a function that creates this JSON from models."""

from __future__ import annotations

from typing import Annotated, TypedDict

from django.utils import timezone

from sites.maintenance.occurrences import is_active
from sites.models import MaintenanceWindow
from sites.models.stored_json import MonitorId
from website_scan.json_types import Count, Timestamp, component, identifier
from website_scan.timestamps import timestamp


@component("MaintenanceWindow")
class WindowJson(TypedDict):
    """Maintenance window. It applies to all monitors if `monitors` and `sites` are empty."""

    id: Annotated[str, identifier("mnt")]
    name: str
    starts_at: Timestamp
    ends_at: Timestamp
    weekly: bool
    timezone: str
    monitors: list[MonitorId]
    sites: list[str]
    active: Annotated[bool, "Whether alerts are held now."]
    created_at: Timestamp


class WindowList(TypedDict):
    windows: list[WindowJson]
    total: Count
    limit: int
    offset: int


def window_json_of(window: MaintenanceWindow) -> WindowJson:
    return {
        "id": window.id,
        "name": window.name,
        "starts_at": timestamp(window.starts_at),
        "ends_at": timestamp(window.ends_at),
        "weekly": window.is_weekly,
        "timezone": window.timezone,
        "monitors": window.monitors,
        "sites": window.sites,
        "active": is_active(window, timezone.now()),
        "created_at": timestamp(window.created_at),
    }
