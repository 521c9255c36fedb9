"""The only way to a tenant's rows. Views never ask a model's manager for one themselves."""

from __future__ import annotations

from typing import Any, TypeVar

from django.contrib.auth.models import AnonymousUser
from django.db.models import Model, Q, QuerySet

from accounts.models import Membership, Organization, User
from infrastructure.postgresql.statements import fetch

M = TypeVar("M", bound=Model)


def rows(model: type[M], organization_id: int) -> QuerySet[M]:
    """The rows of this model that belong to the organization."""
    return model._default_manager.filter(organization_id=organization_id)


def fetch_rows(sql: str, organization_id: int, **params: Any) -> list[tuple[Any, ...]]:
    """The same for the few queries that are written out for speed; they must ask for `%(organization)s`."""
    assert "%(organization)s" in sql, "a query for a tenant's rows names the tenant"
    return fetch(sql, params | {"organization": organization_id})


def person_with(email: str) -> User | None:
    """Whose address this is, whatever its case."""
    try:
        return User.objects.get_by_natural_key(email)
    except User.DoesNotExist:
        return None


def organizations_of(user: User | AnonymousUser) -> QuerySet[Organization]:
    """The organizations that this person is a member of, in whatever role; none for a stranger."""
    if not user.is_authenticated:
        return Organization.objects.none()
    return Organization.objects.filter(membership__user=user)


def memberships_of(user: User | AnonymousUser) -> QuerySet[Membership]:
    """The person's memberships; none for a stranger."""
    if not user.is_authenticated:
        return Membership.objects.none()
    return Membership.objects.filter(user=user)


def people_of(organization_id: int) -> QuerySet[User]:
    """The organization's members who may log in."""
    return User.objects.filter(membership__organization_id=organization_id, is_active=True, closed_at=None)


def rows_of_member(model: type[M], user: User | AnonymousUser) -> QuerySet[M]:
    """The rows of this model that belong to one of the person's organizations."""
    return model._default_manager.filter(organization__in=organizations_of(user))


def shared_rows(model: type[M], *, part_of: str = "") -> QuerySet[M]:
    """The rows of this model that a member has opened to anybody with their link, of whatever organization.

    `part_of` is the path to what they are part of, if they are open with it.
    """
    return model._default_manager.filter(is_shared(part_of=part_of), organization__closed_at=None)


def is_shared(*, part_of: str = "") -> Q:
    """The condition of `shared_rows`, but for closed organizations."""
    shared = Q(shared_at__isnull=False)
    return shared | Q(**{f"{part_of}__shared_at__isnull": False}) if part_of else shared
