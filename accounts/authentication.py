"""Bearer keys: from the Authorization header to the organization and its limits."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils import timezone
from rest_framework.authentication import BaseAuthentication
from rest_framework.request import Request

from accounts import keys
from accounts.limits import client
from accounts.models import ApiKey, Membership
from accounts.usage import TierLimits, limits_of
from config.api.throttling import count, refuse_over
from config.errors import Refusal
from config.postgresql.statements import fetch

FAILURES_PER_MINUTE = 30
# Writing "last used" on every request would turn every read into a write.
LAST_USED_STEP = timedelta(minutes=1)


# Runs before every request: one prepared statement, no model instances.
KEY_QUERY = """
    SELECT api_key.revoked_at, api_key.expires_at, api_key.last_used_at, api_key.id, organization.id,
        tier.requests_per_minute, tier.webhooks, tier.scans_per_month, tier.concurrent_scans, tier.name,
        tier.pages_per_audit
    FROM accounts_apikey AS api_key
    JOIN accounts_organization AS organization ON organization.id = api_key.organization_id
    JOIN accounts_tier AS tier ON tier.name = organization.tier_id
    WHERE api_key.digest = %(digest)s
"""


class Unauthorized(Refusal):
    code = "UNAUTHORIZED"
    status = 401


class KeyRevoked(Refusal):
    code = "KEY_REVOKED"
    status = 401


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks, for which organization, within which limits: a valid key or, on the pages, a member.

    With a key it stands for the user (`is_authenticated`) and for the authorization.
    """

    key_id: str | None
    organization_id: int
    limits: TierLimits
    requests_per_minute: int
    webhooks: int
    member: Membership | None = None
    is_authenticated: bool = True


def member_caller(membership: Membership) -> Caller:
    """A member as who asks; the organization with its tier is loaded already, as `accounts.roles` does it."""
    tier = membership.organization.tier
    return Caller(
        key_id=None,
        organization_id=membership.organization_id,
        limits=limits_of(tier),
        requests_per_minute=tier.requests_per_minute,
        webhooks=tier.webhooks,
        member=membership,
    )


class BearerAuthentication(BaseAuthentication):
    """`Authorization: Bearer <key>`. Wrong keys are limited per client address."""

    def authenticate(self, request: Request) -> tuple[Caller, Caller] | None:
        """The caller, twice: as user and as auth. None without the header. Raises the 401s and a 429."""
        header = request.META.get("HTTP_AUTHORIZATION")
        if header is None:
            return None
        try:
            caller = _caller(header)
        except Refusal:
            _limit_failures(request)
            raise
        return caller, caller

    def authenticate_header(self, request: Request) -> str:
        """Makes a missing key a 401."""
        return "Bearer"


def _caller(header: str) -> Caller:
    scheme, _, key = header.partition(" ")
    key = key.strip()
    if scheme.lower() != "bearer" or not keys.is_well_formed(key):
        raise Unauthorized("The API key is missing or invalid.")
    found = fetch(KEY_QUERY, {"digest": keys.digest(key)})
    if not found:
        raise Unauthorized("The API key is missing or invalid.")
    revoked_at, expires_at, last_used_at, key_id, organization_id, requests_per_minute, webhooks, *limits = found[0]
    now = timezone.now()
    if revoked_at is not None and revoked_at <= now:
        raise KeyRevoked("This API key has been revoked. Create a new one in the dashboard.")
    if expires_at is not None and expires_at <= now:
        raise Unauthorized("This API key has expired. Create a new one in the dashboard.")
    _note_use(key_id, last_used_at, now)
    return Caller(key_id, organization_id, TierLimits(*limits), requests_per_minute, webhooks)


def _note_use(key_id: str, last_used_at: datetime | None, now: datetime) -> None:
    if last_used_at is None or last_used_at < now - LAST_USED_STEP:
        ApiKey.objects.filter(id=key_id, last_used_at=last_used_at).update(last_used_at=now)


def _limit_failures(request: Request) -> None:
    rate = count(f"failed-keys:{client(request._request)}", FAILURES_PER_MINUTE)
    refuse_over(request._request, rate, "Too many failed attempts from this address.")


def caller_of(request: Request) -> Caller:
    """Who calls: the organization and its limits, as the key gave them."""
    caller = request.auth
    assert isinstance(caller, Caller)
    return caller
