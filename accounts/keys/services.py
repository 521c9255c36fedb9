"""Services that create, rename, regenerate and revoke API keys."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import F, Prefetch, QuerySet
from django.utils import timezone

from accounts import access, activity
from accounts.keys.minting import mint
from accounts.keys.notices import delete_unsent_notices, initial_notice_days
from accounts.models import ApiKey, FormerKey, Membership, Organization, User
from accounts.services import AccountRefused, lock
from infrastructure.api.scopes import Scope

MAX_ACTIVE_KEYS = 100
# After regeneration, the old secret stays valid for this time. A key has at most this many valid former secrets.
OVERLAP = timedelta(hours=24)
MAX_FORMER_KEYS = 4


def create_api_key(
    *,
    organization: Organization,
    name: str,
    scope: Scope = Scope.MANAGE,
    created_by: User | None = None,
    expires_at: datetime | None = None,
) -> tuple[ApiKey, str]:
    """Create an API key.

    Returns the key and its plaintext, which is stored nowhere.

    Raises AccountRefused if the organization is closed.
    """
    minted = mint()
    now = timezone.now()
    with transaction.atomic():
        lock(organization.id)
        key = ApiKey.objects.create(
            organization=organization,
            name=name,
            scope=scope,
            prefix=minted.prefix,
            digest=minted.digest,
            created_by=created_by,
            created_at=now,
            expires_at=expires_at,
            notice_days=initial_notice_days(now, expires_at),
        )
        activity.record(organization, created_by, "key.created", str(key), scope=scope, ends=_format_day(expires_at))
    return key, minted.plaintext


def add_api_key(*, actor: Membership, name: str, scope: Scope, expires_at: datetime | None) -> tuple[ApiKey, str]:
    """Create an API key for an admin in the dashboard.

    Returns the key and its plaintext. Raises AccountRefused.

    Names of active keys are unique, so a form that is sent twice creates one key.
    """
    with transaction.atomic():
        lock(actor.organization_id)
        active = access.rows(ApiKey, actor.organization_id).filter(revoked_at=None)
        if active.filter(name=name).exists():
            raise AccountRefused("An active key with this name already exists. Choose another name.")
        if active.count() >= MAX_ACTIVE_KEYS:
            raise AccountRefused(f"You have {MAX_ACTIVE_KEYS} active keys, which is the maximum. Revoke one first.")
        return create_api_key(
            organization=actor.organization, name=name, scope=scope, created_by=actor.user, expires_at=expires_at
        )


def rename_api_key(*, actor: Membership, key_id: str, name: str) -> ApiKey:
    """Rename an API key that is not revoked. Raises AccountRefused."""
    with transaction.atomic():
        key = _lock_key(actor, key_id)
        active = access.rows(ApiKey, actor.organization_id).filter(revoked_at=None)
        if active.filter(name=name).exclude(id=key.id).exists():
            raise AccountRefused("An active key with this name already exists. Choose another name.")
        change_api_key(key, actor.user, {"name": name})
    return key


def change_api_key(key: ApiKey, actor: User, new_values: Mapping[str, object]) -> None:
    """Set an API key's name and expiry from `new_values`, and log the old and new values."""
    with transaction.atomic():
        stored = (
            ApiKey.objects.select_for_update(no_key=True, of=("self",)).select_related("organization").get(id=key.id)
        )
        changed = {name: value for name, value in new_values.items() if getattr(stored, name) != value}
        if not changed:
            return
        old_name = f"{stored}"
        details = {
            name: {"from": _format_value(getattr(stored, name)), "to": _format_value(value)}
            for name, value in changed.items()
        }
        if "expires_at" in changed:
            delete_unsent_notices(key)
            expires_at = changed["expires_at"]
            assert expires_at is None or isinstance(expires_at, datetime)
            changed["notice_days"] = initial_notice_days(timezone.now(), expires_at)
        for name, value in changed.items():
            setattr(key, name, value)
        key.save(update_fields=list(changed))
        activity.record(stored.organization, actor, "key.changed", old_name, **details)


