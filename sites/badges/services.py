"""Services that create and delete badges, and load the results on a badge."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any, TypedDict

from django.db import transaction
from django.db.models import QuerySet
from django.db.models.functions import MD5
from msgspec import Struct

from accounts import access, activity
from accounts.access import Lock
from accounts.authentication import Caller
from infrastructure.api.errors import InvalidParams
from infrastructure.postgresql.statements import fetch
from scans.models import Scan
from sites.badges.requests import BadgeRequest
from sites.models import Badge, Monitor
from sites.resources import BADGE, MONITOR
from website_scan.errors import Refusal
from website_scan.ids import is_id

# Limit per organization. Concurrent requests may exceed the limit slightly, which is harmless.
MAX_BADGES = 1_000

# Selects the results for a badge: the last confirmed scores of a monitor, or the last completed scans of a page.
CONTENT = """
    SELECT monitor.types, (
        SELECT jsonb_object_agg(confirmed.key, confirmed.value || jsonb_build_object('day', (
            SELECT (run.ended_at AT TIME ZONE 'UTC')::date FROM sites_monitorrun AS run
            WHERE run.monitor_id = monitor.id AND run.scores ? confirmed.key ORDER BY run.due_at DESC LIMIT 1
        )))
        FROM jsonb_each(monitor.scores) AS confirmed
    ), (
        SELECT jsonb_object_agg(kind.type, jsonb_build_object(
            'score', result.score, 'grade', result.grade, 'day', (result.completed_at AT TIME ZONE 'UTC')::date
        ))
        FROM jsonb_array_elements_text(%(types)s::jsonb) AS kind (type)
        CROSS JOIN LATERAL (
            SELECT score, grade, completed_at FROM scans_scan AS scan
            WHERE scan.organization_id = badge.organization_id AND md5(scan.url) = md5(badge.page)
                AND NOT scan.is_of_journey AND scan.categories IS NULL
                AND scan.url = badge.page AND scan.type = kind.type AND scan.status = 'completed'
            ORDER BY scan.created_at DESC LIMIT 1
        ) AS result
    )
    FROM sites_badge AS badge
    JOIN accounts_organization AS organization
        ON organization.id = badge.organization_id AND organization.closed_at IS NULL
    LEFT JOIN sites_monitor AS monitor ON monitor.id = badge.monitor_id
    WHERE badge.id = %(id)s
"""


class BadgeLimit(Refusal):
    """Raised when the organization has the maximum number of badges."""

    code = "BADGE_LIMIT"
    status = 409


class BadgeResult(TypedDict, total=False):
    """Result of one scan type on a badge.

    `day` is the date of the result in UTC, such as `2026-11-21`.
    """

    score: int | None
    grade: str | None
    day: str | None


class BadgeContent(Struct, frozen=True):
    """Latest results on a badge, by scan type."""

    types: tuple[str, ...]
    results: Mapping[str, BadgeResult]


def load_content(badge_id: str) -> BadgeContent | None:
    """Return the public content of a badge in one query, or None if the badge does not exist."""
    if not is_id("bdg", badge_id):
        return None
    rows = fetch(CONTENT, {"id": badge_id, "types": json.dumps(Scan.Type.values)})
    if not rows:
        return None
    types, monitor_results, page_results = rows[0]
    results: dict[str, BadgeResult] = json.loads(monitor_results or page_results or "{}")
    badge_types = [type for type in Scan.Type.values if type in (types if types is not None else results)]
    return BadgeContent(tuple(badge_types), results)


def create_badge(*, caller: Caller, request: BadgeRequest) -> tuple[Badge, bool]:
    """Return the badge of a monitor or page, and True if it has just been created.

    Raises NotFound, BadgeLimit, or InvalidParams for a page without a report.
    """
    if request.page is not None:
        return _create_for_page(caller, request.page.url)
    return _create_for_monitor(caller, request.monitor)


def badges_of(organization_id: int) -> QuerySet[Badge]:
    """Return the badges of an organization, newest first."""
    return access.rows(Badge, organization_id).order_by("-created_at", "-id")


def badge_of_page(organization_id: int, url: str) -> Badge | None:
    """Return the organization's badge for the page with the canonical URL, or None."""
    rows = access.rows(Badge, organization_id).alias(digest=MD5("page"))
    return rows.exclude(page="").filter(digest=_digest(url), page=url).first()


def badge_of_monitor(monitor: Monitor) -> Badge | None:
    return access.rows(Badge, monitor.organization_id).filter(monitor=monitor).first()


def delete_badge(*, caller: Caller, badge_id: str) -> None:
    """Delete a badge and revoke its URL permanently. Raises NotFound."""
    with transaction.atomic():
        badge = BADGE.find(caller.organization_id, badge_id, lock=Lock.DELETION)
        _record_activity(caller, "badge.deleted", badge)
        badge.delete()


def _create_for_monitor(caller: Caller, monitor_id: str) -> tuple[Badge, bool]:
    with transaction.atomic():
        # Lock order: the monitor before its organization, whose row is locked by the INSERT of a badge.
        monitor = MONITOR.find(caller.organization_id, monitor_id, lock=Lock.CHANGE)
        return _get_or_create(caller, badge_of_monitor(monitor), monitor=monitor)


def _create_for_page(caller: Caller, url: str) -> tuple[Badge, bool]:
    results = access.rows(Scan, caller.organization_id).filter(is_of_journey=False).alias(digest=MD5("url"))
    if not results.filter(digest=_digest(url), url=url, status__in=sorted(Scan.REPORTED)).exists():
        raise InvalidParams("page has no report yet. Scan it first.")
    with transaction.atomic():
        return _get_or_create(caller, badge_of_page(caller.organization_id, url), page=url)


def _get_or_create(caller: Caller, existing: Badge | None, **columns: Any) -> tuple[Badge, bool]:
    if existing is not None:
        return existing, False
    if access.rows(Badge, caller.organization_id).count() >= MAX_BADGES:
        raise BadgeLimit(f"An organization may have {MAX_BADGES:,} badges. Switch one off.")
    values = {"organization_id": caller.organization_id, **columns}
    created_by = caller.member.user_id if caller.member else None
    # `get_or_create` returns the same badge to concurrent requests.
    badge, is_new_badge = Badge.objects.get_or_create(**values, defaults={"created_by_id": created_by})
    if is_new_badge:
        _record_activity(caller, "badge.created", badge)
    return badge, is_new_badge


def _record_activity(caller: Caller, action: str, badge: Badge) -> None:
    name = badge.monitor.name if badge.monitor else badge.page
    activity.record_by_caller(caller, action, name, badge=badge.id)


def _digest(url: str) -> str:
    """Return the MD5 digest of a URL for the lookup in a database index.

    The digest protects no secret.
    """
    return hashlib.md5(url.encode(), usedforsecurity=False).hexdigest()
