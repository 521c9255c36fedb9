"""Kinds of rows in an export. Each app lists its own in `KINDS` of its `exported.py`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from itertools import chain
from typing import Any

from django.apps import apps
from django.db.models import Model, Q, QuerySet
from django.utils.module_loading import module_has_submodule

# Batch sizes: of rows in a list, and of documents, which may have some hundred KB each.
BATCH, DOCUMENTS = 200, 20

# Exported form of a row: a JSON object, or the pieces of a document in a file of its own.
Shown = dict[str, Any] | Iterator[bytes]


@dataclass(frozen=True)
class Kind:
    """Kind of rows, exported to a file `<name>.json` or, with `has_own_files`, to one file per row.

    `rows` returns the rows of the organization with this ID, `shown` their documented form. Rows are read in `order`,
    which ends with the primary key and should have an index.
    """

    name: str
    rows: Callable[[int], QuerySet[Any]]
    shown: Callable[[Any], Shown]
    order: tuple[str, ...] = ("pk",)
    has_own_files: bool = False

    def after(self, organization_id: int, place: list[Any] | None) -> list[tuple[list[Any], Any]]:
        """Return the next batch of rows after `place`, each with its own place. No database cursor stays open."""
        rows = self.rows(organization_id).order_by(*self.order)
        batch = DOCUMENTS if self.has_own_files else BATCH
        if place is not None:
            rows = rows.filter(_behind(self.order, place))
        return [([_value(row, name) for name in self.order], row) for row in rows[:batch]]


def kinds() -> tuple[Kind, ...]:
    """Return all kinds, in an order that stays the same while an export is made."""
    configs = [each for each in apps.get_app_configs() if module_has_submodule(each.module, "exported")]
    return tuple(chain.from_iterable(import_module(f"{each.name}.exported").KINDS for each in configs))


def _behind(order: tuple[str, ...], place: list[Any]) -> Q:
    (first, *others), (value, *values) = order, place
    if not others:
        return Q(**{f"{first}__gt": value})
    # The first condition is redundant, but lets PostgreSQL search the index.
    return Q(**{f"{first}__gte": value}) & (Q(**{f"{first}__gt": value}) | _behind(tuple(others), values))


def _value(row: Model, name: str) -> Any:
    for each in name.split("__"):
        row = getattr(row, each)
    return row
