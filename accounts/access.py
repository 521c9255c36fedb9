"""The only way to a tenant's rows. Views never ask a model's manager for one themselves."""

from __future__ import annotations

from typing import TypeVar

from django.db.models import Model, QuerySet

M = TypeVar("M", bound=Model)


def rows(model: type[M], organization_id: int) -> QuerySet[M]:
    """The rows of this model that belong to the organization."""
    return model._default_manager.filter(organization_id=organization_id)
