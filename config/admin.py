"""What the admin's pages share: rows that are only looked at, and long tables that nobody counts."""

from __future__ import annotations

from typing import ClassVar

from django.contrib import admin
from django.core.paginator import Paginator
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.utils.functional import cached_property

admin.site.site_header = admin.site.site_title = "Website Scan Service"
admin.site.index_title = "Administration"


class BoundedPaginator(Paginator):
    """Counts no further than `BOUND` rows; who looks for older ones filters or searches."""

    BOUND = 10_000

    @cached_property
    def count(self) -> int:
        rows = self.object_list
        if not isinstance(rows, QuerySet):
            return len(rows)
        return rows.order_by()[: self.BOUND].count()


class ReadOnlyAdmin(admin.ModelAdmin):
    """Nothing is added, changed or deleted here. Lists are cheap on millions of rows."""

    actions = None
    paginator = BoundedPaginator
    list_per_page = 50
    show_full_result_count = False
    sortable_by = ()  # only one order is cheap
    show_facets = admin.ShowFacets.NEVER
    ordering: ClassVar[tuple[str, ...]] = ("-created_at",)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False
