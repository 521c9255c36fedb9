"""Row types in a data export.

A Django app lists its own as `KINDS` in its module `exported`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from itertools import chain
from typing import Any

from django.apps import apps
from django.db.models import Model, Q, QuerySet
from django.utils.module_loading import module_has_submodule
from msgspec import Struct

# Rows per query. The second number is for kinds with one file per row, because such a row may have some hundred KB.
LIST_BATCH_ROWS, FILE_BATCH_ROWS = 200, 20

# A serialized row is a JSON object, or the row's own file as pieces of bytes.
Exported = dict[str, Any] | Iterator[bytes]


class Kind(Struct, frozen=True):
    """Row type in a data export, stored in one file, `<name>.json`.

    With `has_own_files`, every row has its own file instead.

    `rows` returns the rows of the organization with this ID, `serialize` the exported form of a row. Rows are read in
    `order`, which ends with the primary key and should have an index.
    """

    name: str
    rows: Callable[[int], QuerySet[Any]]
    serialize: Callable[[Any], Exported]
    order: tuple[str, ...] = ("pk",)
    has_own_files: bool = False

    def next_batch(self, organization_id: int, position: list[Any] | None) -> list[tuple[list[Any], Any]]:
        """Return the next rows after `position`, each paired with its own position.

        No database cursor stays open.
        """
        rows = self.rows(organization_id).order_by(*self.order)
        size = FILE_BATCH_ROWS if self.has_own_files else LIST_BATCH_ROWS
        if position is not None:
            rows = rows.filter(_rows_after(self.order, position))
        return [([_column_value(row, name) for name in self.order], row) for row in rows[:size]]


def kinds() -> tuple[Kind, ...]:
    """Return every app's row types.

    The order never changes, because a cursor stores an index into it.
    """
    configs = [config for config in apps.get_app_configs() if module_has_submodule(config.module, "exported")]
    return tuple(chain.from_iterable(import_module(f"{config.name}.exported").KINDS for config in configs))


def _rows_after(order: tuple[str, ...], position: list[Any]) -> Q:
    """Return a condition for the rows after `position`, which has one value per column in `order`."""
    (first, *others), (value, *values) = order, position
    if not others:
        return Q(**{f"{first}__gt": value})
    # The first condition is redundant, but allows PostgreSQL to use the index.
    return Q(**{f"{first}__gte": value}) & (Q(**{f"{first}__gt": value}) | _rows_after(tuple(others), values))


def _column_value(row: Model, name: str) -> Any:
    for attribute in name.split("__"):
        row = getattr(row, attribute)
    return row
