"""Deletion of rows, with the rows that refer to them, in small transactions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.db.models import CASCADE, QuerySet

# Small enough for a statement to take less than a second for any table, large enough to need few statements.
BATCH = 1000


def delete_with_what_refers(rows: QuerySet[Any], has_time: Callable[[], bool] = lambda: True) -> bool:
    """Delete these rows in batches. Before each batch, delete in the same way the rows that cascade from it.

    So no statement takes long, however many rows refer to one. `has_time` is called before each batch; returns False if
    the time ran out before all rows were deleted.
    """
    while ids := list(rows.values_list("pk", flat=True)[:BATCH]):
        for relation in rows.model._meta.related_objects:
            if relation.on_delete is CASCADE:
                of_batch = {f"{relation.field.name}__in": ids}
                if not delete_with_what_refers(relation.related_model._base_manager.filter(**of_batch), has_time):
                    return False
        if not has_time():
            return False
        rows.model._base_manager.filter(pk__in=ids).delete()
    return True
