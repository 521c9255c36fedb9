"""The organization that `make run` begins with."""

from __future__ import annotations

import secrets
from dataclasses import dataclass

from django.db import transaction

from accounts.keys.services import create_api_key
from accounts.models import Membership, User
from accounts.services import ensure_organization

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