def regenerate_api_key(
    *, actor: Membership, key_id: str, prefix: str, expires_at: datetime | None, at_once: bool
) -> tuple[ApiKey, str]:
    """Replace an API key's secret and expiry.

    Returns the key and its new plaintext, which is stored nowhere.

    The current secret stays valid for `OVERLAP`, but not beyond its own expiry. With `at_once`, for a leaked secret,
    the current and all former secrets end now. `prefix` is the prefix of the secret to replace, so that a form that is
    sent twice replaces one secret. Raises AccountRefused.
    """
    minted = mint()
    with transaction.atomic():
        key = _lock_key(actor, key_id)
        now = timezone.now()
        if key.prefix != prefix:
            raise AccountRefused(
                "This key has just been regenerated. If you did not keep its new secret, regenerate it again."
            )
        if at_once:
            _end_former_secrets(key, now)
        elif key.former.filter(expires_at__gt=now).count() >= MAX_FORMER_KEYS:
            raise AccountRefused(f"{MAX_FORMER_KEYS} former secrets of this key still work. End one of them first.")
        ends = [now if at_once else now + OVERLAP, key.expires_at]
        former_expires_at = min(end for end in ends if end is not None)
        FormerKey.objects.create(
            key=key,
            prefix=key.prefix,
            digest=key.digest,
            expires_at=former_expires_at,
            last_used_at=key.last_used_at,
            last_used_from=key.last_used_from,
        )
        former = "works no more" if former_expires_at <= now else f"works until {former_expires_at:%Y-%m-%d %H:%M}"
        details = {"former secret": former, "ends": _format_day(expires_at)}
        activity.record_by_member(actor, "key.regenerated", str(key), **details)
        key.prefix, key.digest, key.expires_at, key.regenerated_at = minted.prefix, minted.digest, expires_at, now
        key.last_used_at, key.last_used_from = None, ""
        key.notice_days = initial_notice_days(now, expires_at)
        key.save()
        delete_unsent_notices(key)
    return key, minted.plaintext


def end_former_key(*, actor: Membership, key_id: str, former_id: int) -> bool:
    """Invalidate an API key's former secret.

    Returns False if it was invalid already. Raises AccountRefused.
    """
    with transaction.atomic():
        key = _lock_key(actor, key_id)
        ended = _end_former_secrets(key, timezone.now(), id=former_id)
        if ended:
            activity.record_by_member(actor, "key.former_ended", f"{key.name} ({ended[0]}…)")
    return bool(ended)


def revoke_api_key(key: ApiKey, actor: User | None = None) -> bool:
    """Revoke an API key with all its former secrets.

    Returns False if the key was revoked already.
    """
    with transaction.atomic():
        revoked = ApiKey.objects.filter(id=key.id, revoked_at=None).update(revoked_at=timezone.now())
        if revoked:
            delete_unsent_notices(key)
            activity.record(key.organization, actor, "key.revoked", str(key))
    return bool(revoked)


def list_keys(organization_id: int, now: datetime) -> QuerySet[ApiKey]:
    """Return the organization's API keys, active keys first.

    `valid_former` lists a key's valid former secrets.
    """
    valid = Prefetch("former", FormerKey.objects.filter(expires_at__gt=now), to_attr="valid_former")
    rows = access.rows(ApiKey, organization_id).select_related("created_by").prefetch_related(valid)
    return rows.order_by(F("revoked_at").desc(nulls_first=True), "-created_at")


def _lock_key(actor: Membership, key_id: str) -> ApiKey:
    """Lock and return an API key that is not revoked.

    Like all services, lock the organization's row first.
    """
    lock(actor.organization_id)
    rows = access.rows(ApiKey, actor.organization_id).filter(id=key_id, revoked_at=None)
    key = rows.select_for_update(no_key=True, of=("self",)).first()
    if key is None:
        raise AccountRefused("This key has been revoked.")
    return key


def _end_former_secrets(key: ApiKey, now: datetime, **filters: object) -> list[str]:
    """Invalidate an API key's former secrets that match `filters`.

    Returns their prefixes.
    """
    valid = key.former.filter(expires_at__gt=now, **filters)
    prefixes = list(valid.values_list("prefix", flat=True))
    valid.update(expires_at=now)
    return prefixes


def _format_day(moment: datetime | None) -> str:
    return f"{moment:%Y-%m-%d}" if moment else "never"


def _format_value(value: object) -> object:
    return _format_day(value) if value is None or isinstance(value, datetime) else value
