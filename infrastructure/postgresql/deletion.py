"""Rows and what refers to them, deleted in small transactions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.db.models import CASCADE, QuerySet

# Small enough for a statement of less than a second, however many columns, and large enough that statements are few.
BATCH = 1000


def delete_with_what_refers(rows: QuerySet[Any], has_time: Callable[[], bool] = lambda: True) -> bool:
    """Delete all of these rows, batch by batch: before each batch, in the same way, what goes with it.

    So that no statement is long, however much there is of one row. `has_time` is asked before each batch; False when it
    was not enough for all.
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
