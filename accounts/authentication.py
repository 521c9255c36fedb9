"""Authenticate API requests by the key in the Authorization header."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone
from msgspec import Struct
from rest_framework.authentication import BaseAuthentication
from rest_framework.request import Request

from accounts.keys import minting
from accounts.limits import client
from accounts.models import ApiKey, FormerKey, Membership
from accounts.usage import TierLimits, tier_limits
from infrastructure.api.scopes import Scope
from infrastructure.api.throttling import count, refuse_over_limit
from infrastructure.postgresql.statements import fetch
from website_scan.errors import Refusal

MAX_FAILURES_PER_MINUTE = 30
# `last_used_at` is updated at most this often, because updating it in every request would turn reads into writes.
LAST_USED_UPDATE_INTERVAL = timedelta(minutes=1)
MAX_ADDRESS_LENGTH = ApiKey._meta.get_field("last_used_from").max_length


# Every API request executes this query, so it is one prepared statement that creates no model instances. `digest` is
# the digest of a key's current secret or of a former secret.
FIND_KEY_QUERY = """
    SELECT secret.former_id, secret.ended_at, secret.last_used_at,
        api_key.revoked_at, api_key.expires_at, api_key.id, api_key.name, api_key.scope, organization.id,
        tier.requests_per_minute, tier.webhooks, tier.scans_per_month, tier.concurrent_scans, tier.name,
        tier.pages_per_audit, tier.reports_kept_days, tier.quota_per_owner
    FROM (
        SELECT id AS key_id, NULL::bigint AS former_id, NULL::timestamptz AS ended_at, last_used_at
        FROM accounts_apikey WHERE digest = %(digest)s
        UNION ALL
        SELECT key_id, id, expires_at, last_used_at
        FROM accounts_formerkey WHERE digest = %(digest)s
    ) AS secret
    JOIN accounts_apikey AS api_key ON api_key.id = secret.key_id
    JOIN accounts_organization AS organization ON organization.id = api_key.organization_id
    JOIN accounts_tier AS tier ON tier.name = organization.tier_id
"""


class Unauthorized(Refusal):
    code = "UNAUTHORIZED"
    status = 401


class KeyRevoked(Refusal):
    code = "KEY_REVOKED"
    status = 401


class Caller(Struct, frozen=True):
    """The API key or the logged-in member that calls a service function, with the organization and its limits.

    For a key, DRF uses the Caller as user (hence `is_authenticated`) and as auth. The `scope` decides what a key may
    do; the role decides what a member may do, and the page has already checked the role.
    """

    key_id: str | None
    organization_id: int
    limits: TierLimits
    requests_per_minute: int
    webhooks: int
    scope: Scope = Scope.MANAGE
    member: Membership | None = None
    key_name: str = ""
    is_authenticated: bool = True


def member_caller(membership: Membership) -> Caller:
    """Return a Caller for a member.

    Organization and tier must be loaded already, as `accounts.roles` does.
    """
    tier = membership.organization.tier
    return Caller(
        key_id=None,
        organization_id=membership.organization_id,
        limits=tier_limits(tier),
        requests_per_minute=tier.requests_per_minute,
        webhooks=tier.webhooks,
        member=membership,
    )


class BearerAuthentication(BaseAuthentication):
    """Authenticate by `Authorization: Bearer <key>`.

    Limits failed attempts per client address.
    """

    def authenticate(self, request: Request) -> tuple[Caller, Caller] | None:
        """Return the Caller twice, for `request.user` and `request.auth`.

        None without an Authorization header.

        Raises Unauthorized or KeyRevoked (401), and a 429 after too many wrong keys.
        """
        header = request.META.get("HTTP_AUTHORIZATION")
        if header is None:
            return None
        try:
            caller = _find_caller(header, request.META.get("REMOTE_ADDR", ""))
        except Refusal:
            _limit_failures(request)
            raise
        return caller, caller

    def authenticate_header(self, request: Request) -> str:
        """Return the WWW-Authenticate header.

        Without it, DRF would answer a missing key with 403 instead of 401.
        """
        return "Bearer"


def _find_caller(header: str, address: str) -> Caller:
    scheme, _, key = header.partition(" ")
    key = key.strip()
    if scheme.lower() != "bearer" or not minting.is_well_formed(key):
        raise Unauthorized("The API key is missing or invalid.")
    digest = minting.digest(key)
    rows = fetch(FIND_KEY_QUERY, {"digest": digest})
    if not rows:
        raise Unauthorized("The API key is missing or invalid.")
    former_key_id, ended_at, last_used_at, revoked_at, expires_at, key_id, name, scope, organization_id, *tier = rows[0]
    now = timezone.now()
    if revoked_at is not None and revoked_at <= now:
        raise KeyRevoked("This API key has been revoked. Create a new one in the dashboard.")
    if expires_at is not None and expires_at <= now:
        raise Unauthorized("This API key has expired. Create a new one in the dashboard.")
    if ended_at is not None and ended_at <= now:
        raise KeyRevoked("This API key has been replaced. Use its new secret, or create a new key in the dashboard.")
    if last_used_at is None or last_used_at < now - LAST_USED_UPDATE_INTERVAL:
        use = {"last_used_at": now, "last_used_from": address[:MAX_ADDRESS_LENGTH]}
        _record_use(former_key_id, digest, last_used_at, use)
    requests_per_minute, webhooks, *limits = tier
    return Caller(
        key_id,
        organization_id,
        TierLimits(*limits),
        requests_per_minute,
        webhooks,
        Scope(scope),
        key_name=name,
    )


def _record_use(former_key_id: int | None, digest: str, before: datetime | None, use: dict[str, Any]) -> None:
    """Update a secret's `last_used_at`.

    Only the first of several concurrent requests changes the row.

    The row is selected by digest, because the key may have another secret by now.
    """
    secrets = ApiKey.objects if former_key_id is None else FormerKey.objects
    secrets.filter(digest=digest, last_used_at=before).update(**use)


def _limit_failures(request: Request) -> None:
    rate = count(f"failed-keys:{client(request._request)}", MAX_FAILURES_PER_MINUTE)
    refuse_over_limit(request._request, rate, "Too many failed attempts from this address.")


def caller_of(request: Request) -> Caller:
    """Return an authenticated request's Caller."""
    caller = request.auth
    assert isinstance(caller, Caller)
    return caller
