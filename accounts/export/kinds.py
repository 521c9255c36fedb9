"""Kinds of rows in an export. Each app lists its kinds in `KINDS` of its `exported.py`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from itertools import chain
from typing import Any

from django.apps import apps
from django.db.models import Model, Q, QuerySet
from django.utils.module_loading import module_has_submodule

# Number of rows in a batch: in a list, and with a file per row, which may have some hundred KB.
LIST_BATCH, FILE_BATCH = 200, 20

# Exported form of a row: a JSON object, or the bytes of the row's own file, in pieces.
Exported = dict[str, Any] | Iterator[bytes]


@dataclass(frozen=True)
class Kind:
    """Kind of rows, exported to a file `<name>.json` or, with `has_own_files`, to one file per row.

    `rows` returns the rows of the organization with this ID, `serialize` the exported form of a row. Rows are read in
    `order`, which ends with the primary key and should have an index.
    """

    name: str
    rows: Callable[[int], QuerySet[Any]]
    serialize: Callable[[Any], Exported]
    order: tuple[str, ...] = ("pk",)
    has_own_files: bool = False

    def next_batch(self, organization_id: int, position: list[Any] | None) -> list[tuple[list[Any], Any]]:
        """Return the next rows after `position`, each as its position and the row. No database cursor stays open."""
        rows = self.rows(organization_id).order_by(*self.order)
        size = FILE_BATCH if self.has_own_files else LIST_BATCH
        if position is not None:
            rows = rows.filter(_after(self.order, position))
        return [([_value(row, name) for name in self.order], row) for row in rows[:size]]


def kinds() -> tuple[Kind, ...]:
    """Return all kinds, in an order that is the same for all parts of an export."""
    configs = [config for config in apps.get_app_configs() if module_has_submodule(config.module, "exported")]
    return tuple(chain.from_iterable(import_module(f"{config.name}.exported").KINDS for config in configs))


def _after(order: tuple[str, ...], position: list[Any]) -> Q:
    """Return the condition for rows after `position`, the values of a row's columns in `order`."""
    (first, *others), (value, *values) = order, position
    if not others:
        return Q(**{f"{first}__gt": value})
    # The first condition is redundant, but lets PostgreSQL search the index.
    return Q(**{f"{first}__gte": value}) & (Q(**{f"{first}__gt": value}) | _after(tuple(others), values))


def _value(row: Model, name: str) -> Any:
    for attribute in name.split("__"):
        row = getattr(row, attribute)
    return row
