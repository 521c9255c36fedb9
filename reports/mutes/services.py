"""Operations on mutes: create, renew, find and end the mutes of an organization.

Each change is recorded in the audit log, in the same transaction.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from accounts import access, audit, usage
from accounts.authentication import Caller
from infrastructure.api.errors import InvalidParams
from infrastructure.api.parsing import moment
from reports.models import Mute
from scanner.catalogue import check_ids
from scanner.errors import Refusal
from scanner.findings import ScanType
from scanner.ids import is_id
from scanner.net.errors import Blocked
from scanner.net.targets import InvalidUrl, parse_target
from scanner.report.mute_matching import MuteRule, Mutes, host_and_path
from scanner.timestamps import timestamp
from scans.policy import scan_policy

# No mute lasts for ever: a finding shows again unless its mute is renewed within a year.
LONGEST = timedelta(days=366)
USUAL = timedelta(days=365)
# The time of the notice before the end: a week, and up to a day until the daily task.
NOTICE = timedelta(days=8)
MAX_ACTIVE = 1_000
MAX_REASON = 500
MAX_PATH = 1_000
MAX_PLACE = 300
# A reason may contain line ends. The database refuses lone surrogates and NUL.
UNPRINTABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
FINGERPRINT = re.compile(r"[0-9a-f]{16}")


class MuteNotFound(Refusal):
    code = "MUTE_NOT_FOUND"
    status = 404


class MuteLimit(Refusal):
    """Refusal of a mute because MAX_ACTIVE mutes are in force."""

    code = "MUTE_LIMIT"
    status = 409


@dataclass(frozen=True, slots=True)
class _Asked:
    check_id: str
    host: str
    path_prefix: str
    fingerprint: str
    reason: str
    expires_at: datetime


def active_mutes(organization_id: int, now: datetime) -> Mutes:
    """Return the organization's mute rules in force at `now`, with one query."""
    return Mutes(rule_of(mute) for mute in in_force(organization_id, now))


def in_force(organization_id: int, now: datetime) -> QuerySet[Mute]:
    """Return the organization's mutes in force at `now`, with their creators; those that end first at the beginning."""
    found = access.rows(Mute, organization_id).filter(ended_at=None, expires_at__gt=now)
    return found.select_related("created_by", "api_key").order_by("expires_at", "id")


def rule_of(mute: Mute) -> MuteRule:
    """Return the rule of a row whose `created_by` and `api_key` are loaded already."""
    by = f"API key {mute.api_key.name}" if mute.api_key else mute.created_by.email if mute.created_by else ""
    return MuteRule(
        id=mute.id,
        check_id=mute.check_id,
        host=mute.host,
        path_prefix=mute.path_prefix,
        fingerprint=mute.fingerprint,
        place=mute.place,
        reason=mute.reason,
        by=by,
        created_at=mute.created_at,
        expires_at=mute.expires_at,
    )


def create_mute(*, caller: Caller, body: Mapping[str, object], place: str = "") -> tuple[Mute, bool]:
    """Create or renew a mute from the body of POST /v1/mutes. Returns the mute, and True if it is new.

    A mute in force with the same scope gets the new reason and end. `place` is the fingerprint's place in words.
    Raises InvalidParams, which names the field, or MuteLimit.
    """
    now = timezone.now()
    asked = _asked(body, now)
    with transaction.atomic():
        # The lock serializes changes of one organization's mutes, so that the limit holds and no mute exists twice.
        usage.lock(caller.organization_id)
        rows = access.rows(Mute, caller.organization_id).filter(ended_at=None)
        known = rows.filter(
            check_id=asked.check_id, host=asked.host, path_prefix=asked.path_prefix, fingerprint=asked.fingerprint
        ).first()
        if known is not None and known.expires_at > now:
            changed = {"reason": (known.reason, asked.reason), "until": (known.expires_at, asked.expires_at)}
            if known.expires_at != asked.expires_at:
                known.notice_at = _notice_at(asked.expires_at, now)
            known.reason, known.expires_at = asked.reason, asked.expires_at
            known.save(update_fields=["reason", "expires_at", "notice_at"])
            told = {name: {"from": str(old), "to": str(new)} for name, (old, new) in changed.items() if old != new}
            if told:
                _record(caller, "mute.changed", known, **told)
            return known, False
        if known is not None:
            # The mute has expired. Setting `ended_at` keeps it as history and frees its scope for a new one.
            known.ended_at = known.expires_at
            known.save(update_fields=["ended_at"])
        if rows.filter(expires_at__gt=now).count() >= MAX_ACTIVE:
            raise MuteLimit(f"{MAX_ACTIVE:,} mutes are active, which is the maximum. End some first.")
        mute = Mute.objects.create(
            organization_id=caller.organization_id,
            check_id=asked.check_id,
            host=asked.host,
            path_prefix=asked.path_prefix,
            fingerprint=asked.fingerprint,
            place=place[:MAX_PLACE],
            reason=asked.reason,
            created_by_id=caller.member.user_id if caller.member else None,
            api_key_id=caller.key_id,
            created_at=now,
            expires_at=asked.expires_at,
            notice_at=_notice_at(asked.expires_at, now),
        )
        _record(caller, "mute.created", mute, reason=mute.reason, until=timestamp(mute.expires_at))
    return mute, True


