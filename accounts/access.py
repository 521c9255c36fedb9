"""Queries for a tenant's rows.

Views use these functions, never a model's manager.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Any, Generic, TypeVar

from django.contrib.auth.models import AnonymousUser
from django.db.models import Model, Q, QuerySet
from msgspec import Struct

from accounts.models import Membership, Organization, User
from infrastructure.api.errors import NotFound
from infrastructure.postgresql.statements import fetch
from website_scan.ids import is_id

M = TypeVar("M", bound=Model)


class Lock(enum.Enum):
    """Strength of a row lock.

    With CHANGE, other transactions can still insert rows that refer to the row.
    """

    CHANGE = "FOR NO KEY UPDATE"
    DELETION = "FOR UPDATE"


class Resource(Struct, Generic[M], frozen=True):
    """Type of an API object, such as a monitor, with its model, ID prefix and error codes.

    `prefix` is the prefix of the IDs, `related` are the foreign keys that are loaded with a row, and `hint` ends the
    message "There is no monitor with this ID".
    """

    model: type[M]
    prefix: str
    name: str
    related: tuple[str, ...] = ()
    hint: str = "."

    def find(self, organization_id: int, id: str, *, lock: Lock | None = None) -> M:
        """Return the organization's row with this ID, and lock it if `lock` is True.

        Raises NotFound.
        """
        return self.find_in_rows(rows(self.model, organization_id), id, lock=lock)

    def find_in_rows(self, rows: QuerySet[M], id: str, *, lock: Lock | None = None) -> M:
        """Return the row with this ID from the queryset `rows`, and lock it if `lock` is True.

        Raises NotFound.
        """
        if self.related:
            rows = rows.select_related(*self.related)
        if lock is not None:
            rows = rows.select_for_update(of=("self",), no_key=lock is Lock.CHANGE)
        row = rows.filter(id=id).first() if is_id(self.prefix, id) else None
        if row is None:
            raise self.not_found()
        return row

    def not_found(self, message: str = "") -> NotFound:
        """Return the NotFound error for an ID that is unknown or belongs to another organization."""
        message = message or f"There is no {self.name} with this ID{self.hint}"
        return NotFound(message, f"{self.name.upper()}_NOT_FOUND")


def rows(model: type[M], organization_id: int) -> QuerySet[M]:
    """Return the organization's rows of this model."""
    return model._default_manager.filter(organization_id=organization_id)


def fetch_rows(sql: str, organization_id: int, **params: Any) -> list[tuple[Any, ...]]:
    """Run a raw SQL query for an organization, and return its rows.

    `sql` must contain `%(organization)s`.
    """
    assert "%(organization)s" in sql, "a query for a tenant's rows names the tenant"
    return fetch(sql, params | {"organization": organization_id})


def fetch_rows_of_several(sql: str, organization_ids: Sequence[int], **params: Any) -> list[tuple[Any, ...]]:
    """Run a raw SQL query for several organizations, all of which the caller may see, and return its rows.

    `sql` must contain `ANY(%(organizations)s)`.
    """
    assert "ANY(%(organizations)s)" in sql, "a query for tenants' rows names the tenants"
    return fetch(sql, params | {"organizations": list(organization_ids)})


def find_person(email: str) -> User | None:
    """Find a person by e-mail address, ignoring case."""
    try:
        return User.objects.get_by_natural_key(email)
    except User.DoesNotExist:
        return None


def organizations_of_user(user: User | AnonymousUser) -> QuerySet[Organization]:
    """Return the organizations that the person belongs to, in any role.

    Empty for an anonymous user.
    """
    if not user.is_authenticated:
        return Organization.objects.none()
    return Organization.objects.filter(membership__user=user)


def memberships_of_user(user: User | AnonymousUser) -> QuerySet[Membership]:
    """Return the person's memberships. Empty for an anonymous user."""
    if not user.is_authenticated:
        return Membership.objects.none()
    return Membership.objects.filter(user=user)


def active_members(organization_id: int, *, includes_limited: bool = False) -> QuerySet[User]:
    """Return the organization's members who may log in and see all sites.

    They can be recipients of e-mails about any of its rows. With `includes_limited`, members who are limited to some
    sites are included: the caller asks `accounts.visible_sites` what they may see.
    """
    memberships = Membership.objects.filter(organization_id=organization_id)
    if not includes_limited:
        memberships = memberships.filter(limited_to=[])
    return User.objects.filter(membership__in=memberships, is_active=True, closed_at=None)


def rows_of_member(model: type[M], user: User | AnonymousUser) -> QuerySet[M]:
    """Return the rows of this model in all the person's organizations, except those with a limited membership.

    Empty for an anonymous user.
    """
    return _rows_of_memberships(model, memberships_of_user(user).filter(limited_to=[]))


def rows_of_any_member(model: type[M], user: User | AnonymousUser) -> QuerySet[M]:
    """Return the rows of this model in all the person's organizations.

    A limited member may not see all of them: the caller asks `accounts.visible_sites`. Empty for an anonymous user.
    """
    return _rows_of_memberships(model, memberships_of_user(user))


def _rows_of_memberships(model: type[M], memberships: QuerySet[Membership]) -> QuerySet[M]:
    return model._default_manager.filter(organization__in=memberships.values("organization"))


def shared_rows(model: type[M], *, part_of: str = "") -> QuerySet[M]:
    """Return the rows of this model that anybody with the link may see, from all organizations.

    `part_of` is the lookup path to the parent row, if sharing the parent shares the row as well.
    """
    return model._default_manager.filter(is_shared(part_of=part_of), organization__closed_at=None)


def is_shared(*, part_of: str) -> Q:
    """Return the query condition for shared rows.

    Unlike `shared_rows`, it includes closed organizations' rows.
    """
    shared = Q(shared_at__isnull=False)
    return shared | Q(**{f"{part_of}__shared_at__isnull": False}) if part_of else shared
