"""Create, renew, find and end an organization's mutes.

Each change is recorded in the activity log, in the same transaction.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from msgspec.structs import replace

from accounts import access, activity, usage
from accounts.access import Resource
from accounts.authentication import Caller
from reports.models import Mute
from reports.mutes.requests import DEFAULT_DURATION, MuteRequest
from reports.signals import mute_changed
from website_scan.errors import Refusal
from website_scan.report.mute_matching import MuteRule, Mutes
from website_scan.timestamps import timestamp

# A mute's creator is notified this long before its end: a week, plus a day because the task runs daily.
NOTICE_BEFORE_END = timedelta(days=8)
MAX_ACTIVE_MUTES = 1_000
MUTE = Resource(Mute, "mute", "mute", related=("created_by", "api_key"), hint=", or it has ended.")
MAX_PLACE_LENGTH = 300
# The columns have the same order as MuteRule, with `by` as in `mute_rule`. The query is plain SQL, because every report
# page executes it.
ACTIVE_MUTES_QUERY = """
    SELECT mute.id, mute.check_id, mute.host, mute.path_prefix, mute.outcome, mute.fingerprint, mute.place,
        mute.reason, coalesce('API key ' || key.name, person.email, ''), mute.created_at, mute.expires_at
    FROM reports_mute AS mute
    LEFT JOIN accounts_user AS person ON person.id = mute.created_by_id
    LEFT JOIN accounts_apikey AS key ON key.id = mute.api_key_id
    WHERE mute.organization_id = %(organization)s AND mute.ended_at IS NULL AND mute.expires_at > %(now)s
    ORDER BY mute.expires_at, mute.id
"""


class MuteLimit(Refusal):
    """Raised when the organization already has MAX_ACTIVE_MUTES active mutes."""

    code = "MUTE_LIMIT"
    status = 409


def active_mutes(organization_id: int, now: datetime) -> Mutes:
    """Return the organization's mute rules that are active at `now`, with one query."""
    return Mutes(MuteRule(*row) for row in access.fetch_rows(ACTIVE_MUTES_QUERY, organization_id, now=now))


def list_mutes_in_force(organization_id: int, now: datetime) -> QuerySet[Mute]:
    """Return the organization's active mutes with their creators, ordered by their end."""
    active = access.rows(Mute, organization_id).filter(ended_at=None, expires_at__gt=now)
    return active.select_related(*MUTE.related).order_by("expires_at", "id")


def has_maximum_mutes(organization_id: int, now: datetime) -> bool:
    """Return True if the organization has the maximum number of active mutes."""
    return list_mutes_in_force(organization_id, now).count() >= MAX_ACTIVE_MUTES


def mute_rule(mute: Mute) -> MuteRule:
    """Return a mute's MuteRule.

    Its `created_by` and `api_key` should be loaded already.
    """
    by = f"API key {mute.api_key.name}" if mute.api_key else mute.created_by.email if mute.created_by else ""
    return MuteRule(
        id=mute.id,
        check_id=mute.check_id,
        host=mute.host,
        path_prefix=mute.path_prefix,
        outcome=mute.outcome,
        fingerprint=mute.fingerprint,
        place=mute.place,
        reason=mute.reason,
        by=by,
        created_at=mute.created_at,
        expires_at=mute.expires_at,
    )


def create_mute(*, caller: Caller, request: MuteRequest, place: str = "") -> tuple[Mute, bool]:
    """Create a mute, or renew the active mute with the same scope.

    Returns the mute, and True if it is new.

    Renewing replaces the reason and the end. `place` is the text of the place that the fingerprint identifies. Raises
    MuteLimit.
    """
    now = timezone.now()
    scope = {name: getattr(request, name) for name in ("check_id", "host", "path_prefix", "outcome", "fingerprint")}
    reason, expires_at = request.reason, request.expires_at or now + DEFAULT_DURATION
    with transaction.atomic():
        # The lock serializes changes of an organization's mutes, so that the limit is exact and no mute is created
        # twice.
        usage.lock(caller.organization_id)
        rows = access.rows(Mute, caller.organization_id).filter(ended_at=None)
        existing = rows.filter(**scope).first()
        if existing is not None and existing.expires_at > now:
            old_and_new = {"reason": (existing.reason, reason), "until": (existing.expires_at, expires_at)}
            if existing.expires_at != expires_at:
                existing.notice_at = _notice_at(expires_at, now)
            existing.reason, existing.expires_at = reason, expires_at
            existing.save(update_fields=["reason", "expires_at", "notice_at"])
            changes = {
                name: {"from": str(old), "to": str(new)} for name, (old, new) in old_and_new.items() if old != new
            }
            if changes:
                _log_mute(caller, "mute.changed", existing, **changes)
            return existing, False
        if existing is not None:
            # Setting `ended_at` frees the expired mute's scope for a new mute, and keeps its row as history.
            existing.ended_at = existing.expires_at
            existing.save(update_fields=["ended_at"])
        if has_maximum_mutes(caller.organization_id, now):
            raise MuteLimit(f"{MAX_ACTIVE_MUTES:,} mutes are active, which is the maximum. End some first.")
        mute = Mute.objects.create(
            organization_id=caller.organization_id,
            **scope,
            place=place[:MAX_PLACE_LENGTH],
            reason=reason,
            created_by_id=caller.member.user_id if caller.member else None,
            api_key_id=caller.key_id,
            created_at=now,
            expires_at=expires_at,
            notice_at=_notice_at(expires_at, now),
        )
        _log_mute(caller, "mute.created", mute, reason=mute.reason, until=timestamp(mute.expires_at))
        mute_changed.send(Mute, organization_id=mute.organization_id, host=mute.host)
    return mute, True


def mute_places(*, caller: Caller, request: MuteRequest, places: Mapping[str, str]) -> list[str]:
    """Mute a finding at several places, and return the IDs of the mutes.

    `places` maps fingerprints to texts. Raises MuteLimit.
    """
    with transaction.atomic():
        return [
            create_mute(caller=caller, request=replace(request, fingerprint=fingerprint), place=place)[0].id
            for fingerprint, place in places.items()
        ]


def end_mute(*, caller: Caller, mute_id: str) -> Mute:
    """End a mute now.

    Raises NotFound if the mute is unknown or has already ended.
    """
    with transaction.atomic():
        usage.lock(caller.organization_id)
        mute = MUTE.find_in_rows(list_mutes_in_force(caller.organization_id, timezone.now()), mute_id)
        mute.ended_at = timezone.now()
        mute.save(update_fields=["ended_at"])
        _log_mute(caller, "mute.ended", mute)
        mute_changed.send(Mute, organization_id=mute.organization_id, host=mute.host)
    return mute


def _notice_at(end: datetime, now: datetime) -> datetime | None:
    """Return when to send the notice, or None if the mute ends so soon that its creator needs none."""
    notice_at = end - NOTICE_BEFORE_END
    return notice_at if notice_at > now else None


def _log_mute(caller: Caller, action: str, mute: Mute, **details: object) -> None:
    where = {"path": mute.path_prefix} if mute.path_prefix else {}
    what = {"outcome": mute.outcome} if mute.outcome else {}
    if mute.fingerprint:
        what["place"] = mute.place or mute.fingerprint
    target = f"{mute.check_id} on {mute.host}"
    activity.record_by_caller(caller, action, target, **where, **what, **details)