def mute_places(*, caller: Caller, body: dict[str, object], places: Mapping[str, str]) -> None:
    """Create a mute from `body` at each of these places, given as text by fingerprint, in one transaction.

    Raises the exceptions of `create_mute`.
    """
    with transaction.atomic():
        for fingerprint, place in places.items():
            create_mute(caller=caller, body=body | {"fingerprint": fingerprint or None}, place=place)


def find_mute(organization_id: int, mute_id: str) -> Mute:
    """Return the organization's mute if it is in force. Raises MuteNotFound."""
    found = in_force(organization_id, timezone.now()).filter(id=mute_id).first() if is_id("mute", mute_id) else None
    if found is None:
        raise MuteNotFound("There is no mute with this ID, or it has ended.")
    return found


def end_mute(*, caller: Caller, mute_id: str) -> Mute:
    """End a mute now. Raises MuteNotFound, also if it has ended already."""
    with transaction.atomic():
        usage.lock(caller.organization_id)
        mute = find_mute(caller.organization_id, mute_id)
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
    what = {"place": mute.place or mute.fingerprint} if mute.fingerprint else {}
    target = f"{mute.check_id} on {mute.host}"
    audit.record_call(caller, action, target, **where, **what, **details)


def _asked(body: Mapping[str, object], now: datetime) -> _Asked:
    host, path_prefix = _where(body.get("host"), body.get("path_prefix"))
    return _Asked(
        check_id=_check_id(body.get("check")),
        host=host,
        path_prefix=path_prefix,
        fingerprint=_fingerprint(body.get("fingerprint")),
        reason=_reason(body.get("reason")),
        expires_at=_end(body.get("expires_at"), now),
    )


def _check_id(value: object) -> str:
    if not isinstance(value, str) or not any(value in check_ids(each) for each in ScanType):
        raise InvalidParams("check must be the ID of a check, such as hsts. Exports of reports and the docs name them.")
    return value


def _where(host: object, path_prefix: object) -> tuple[str, str]:
    """Parse host and path prefix with the parser of scanned URLs, so that they match the URLs of reports."""
    if not isinstance(host, str) or not host or re.search(r"[/\\?#@\s]", host):
        raise InvalidParams("host must be a host as reports name it, such as example.com or example.com:8443.")
    if path_prefix is None:
        path_prefix = ""
    if not isinstance(path_prefix, str) or not re.fullmatch(r"(?:/[^?#\\]*)?", path_prefix):
        raise InvalidParams("path_prefix must begin with / and have no query, such as /shop.")
    try:
        # Drop the default port of either scheme, as in the URLs of reports.
        scheme = "http" if host.endswith(":80") else "https"
        target = parse_target(f"{scheme}://{host}{path_prefix or '/'}", scan_policy())
    except (InvalidUrl, Blocked) as refusal:
        raise InvalidParams(f"host and path_prefix make no address that can be scanned: {refusal}") from None
    name, path = host_and_path(target.url)
    path = path.rstrip("/")
    if len(path) > MAX_PATH:
        raise InvalidParams(f"path_prefix may have at most {MAX_PATH:,} characters.")
    return name, path


def _fingerprint(value: object) -> str:
    if value is None:
        return ""
    if not isinstance(value, str) or not FINGERPRINT.fullmatch(value):
        raise InvalidParams("fingerprint must be 16 hexadecimal digits, or be left out to mute all places.")
    return value


def _reason(value: object) -> str:
    text = value.replace("\r\n", "\n").strip() if isinstance(value, str) else ""
    if not text or len(text) > MAX_REASON or UNPRINTABLE.search(text):
        raise InvalidParams(f"reason must say in 1 to {MAX_REASON} characters why this is muted.")
    return text


def _end(value: object, now: datetime) -> datetime:
    if value is None:
        return now + USUAL
    end = moment("expires_at", value)
    if not now < end <= now + LONGEST:
        raise InvalidParams(f"expires_at must be in the future, and at most {LONGEST.days} days ahead.")
    return end
