"""JSON schemas of badges, and functions that create this JSON from models."""

from __future__ import annotations

from typing import Annotated, NotRequired, TypedDict

from sites.models import Badge
from sites.models.stored_json import MonitorId
from website_scan.json_types import Count, Link, Timestamp, component, identifier
from website_scan.timestamps import timestamp


@component("Badge")
class BadgeJson(TypedDict):
    """Badge of a monitor or of a page."""

    id: Annotated[str, identifier("bdg")]
    monitor: NotRequired[MonitorId]
    page: NotRequired[str]
    badge_url: Annotated[Link, "The picture, for anyone who has its address; with `?type=` of one."]
    created_at: Timestamp


class BadgeList(TypedDict):
    badges: list[BadgeJson]
    total: Count
    limit: int
    offset: int


def badge_json_of(badge: Badge) -> BadgeJson:
    badge_url, created_at = badge.badge_url, timestamp(badge.created_at)
    if badge.monitor_id:
        return {"id": badge.id, "monitor": badge.monitor_id, "badge_url": badge_url, "created_at": created_at}
    return {"id": badge.id, "page": badge.page, "badge_url": badge_url, "created_at": created_at}
