"""Delete rows, and the rows that refer to them, in small transactions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.db.models import CASCADE, QuerySet

# Rows per DELETE. A statement takes less than a second, and few statements are needed.
BATCH = 1000


def delete_with_references(rows: QuerySet[Any], has_time: Callable[[], bool] = lambda: True) -> bool:
    """Delete rows in batches.

    Rows that refer to them with on_delete=CASCADE are deleted first, also in batches.

    So no statement takes long, however many rows refer to one row. `has_time` is called before each batch. Returns
    False if `has_time` returned False before all rows were deleted.
    """
    while ids := list(rows.values_list("pk", flat=True)[:BATCH]):
        for relation in rows.model._meta.related_objects:
            if relation.on_delete is CASCADE:
                refers_to_batch = {f"{relation.field.name}__in": ids}
                referring_rows = relation.related_model._base_manager.filter(**refers_to_batch)
                if not delete_with_references(referring_rows, has_time):
                    return False
        if not has_time():
            return False
        rows.model._base_manager.filter(pk__in=ids).delete()
    return True
