"""Organizations and keys: created, revoked."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.utils import timezone
from django.utils.text import slugify

from accounts import keys
from accounts.models import ApiKey, Membership, Organization, Tier, User

DEMO_ORGANIZATION = "Demo"
DEMO_EMAIL = "demo@example.com"
DEMO_TIER = "business"


@dataclass(frozen=True, slots=True)
class DemoAccess:
    """How to get into the demo organization; `password` and `api_key` are known only when it was just made."""

    organization: str
    email: str
    password: str | None
    api_key: str | None


def create_api_key(
    *,
    organization: Organization,
    name: str,
    created_by: User | None = None,
    expires_at: datetime | None = None,
) -> tuple[ApiKey, str]:
    """A new key and its plaintext, which is stored nowhere."""
    minted = keys.mint()
    key = ApiKey.objects.create(
        organization=organization,
        name=name,
        prefix=minted.prefix,
        digest=minted.digest,
        created_by=created_by,
        expires_at=expires_at,
    )
    return key, minted.plaintext


def revoke_api_key(key: ApiKey) -> None:
    """Revoke at once; a key that was revoked stays so, with its first time."""
    ApiKey.objects.filter(id=key.id, revoked_at=None).update(revoked_at=timezone.now())


def ensure_organization(*, name: str, tier: str | None = None) -> Organization:
    """The organization with that name, made when missing; `tier` is set when given.

    Raises Tier.DoesNotExist for an unknown tier, and ValueError for a name without a letter or digit.
    """
    slug = slugify(name)
    if not slug:
        raise ValueError("The name of an organization needs a letter or a digit.")
    plan = Tier.objects.get(name=tier) if tier else None
    with transaction.atomic():
        organization, _ = Organization.objects.get_or_create(slug=slug[:60], defaults={"name": name})
        if plan is not None and organization.tier_id != plan.name:
            organization.tier = plan
            organization.save(update_fields=["tier"])
    return organization


def ensure_demo() -> DemoAccess:
    """The demo organization with an owner who is staff, and a key; made when missing."""
    with transaction.atomic():
        organization = ensure_organization(name=DEMO_ORGANIZATION, tier=DEMO_TIER)
        if User.objects.filter(email=DEMO_EMAIL).exists():
            return DemoAccess(organization.name, DEMO_EMAIL, None, None)
        password = secrets.token_urlsafe(12)
        user = User.objects.create_superuser(DEMO_EMAIL, password)
        Membership.objects.create(organization=organization, user=user, role=Membership.Role.OWNER)
        _, key = create_api_key(organization=organization, name="Demo", created_by=user)
        return DemoAccess(organization.name, DEMO_EMAIL, password, key)
