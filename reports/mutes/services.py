"""Operations on mutes: create, renew, find and end the mutes of an organization.

Each change is recorded in the activity log, in the same transaction.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from accounts import access, activity, usage
from accounts.access import Resource
from accounts.authentication import Caller
from reports.models import Mute
from reports.mutes.requests import USUAL, MuteRequest
from website_scan.errors import Refusal
from website_scan.report.mute_matching import MuteRule, Mutes
from website_scan.timestamps import timestamp

# The time of the notice before the end: a week, and up to a day until the daily task.
NOTICE = timedelta(days=8)
MAX_ACTIVE = 1_000
MUTE = Resource(Mute, "mute", "mute", related=("created_by", "api_key"), hint=", or it has ended.")
MAX_PLACE = 300
# Columns in the order of MuteRule, and `by` as in `rule_of`: pages of reports and audits ask for them each time.
ACTIVE = """
    SELECT mute.id, mute.check_id, mute.host, mute.path_prefix, mute.outcome, mute.fingerprint, mute.place,
        mute.reason, coalesce('API key ' || key.name, person.email, ''), mute.created_at, mute.expires_at
    FROM reports_mute AS mute
    LEFT JOIN accounts_user AS person ON person.id = mute.created_by_id
    LEFT JOIN accounts_apikey AS key ON key.id = mute.api_key_id
    WHERE mute.organization_id = %(organization)s AND mute.ended_at IS NULL AND mute.expires_at > %(now)s
    ORDER BY mute.expires_at, mute.id
"""


class MuteLimit(Refusal):
    """Refusal of a mute because MAX_ACTIVE mutes are in force."""

    code = "MUTE_LIMIT"
    status = 409


def active_mutes(organization_id: int, now: datetime) -> Mutes:
    """Return the organization's mute rules in force at `now`, with one query."""
    return Mutes(MuteRule(*row) for row in access.fetch_rows(ACTIVE, organization_id, now=now))


def in_force(organization_id: int, now: datetime) -> QuerySet[Mute]:
    """Return the organization's mutes in force at `now`, with their creators; those that end first at the beginning."""
    active = access.rows(Mute, organization_id).filter(ended_at=None, expires_at__gt=now)
    return active.select_related(*MUTE.related).order_by("expires_at", "id")


def is_full(organization_id: int, now: datetime) -> bool:
    """Return True if the organization may have no further mute."""
    return in_force(organization_id, now).count() >= MAX_ACTIVE


def rule_of(mute: Mute) -> MuteRule:
    """Return the rule of a row whose `created_by` and `api_key` are loaded already."""
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
    """Create or renew a mute. Returns the mute, and True if it is new.

    A mute in force with the same scope gets the new reason and end. `place` is the fingerprint's place in words.
    Raises MuteLimit.
    """
    now = timezone.now()
    scope = {name: getattr(request, name) for name in ("check_id", "host", "path_prefix", "outcome", "fingerprint")}
    reason, expires_at = request.reason, request.expires_at or now + USUAL
    with transaction.atomic():
        # The lock serializes changes of one organization's mutes, so that the limit holds and no mute exists twice.
        usage.lock(caller.organization_id)
        rows = access.rows(Mute, caller.organization_id).filter(ended_at=None)
        known = rows.filter(**scope).first()
        if known is not None and known.expires_at > now:
            changed = {"reason": (known.reason, reason), "until": (known.expires_at, expires_at)}
            if known.expires_at != expires_at:
                known.notice_at = _notice_at(expires_at, now)
            known.reason, known.expires_at = reason, expires_at
            known.save(update_fields=["reason", "expires_at", "notice_at"])
            told = {name: {"from": str(old), "to": str(new)} for name, (old, new) in changed.items() if old != new}
            if told:
                _record(caller, "mute.changed", known, **told)
            return known, False
        if known is not None:
            # The mute has expired. Setting `ended_at` keeps it as history and frees its scope for a new one.
            known.ended_at = known.expires_at
            known.save(update_fields=["ended_at"])
        if is_full(caller.organization_id, now):
            raise MuteLimit(f"{MAX_ACTIVE:,} mutes are active, which is the maximum. End some first.")
        mute = Mute.objects.create(
            organization_id=caller.organization_id,
            **scope,
            place=place[:MAX_PLACE],
            reason=reason,
            created_by_id=caller.member.user_id if caller.member else None,
            api_key_id=caller.key_id,
            created_at=now,
            expires_at=expires_at,
            notice_at=_notice_at(expires_at, now),
        )
        _record(caller, "mute.created", mute, reason=mute.reason, until=timestamp(mute.expires_at))
    return mute, True


def mute_places(*, caller: Caller, request: MuteRequest, places: Mapping[str, str]) -> None:
    """Create the requested mute at each of these places, which are texts by fingerprint, in one transaction.

    Raises MuteLimit.
    """
    with transaction.atomic():
        for fingerprint, place in places.items():
            create_mute(caller=caller, request=replace(request, fingerprint=fingerprint), place=place)


def end_mute(*, caller: Caller, mute_id: str) -> Mute:
    """End a mute now. Raises NotFound, also if it has ended already."""
    with transaction.atomic():
        usage.lock(caller.organization_id)
        mute = MUTE.find_in(in_force(caller.organization_id, timezone.now()), mute_id)
        mute.ended_at = timezone.now()
        mute.save(update_fields=["ended_at"])
        _record(caller, "mute.ended", mute)
    return mute


def _notice_at(end: datetime, now: datetime) -> datetime | None:
    """Return the time of the notice, None for an end so near that the creator needs none."""
    at = end - NOTICE
    return at if at > now else None


def _record(caller: Caller, action: str, mute: Mute, **details: object) -> None:
    where = {"path": mute.path_prefix} if mute.path_prefix else {}
    what = {"outcome": mute.outcome} if mute.outcome else {}
    if mute.fingerprint:
        what["place"] = mute.place or mute.fingerprint
    target = f"{mute.check_id} on {mute.host}"
    activity.record_call(caller, action, target, **where, **what, **details)
