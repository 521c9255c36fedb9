"""Access to a tenant's rows. Views use these functions only, never a model's manager."""

from __future__ import annotations

from typing import Any, TypeVar

from django.contrib.auth.models import AnonymousUser
from django.db.models import Model, Q, QuerySet

from accounts.models import Membership, Organization, User
from infrastructure.postgresql.statements import fetch

M = TypeVar("M", bound=Model)


def rows(model: type[M], organization_id: int) -> QuerySet[M]:
    """Return the rows of this model that belong to the organization."""
    return model._default_manager.filter(organization_id=organization_id)


def fetch_rows(sql: str, organization_id: int, **params: Any) -> list[tuple[Any, ...]]:
    """Run one of the few queries written in SQL for speed; it must contain the parameter `%(organization)s`."""
    assert "%(organization)s" in sql, "a query for a tenant's rows names the tenant"
    return fetch(sql, params | {"organization": organization_id})


def person_with(email: str) -> User | None:
    """Find a person by e-mail address, ignoring case."""
    try:
        return User.objects.get_by_natural_key(email)
    except User.DoesNotExist:
        return None


def organizations_of(user: User | AnonymousUser) -> QuerySet[Organization]:
    """Return the organizations that the person is a member of, in any role; none for an anonymous user."""
    if not user.is_authenticated:
        return Organization.objects.none()
    return Organization.objects.filter(membership__user=user)


def memberships_of(user: User | AnonymousUser) -> QuerySet[Membership]:
    """Return the person's memberships; none for an anonymous user."""
    if not user.is_authenticated:
        return Membership.objects.none()
    return Membership.objects.filter(user=user)


def people_of(organization_id: int) -> QuerySet[User]:
    """Return the organization's members who may log in."""
    return User.objects.filter(membership__organization_id=organization_id, is_active=True, closed_at=None)


def rows_of_member(model: type[M], user: User | AnonymousUser) -> QuerySet[M]:
    """Return the rows of this model that belong to any of the person's organizations; none for an anonymous user."""
    if not user.is_authenticated:
        return model._default_manager.none()
    return model._default_manager.filter(organization__membership__user=user)


def shared_rows(model: type[M], *, part_of: str = "") -> QuerySet[M]:
    """Return the rows of this model, of all organizations, that a member has shared with anybody who has the link.

    `part_of` is the lookup path to the parent row, if sharing the parent shares the row as well.
    """
    return model._default_manager.filter(is_shared(part_of=part_of), organization__closed_at=None)


def is_shared(*, part_of: str = "") -> Q:
    """Return the condition of `shared_rows`, without its test that the organization is not closed."""
    shared = Q(shared_at__isnull=False)
    return shared | Q(**{f"{part_of}__shared_at__isnull": False}) if part_of else shared
